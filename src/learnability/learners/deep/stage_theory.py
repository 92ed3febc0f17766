"""Finite-size predictions of layer-wise learning: every stage by a deterministic equivalent.

The first layer recovers M_W^2 = m^2 = 1 - n*/n of the directions. In the estimated variables the
part of degree j keeps the energy m^(2j) |P_j f|^2 (Ornstein-Uhlenbeck contraction); the rest is
noise. Ridge regression with the Mehler kernel in N dimensions then learns the share s_j of degree
j, and its error II follows (`equivalent`). With q the fitted function,

    E q^2 = II - |f|^2 + 2 sum_j s_j |P_j f|^2 ,
    M_h = sum_j s_j <P_j f, h> / sqrt(Var h Var q) .

III, the error of a refit of y on q, is estimated from samples with q = sum_j s_j P_j f, one common
share above degree 3, and Gaussian noise of the variance that is left. That noise is larger where f
is saturated, so that the estimate is an upper one, by 0.02 to 0.14.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.targets.hierarchical import Hierarchical, conditional_variance
from learnability.theory.equivalent import Levels, effective_ridge, errors, shares
from learnability.theory.mehler import mehler_levels

__all__ = [
    "Stages",
    "best_kernel_error",
    "first_overlap",
    "predicted_stages",
    "predictions",
]

Array = NDArray[np.float64]

_SAMPLES = 40_000
_LEAST_RIDGE, _LARGEST_RIDGE = 0.3, 300.0
_TRIED = 16


class Stages(NamedTuple):
    """Predictions at one number of samples.

    Attributes
    ----------
    first_layer_overlap : float
        M_W.
    two_layer_error : float
        II.
    feature_overlap : array, shape (r,)
        M_h.
    three_layer_bound : float
        III, an upper estimate; NaN where it was not asked for.
    """

    first_layer_overlap: float
    two_layer_error: float
    feature_overlap: Array
    three_layer_bound: float


def first_overlap(target: Hierarchical, d: int, n: float) -> float:
    """M_W of the spectral first layer, sqrt(1 - n*/n) above n*."""
    return math.sqrt(max(1 - target.n_star(d) / n, 0.0))


def predicted_stages(
    target: Hierarchical,
    overlap: float,
    n: float,
    ridge: float | None = 1.0,
    *,
    third: bool = False,
) -> Stages:
    """Ridge regression with the Mehler kernel on directions known up to an overlap.

    Parameters
    ----------
    target : Hierarchical
        With its N as a number.
    overlap : float
        M_W.
    n : float
        Samples of the regression.
    ridge : float, optional
        Of the regression; None for the best between 0.3 and 300.
    third : bool
        Whether the upper estimate of III is computed.
    """
    energies = _contracted(target, overlap)
    N = target.r * target.sizes[-1]
    kept = float(energies[1:].sum())
    levels = mehler_levels(N, energies, target.variance - kept + target.noise)
    if ridge is None:
        ridge = _best_ridge(levels, n)
    nu = effective_ridge(levels, n, math.inf, ridge)
    s = shares(levels, nu)[1][: len(energies)]
    error = errors(levels, n, math.inf, ridge).test
    # Of the centred q; the label is y, f and noise.
    spread = max(error - target.label_variance + 2 * float(s[1:] @ energies[1:]), 1e-300)
    with_feature = _feature_parts(target) * overlap ** (2 * np.arange(len(energies)))
    M_h = (with_feature[:, 1:] @ s[1:]) / math.sqrt(target.feature_variance * spread)
    bound = math.nan
    if third:
        top = min(target.degree, 3)
        common = float(s[top + 1 :] @ energies[top + 1 :])
        common /= max(target.variance - float(target.levels(top)[1:].sum()), 1e-300)
        low = (0.0, *(float(v) for v in s[1 : top + 1]))
        bound = _third(target, overlap, low, common, spread) + target.noise
    return Stages(overlap, error, np.minimum(np.abs(M_h), 1.0), bound)


def predictions(
    target: Hierarchical,
    d: int,
    sizes: Sequence[int],
    ridge: float | None,
    deep: bool,
    third: bool,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Observables by number of samples, and attributes, of `Layerwise.predict`.

    Parameters
    ----------
    target : Hierarchical
        With its N as a number.
    d : int
        Dimension.
    sizes : sequence of int
        Numbers of samples.
    ridge : float, optional
        Of the second stage; None for the best one.
    deep, third : bool
        Whether the learner has three layers or more, and whether III is estimated.
    """
    stages = [
        predicted_stages(target, first_overlap(target, d, n), n, ridge, third=third) for n in sizes
    ]
    left = target.label_variance - np.cumsum(target.levels(3)[1:])
    values: dict[str, Any] = {
        "first_layer_overlap": [s.first_layer_overlap for s in stages],
        "kernel_error": [best_kernel_error(target, d, n) for n in sizes],
        "two_layer_error": [s.two_layer_error for s in stages],
        "feature_overlap": [s.feature_overlap for s in stages],
        "kappa": np.log(sizes) / math.log(d),
    }
    if third:
        values["three_layer_bound"] = [s.three_layer_bound for s in stages]
    if third or not deep:
        values["error"] = values["three_layer_bound" if deep else "two_layer_error"]
    attributes: dict[str, Any] = {
        "label_variance": target.label_variance,
        "n_star": target.n_star(d),
        "plateau_kernel": [float(left[0]), float(left[1])],
        "plateau_two_layer": float(left[2]),
    }
    if third:
        attributes["plateau_three_layer"] = target.feature_floor + target.noise
    return values, attributes


def best_kernel_error(target: Hierarchical, d: int, n: float) -> float:
    """I: the Mehler kernel in all d dimensions, with the best ridge."""
    levels = _kernel_levels(target, d)
    return errors(levels, n, math.inf, _best_ridge(levels, n)).test


def _kernel_levels(target: Hierarchical, d: int) -> Levels:
    energies = target.levels()
    energies[0] = 0.0
    rest = target.variance - float(energies.sum()) + target.noise
    return mehler_levels(d, energies, rest)


def _contracted(target: Hierarchical, overlap: float) -> Array:
    """Energies by degree in the estimated variables, without the mean."""
    energies = target.levels()
    energies[0] = 0.0
    return np.asarray(energies * overlap ** (2 * np.arange(len(energies))))


def _best_ridge(levels: Levels, n: float) -> float:
    """The ridge of least error; one of several minima, so that a grid comes first."""
    from scipy.optimize import minimize_scalar

    def error(x: float) -> float:
        return errors(levels, n, math.inf, math.exp(x)).test

    grid = np.linspace(math.log(_LEAST_RIDGE), math.log(_LARGEST_RIDGE), _TRIED)
    best = int(np.argmin([error(x) for x in grid]))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, _TRIED - 1)]
    found = minimize_scalar(error, bounds=ends, method="bounded", options={"xatol": 1e-3})
    return math.exp(min((float(found.x), float(grid[best])), key=error))


def _feature_parts(target: Hierarchical) -> Array:
    """<P_j f, h_m> by feature and degree, shape (r, j): a feature is a sum of single variables."""
    from learnability.labels.hermite import expand

    composition, k = target.composition, target.degree
    coefficients = expand(target.polynomial, k)
    found = np.zeros((target.r, composition.highest + 1))
    weight = composition.scale / math.sqrt(composition.N)
    for j in range(1, k + 1):
        c = float(np.asarray(coefficients.tensors[j]).sum()) / math.factorial(j)
        single = np.nan_to_num(composition.single(j))
        signed = composition.plus * single[:, 0] - composition.minus * single[:, 1]
        found[:, j] = weight * c * signed
    return found


@lru_cache(maxsize=256)
def _third(
    target: Hierarchical, overlap: float, s: tuple[float, ...], common: float, spread: float
) -> float:
    """E Var(f | q) for q of the model above."""
    rng = np.random.default_rng(271)
    f, q = [], []
    rows = max(min(10_000, 4_000_000 // (target.r * target.sizes[-1])), 100)
    top = len(s) - 1
    for _ in range(_SAMPLES // rows):
        z, h = target.drawn_variables(rows, rng)
        value = np.asarray(target.link(h), dtype=float)
        seen = overlap * z + math.sqrt(max(1 - overlap**2, 0.0)) * rng.standard_normal(z.shape)
        parts = target.composition.project(seen, top)
        exact = np.sum(target.composition.project(z, top), axis=0) if overlap < 1 else sum(parts)
        low = sum(s[j] * overlap**j * parts[j] for j in range(1, top + 1))
        f.append(value)
        q.append(low + common * (value - exact))
    # Degrees are orthogonal: the variance of the signal is known without its fluctuation.
    energies = target.levels(top)[1:]
    kept = float(energies @ (np.array(s[1:]) * overlap ** np.arange(1, top + 1)) ** 2)
    noise = max(spread - kept - common**2 * (target.variance - float(energies.sum())), 0.0)
    signal = np.concatenate(q)
    noisy = signal + math.sqrt(noise) * rng.standard_normal(len(signal))
    return conditional_variance(np.concatenate(f), noisy)
