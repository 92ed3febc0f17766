"""Predictions of kernels and random features on inputs with one long direction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.rules import gauss_normal
from learnability.labels.hermite import expand
from learnability.learners.lazy._spiked_kernel import SpikedKernel
from learnability.learners.lazy._spiked_regression import (
    Errors,
    Points,
    conditional_errors,
    limit_errors,
)
from learnability.learners.protocol import checked_alphas, checked_seeds, dataset
from learnability.targets.spiked_index import SpikedIndex
from learnability.theory import equivalent
from learnability.theory.equivalent import Levels

if TYPE_CHECKING:
    import xarray

__all__ = ["predict_spiked", "spiked_levels", "spiked_points"]

Array = NDArray[np.float64]
_OTHER_NODES = 48
_PARALLEL = 1e-9  # cos^2 of label and spike from which the label has no other direction.


def predict_spiked(
    learner: Any,
    target: SpikedIndex,
    alpha: ArrayLike,
    d: int | None,
    seeds: int | Sequence[int] | None,
    kernel: Callable[[float, int], SpikedKernel],
    features: float,
) -> xarray.Dataset:
    """Errors by alpha and, if there are several, seed and ridge.

    Parameters
    ----------
    learner, target, alpha, d, seeds
        As in `predict`; with `seeds` the errors are those of their training sets.
    kernel : callable
        ((1 + theta) / d, d) -> its parts.
    features : float
        Number of features over dimension; finite ones are predicted without their training set.
    """
    if d is None:
        raise LearnabilityError(
            "Spiked data have a spike in each dimension: give `d` to predict for."
        )
    alphas, spike = checked_alphas(alpha), target.at(d)
    expand(target.link, 0)  # A sentence where the label has no finite variance.
    several = isinstance(learner.ridge, tuple)
    ridges = learner.ridge if several else (learner.ridge,)
    sizes = [max(round(float(a) * d), 1) for a in np.atleast_1d(alphas)]
    parts = kernel((1 + spike.strength) / d, int(d))
    fresh = spiked_points(parts, target, d)
    chosen: list[int] | None = None
    if seeds is not None:
        chosen = checked_seeds(seeds)
        if math.isfinite(features):
            raise LearnabilityError(
                "`seeds` was given with features of finite width, whose errors are predicted for "
                "the typical training set only: leave it out, or use KernelRidge."
            )

    def errors(n: int) -> list[list[Errors]]:
        if chosen is None and math.isfinite(features):
            levels = spiked_levels(fresh, d, target.noise)
            p = max(round(features * d), 1)
            return [[Errors(*equivalent.errors(levels, n, p, v)) for v in ridges]]
        if chosen is None:
            return [[limit_errors(fresh, n, d, v, target.noise) for v in ridges]]
        trained = [_sample_points(parts, target, seed, n, d) for seed in chosen]
        return [
            [conditional_errors(one, fresh, d, v, target.noise) for v in ridges] for one in trained
        ]

    found = np.array([errors(n) for n in sizes], dtype=float)
    axes: tuple[str, ...] = ("alpha", "seed", "ridge")
    if not several:
        axes, found = axes[:-1], found[:, :, 0]
    if chosen is None:
        axes, found = tuple(a for a in axes if a != "seed"), found[:, 0]
    coordinates: dict[str, Any] = {} if chosen is None else {"seed": ("seed", chosen)}
    if several:
        coordinates["ridge"] = ("ridge", list(ridges))
    return dataset(
        learner,
        target,
        "predict",
        alphas,
        {"error": (axes, found[..., 0]), "train_error": (axes, found[..., 1])},
        coordinates,
        d=int(d),
        spike=spike.strength,
        alignment=spike.alignment,
        method=_method(features, chosen),
    )


def _method(features: float, seeds: list[int] | None) -> str:
    if math.isfinite(features):
        return "two levels"
    return "limit" if seeds is None else "conditional"


def spiked_points(parts: SpikedKernel, target: SpikedIndex, d: int) -> Points:
    """Nodes of the law of the inputs: of u alone, or of u and s when the label depends on both."""
    p, q = target.at(d).cosines
    h, weights = parts.nodes(target.link)
    if q * q < _PARALLEL:
        c = np.column_stack([math.copysign(1.0, p) * h, np.zeros(len(h))])
    else:
        k, shares = gauss_normal(np.zeros(0), _OTHER_NODES)
        c = np.stack([p * h[:, None] - q * k, q * h[:, None] + p * k], axis=-1).reshape(-1, 2)
        weights = np.outer(weights, shares).ravel()
        h = np.repeat(h, len(k))
    label = np.asarray(target.link(h[:, None]), dtype=float)
    return _points(parts, c, label, weights, d, q * q >= _PARALLEL)


def _sample_points(parts: SpikedKernel, target: SpikedIndex, seed: int, n: int, d: int) -> Points:
    c, y = target.coordinates(seed, n, d)
    apart = target.at(d).cosines[1] ** 2 >= _PARALLEL
    return _points(parts, c, y, np.full(n, 1 / n), d, apart)


def _points(
    parts: SpikedKernel, c: Array, label: Array, weights: Array, d: int, apart: bool
) -> Points:
    u, s = c.T
    kept, bulk = parts.mean(u), parts.linear(u)
    if apart:
        kept = np.hstack([kept, bulk * (s / math.sqrt(d))[:, None]])
    return Points(kept, bulk, parts.rest(u), label, weights)


def spiked_levels(at: Points, d: int, noise: float) -> Levels:
    """Levels of the kernel: one function each of what is kept, d - 1 each of the bulk, the rest.

    Parameters
    ----------
    at : Points
        Nodes of the law of the inputs.
    d : int
        Dimension.
    noise : float
        Variance of the label noise.
    """
    w = at.weights
    values, vectors = np.linalg.eigh((at.kept * w[:, None]).T @ at.kept)
    values = np.maximum(values, 0.0)
    seen = values > 1e-14 * values.max(initial=0.0)
    values, vectors = values[seen], vectors[:, seen]
    energies = ((at.kept @ vectors).T @ (w * at.label)) ** 2 / values
    bulk = np.maximum(np.linalg.eigvalsh((at.bulk * w[:, None]).T @ at.bulk), 0.0) / d
    left = float(w @ at.label**2) - float(energies.sum())
    return Levels(
        np.concatenate([values, bulk]),
        np.concatenate([np.ones(len(values)), np.full(len(bulk), d - 1.0)]),
        np.concatenate([energies, np.zeros(len(bulk))]),
        float(w @ at.rest),
        max(left, 0.0) + noise,
    )
