"""The equations of motion of error functions learning error functions, in closed form.

For sigma(x) = amplitude erf(slope x) and a target sum_k b_k sigma(z_k) all averages are known:
with g(x) = erf(x / sqrt(2)), covariances C of the fields and 1 + C on the diagonal,

    E[g(x1) g(x2)]               = (2/pi) arcsin(C12 / sqrt((1 + C11)(1 + C22))),
    E[g'(x1) x2 g(x3)]           = (2/pi) (C23 (1 + C11) - C12 C13) / ((1 + C11) sqrt(L3)),
    E[g'(x1) g'(x2)]             = (2/pi) / sqrt(L4),
    E[g'(x1) g'(x2) g(x3) g(x4)] = (4/pi^2) arcsin(L0 / sqrt(L1 L2)) / sqrt(L4),

with the determinants L of the references.

References
----------
Saad and Solla, Phys. Rev. E 52 (1995), equations (A1)-(A9); Goldt, Advani, Saxe, Krzakala,
Zdeborova, NeurIPS 2019, appendix C (trained second layer).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.learners.online._motion import Averages, Averaging, Point, Rates
from learnability.learners.online._steps import Recipe

__all__ = ["ErrorFunction", "additive_weights", "closed_averages", "error_function"]

Array = NDArray[np.float64]
_POINTS = np.random.default_rng(3).standard_normal(64)


class ErrorFunction(NamedTuple):
    """sigma(x) = amplitude * erf(slope * x)."""

    amplitude: float
    slope: float


def error_function(activation: Link) -> ErrorFunction | None:
    """Return the amplitude and the slope of an error function; None for any other activation."""
    from scipy.special import erf, erfinv

    limit = float(activation(np.array([60.0])))
    middle = float(activation(np.array([0.3])))
    if not (np.isfinite(limit) and limit != 0 and abs(middle) < abs(limit)):
        return None
    slope = float(erfinv(middle / limit)) / 0.3
    same = np.allclose(activation(_POINTS), limit * erf(slope * _POINTS), rtol=1e-10, atol=1e-12)
    return ErrorFunction(limit, slope) if same and abs(slope) >= 0.1 else None


def additive_weights(link: Link, activation: Link) -> Array | None:
    """Return the b (r,) with g(z) = sum_k b_k sigma(z_k); None when there are none."""
    points = np.random.default_rng(4).standard_normal((64, link.r)) * 1.5
    columns = np.asarray(activation(points[..., None]))
    values = np.asarray(link(points))
    if not (np.isfinite(columns).all() and np.isfinite(values).all()):
        return None
    weights = np.linalg.lstsq(columns, values, rcond=None)[0]
    scale = max(float(np.abs(values).max()), 1e-300)
    return weights if np.abs(columns @ weights - values).max() < 1e-10 * scale else None


def closed_averages(recipe: Recipe, noise: float) -> Averaging | None:
    """Return the averages in closed form; None when they have none here."""
    plain = recipe.rule == "plain" and recipe.link.law is None
    known = error_function(recipe.activation) if plain else None
    weights = additive_weights(recipe.link, recipe.activation) if known else None
    if known is None or weights is None:
        return None
    p = recipe.width
    scale = 2 * known.slope**2
    size = known.amplitude

    def averages(at: Point, rates: Rates) -> Averages:
        M, a = at.overlap, at.second
        Q = at.rest + M @ M.T
        covariance = np.block([[Q, M], [M.T, np.eye(M.shape[1])]])
        C = scale * covariance
        error = np.concatenate([a if recipe.loss == "squared" else 0 * a, -weights])
        pull = -a[:, None] * size**2 * np.einsum("jvm,m->jv", _third(C, p), error)
        second = -(size**2) * _second(C)[:p] @ error
        flat = _slopes(C, p)
        squared = scale * (size**4 * _fourth(C, p, error) + size**2 * noise * flat)
        hidden = pull[:, p:]
        return Averages(hidden, pull[:, :p] - hidden @ M.T, np.outer(a, a) * squared, second)

    return averages


def _second(C: Array) -> Array:
    """Return E[g g] of all pairs."""
    one = 1 + np.diag(C)
    return np.asarray(2 / np.pi * np.arcsin(np.clip(C / np.sqrt(np.outer(one, one)), -1, 1)))


def _slopes(C: Array, p: int) -> Array:
    """Return E[g' g'] of the first p fields."""
    one = 1 + np.diag(C)[:p]
    return np.asarray(2 / np.pi / np.sqrt(np.outer(one, one) - C[:p, :p] ** 2))


def _third(C: Array, p: int) -> Array:
    """Return E[g'(x_j) x_v g(x_m)] for j < p, all v and m; x_v in the units of C's fields."""
    one = 1 + np.diag(C)
    c11, c33 = one[:p, None, None], one[None, None, :]
    c12, c13, c23 = C[:p, :, None], C[:p, None, :], C[None, :, :]
    L3 = c11 * c33 - c13**2
    return np.asarray(2 / np.pi * (c23 * c11 - c12 * c13) / (c11 * np.sqrt(L3)))


def _fourth(C: Array, p: int, v: Array) -> Array:
    """Return sum_mn v_m v_n E[g'(x_j) g'(x_l) g(x_m) g(x_n)] for j, l < p."""
    one = 1 + np.diag(C)
    c11, c22 = one[:p, None, None, None], one[None, :p, None, None]
    c12 = C[:p, :p, None, None]
    c13, c14 = C[:p, None, :, None], C[:p, None, None, :]
    c23, c24 = C[None, :p, :, None], C[None, :p, None, :]
    c34 = C[None, None, :, :]
    c33, c44 = one[None, None, :, None], one[None, None, None, :]
    L4 = c11 * c22 - c12**2
    L0 = L4 * c34 - c23 * c24 * c11 - c13 * c14 * c22 + c12 * (c13 * c24 + c14 * c23)
    L1 = L4 * c33 - c23**2 * c11 - c13**2 * c22 + 2 * c12 * c13 * c23
    L2 = L4 * c44 - c24**2 * c11 - c14**2 * c22 + 2 * c12 * c14 * c24
    angle = np.arcsin(np.clip(L0 / np.sqrt(L1 * L2), -1, 1))
    return np.asarray(np.einsum("jlmn,m,n->jl", 4 / np.pi**2 * angle / np.sqrt(L4), v, v))
