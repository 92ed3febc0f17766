"""Ridge regression on random features, run on samples and predicted by Gaussian equivalence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from learnability.errors import LearnabilityError
from learnability.fields import Number, declare, numbers, record
from learnability.labels.fields import AsLink, function
from learnability.learners.base import Found, Learner, Question, Support
from learnability.learners.lazy._length_blocks import as_kernel, feature_blocks
from learnability.learners.lazy._levels import activation_weights
from learnability.learners.lazy._runs import EVERYTHING, check_memory, measured
from learnability.learners.lazy._spiked_kernel import feature_kernel
from learnability.learners.lazy._theory import VALUES, KernelView, check_reach, predicted
from learnability.learners.linear_algebra.ridge import fit_readout
from learnability.learners.networks.features import features, first_layer
from learnability.theory.length_equivalent import Blocks

__all__ = ["RandomFeatures"]


class _Width(Number):
    """A number above zero, which may be infinite."""

    accepted = "a number above 0, or infinity,"

    def read(self, value: Any) -> float:
        """Return the number.

        Raises
        ------
        ValueError
            When it is not a number above zero.
        """
        return math.inf if value == math.inf else float(super().read(value))


@record
class RandomFeatures(Learner):
    """A network of two layers whose first one stays as it was drawn.

    The readout a minimises sum_i (y_i - p^(-1/2) a . sigma(W x_i))^2 + ridge |a|^2, with the rows
    of W drawn from N(0, I_d / d); without a ridge the solution of least norm is taken. Runs have
    features in float32.

    Theory without `d` is that of large dimension, where n and p are of the order of d^l with l the
    `degree`; with `d` it takes all degrees up to 7 at once, and the lengths that inputs and neurons
    have in dimension d; `error_stderr` is what remains, of order 1 / n and 1 / p.

    References
    ----------
    Rahimi, Recht, NeurIPS 2007; Mei, Montanari, Comm. Pure Appl. Math. 75 (2022); Gerace,
    Loureiro, Krzakala, Mezard, Zdeborova, ICML 2020; Defilippis, Loureiro, Misiakiewicz,
    arXiv:2405.15699.

    Examples
    --------
    >>> theory = RandomFeatures(activation="tanh(z)", ridge=0.01).predict("tanh(z)", alpha=2.0)
    >>> round(float(theory.error), 4)
    0.2057
    """

    name: ClassVar[str] = "random-features"
    numerics_version: ClassVar[int] = 5
    supports: ClassVar[Support] = EVERYTHING
    questions: ClassVar[tuple[Question, ...]] = (VALUES,)

    width: float = declare(
        1.0, _Width(above=0),
        "Number of neurons; infinite for predictions of their kernel.", unit="d",
    )  # fmt: skip
    activation: AsLink = function("relu(z)", help="The function sigma of a neuron.")
    ridge: float | Sequence[float] = numbers(
        0.01, at_least=0, help="The ridge, or several, which share one factorisation."
    )

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse infinite widths in runs, too little memory, and what no theory covers."""
        if verb == "predict":
            check_reach(target, at)
            return
        if math.isinf(self.width):
            raise LearnabilityError(
                "`width` is infinite, but a run needs a finite one: give `width`, or use "
                "KernelRidge with the kernel of these features."
            )
        d, p = at["d"], self._neurons(at["d"])
        check_memory(at, lambda n: 4.0 * p * (n + d) + 12.0 * min(n, p) ** 2)

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Return one fit of the readout to samples."""
        d = at["d"]
        X, y, _, _ = target.sample(seed, d=d, alpha=at["alpha"], dtype=np.float32)
        W = first_layer(seed, self._neurons(d), d)
        F = features(self.activation, X, W)
        del X  # This frees memory before the regression needs its own.
        fitted = fit_readout(F, y, self.ridges)
        weights = fitted.weights.astype(np.float32)
        return measured(
            self, target, d, seed, fitted, lambda Z: weights @ features(self.activation, Z, W).T
        )

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """Return the errors by deterministic equivalents."""
        weights = partial(activation_weights, self.activation)

        def blocks(d: int, samples: float, count: int) -> Blocks:
            found = feature_blocks(self.activation, d, samples, count)
            return as_kernel(found) if math.isinf(self.width) else found

        view = KernelView(self.width, weights, blocks, partial(feature_kernel, self.activation))
        return predicted(self, view, target, at, seeds)

    def _neurons(self, d: int) -> int:
        return max(round(self.width * d), 1)
