"""What figures share: targets and links of the literature, sizes, kernels at their best ridge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.targets.hierarchical import Hierarchical

if TYPE_CHECKING:
    from learnability.learners import KernelRidge

__all__ = ["LINKS", "G", "P", "SpikeSize", "best_kernel", "reference", "relative"]

G, P = "tanh(3*z)", "He2(z)/2 + He3(z)/6"
LINKS = {"He1": "z", "He2": "He2(z)/sqrt(2)", "He3": "He3(z)/sqrt(6)"}
"""Hermite polynomials of unit variance."""

_RIDGES = tuple(float(ridge) for ridge in np.geomspace(0.3, 300, 31))


@dataclass(frozen=True)
class SpikeSize:
    """How much a figure over exponents of the spike computes.

    Attributes
    ----------
    dimensions : tuple of int
        Dimensions of the runs.
    runs : int
        Runs at each point.
    exponents : tuple of float
        Exponents gamma of the spike of the runs.
    theory : int
        Points of a line of theory.
    """

    dimensions: tuple[int, ...]
    runs: int
    exponents: tuple[float, ...]
    theory: int


def reference(**more: Any) -> Hierarchical:
    """Return tanh(3 h) with P = He2/2 + He3/6 as printed; N = d^(1/2) unless given."""
    return Hierarchical(G, P, normalisation="printed", **more)


def relative(values: Any, target: Hierarchical) -> Any:
    """Return errors over Var y of a target whose N is a number."""
    return np.asarray(values) / target.label_variance


def best_kernel(name: str, target: Hierarchical, d: int, n: float) -> KernelRidge:
    """Return the kernel regression at the ridge of 0.3 to 300 with the least predicted error.

    Parameters
    ----------
    name : str
        "mehler" or "quadratic".
    target, d, n
        The target, the dimension and the number of samples; fewer than can be predicted have the
        ridge of the fewest that can.
    """
    from learnability.learners.lazy import FEWEST_SAMPLES, KernelRidge

    alpha = max(n, FEWEST_SAMPLES) / d
    theory = KernelRidge(name, _RIDGES).predict(target, d=d, alpha=alpha)
    return KernelRidge(name, float(theory["ridge"][int(theory["error"].argmin("ridge"))]))
