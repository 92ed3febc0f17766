"""Hierarchical targets as functions of the radius, along those harmonics in which they have parts.

In variables u that are correlated with the hidden directions z, the target is projected on
harmonics of the angle: the constant, the linear and the quadratic one given by E[f u] and
E[f (u u^T - I)], and above degree 2 the sum of zonal harmonics of the directions, weighted with
E[f He_a(z_i)]. A single feature of the directions has no other harmonics. Means at nearly equal
radius are computed from samples, and so is the error of a refit of the labels on a fit.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.targets.directions import first_moments, second_moments
from learnability.targets.hierarchical import Hierarchical
from learnability.theory.radial import Curve, Profile

__all__ = ["profile_of", "refit_error"]

Array = NDArray[np.float64]

_SAMPLES, _ROWS = 120_000, 12_000
_EDGES = np.cumsum([1200] * 97 + [600] * 3 + [300] * 3 + [150] * 4 + [75] * 4)[:-1]
"""Edges of the bins of nearly equal radius, which are small in the tail: weights change fast."""
_NEIGHBOURS = 100
_HIGHEST = 4
_SIGNIFICANT = 2.0  # The least energy of means, over that of their sampling errors.
_NOTHING = 1e-6  # The least energy of a harmonic, over Var f.


class _Drawn(NamedTuple):
    """Samples of a centred target f and of its features h, with x = r^2 / 2 and harmonics."""

    f: Array
    h: Array
    x: Array
    harmonics: dict[int, Array]


def profile_of(target: Hierarchical, G: Array) -> Profile:
    """Return the target as a function of the radius, from samples.

    Parameters
    ----------
    target : Hierarchical
        A target whose N is a number.
    G : array, shape (D, D)
        The projection on the part of the directions that was found, in their basis.
    """
    return _profile(target, _rounded(G))


def refit_error(target: Hierarchical, G: Array, curve: Curve) -> float:
    """Return III, the error E Var(y | q) that a refit of the labels on a fit q leaves.

    q is the sum of the mean fit along the harmonics, of the fitted share of the rest of f, and of
    Gaussian noise with the variance of the fit at each radius.

    Parameters
    ----------
    target : Hierarchical
        A target whose N is a number.
    G : array, shape (D, D)
        The projection on the part of the directions that was found, in their basis.
    curve : Curve
        The fit.
    """
    drawn = _drawn(target, _rounded(G))
    q, rest = np.zeros(_SAMPLES), drawn.f.copy()
    for a, part, fit in curve.along:
        q += np.interp(drawn.x, curve.x, fit) * drawn.harmonics[a]
        rest -= np.interp(drawn.x, curve.x, part) * drawn.harmonics[a]
    share = curve.product / max(float(np.mean(rest**2)), 1e-300)
    more = max(curve.square - share * curve.product, 0.0)
    noise = np.sqrt(np.interp(drawn.x, curve.x, curve.spread) + more)
    q += share * rest + noise * np.random.default_rng(2718).standard_normal(_SAMPLES)
    alike = drawn.f[np.argsort(q)].reshape(-1, _NEIGHBOURS)
    return float(alike.var(axis=1, ddof=1).mean()) + target.noise


def _rounded(G: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, np.round(G, 3).tolist()))


@lru_cache(maxsize=4)
def _drawn(target: Hierarchical, projection: tuple[tuple[float, ...], ...]) -> _Drawn:
    D = len(projection)
    share, basis = np.linalg.eigh(np.array(projection))
    share = np.clip(share, 0.0, 1.0)
    seen = np.sqrt(share)[:, None] * basis.T
    rng = np.random.default_rng(1618)
    blocks = []
    for _ in range(_SAMPLES // _ROWS):
        z = rng.standard_normal((_ROWS, D))
        u = z @ seen.T + np.sqrt(1 - share) * rng.standard_normal(z.shape)
        h = target.features(z, np.eye(D))[-1][..., 0]
        x = np.sum(u**2, axis=1) / 2
        harmonics = _harmonics(target, seen, u / np.sqrt(2 * x)[:, None])
        blocks.append((np.asarray(target.link(h), dtype=float) - target.mean, h, x, harmonics))
    f, h, x = (np.concatenate([one[k] for one in blocks]) for k in range(3))
    found = {0: np.ones(_SAMPLES)}
    for a in blocks[0][3]:
        Y = np.concatenate([one[3][a] for one in blocks])
        found[a] = Y / np.sqrt(np.mean(Y**2))
    return _Drawn(f, h, x, found)


@lru_cache(maxsize=64)
def _profile(target: Hierarchical, projection: tuple[tuple[float, ...], ...]) -> Profile:
    drawn = _drawn(target, projection)
    order, counts = np.argsort(drawn.x), np.diff([0, *_EDGES, _SAMPLES])

    def by_radius(values: Array) -> Array:
        return np.asarray(np.add.reduceat(values[order], [0, *_EDGES]) / counts[:, None])

    both = np.column_stack([drawn.f, drawn.h])
    means = [(a, by_radius(both * Y[:, None])) for a, Y in drawn.harmonics.items()]
    # Means that sampling alone could give count as zero.
    size = float(np.mean(drawn.f**2))
    noise = _SIGNIFICANT * len(counts) * size
    along = tuple((a, v if counts @ v[:, 0] ** 2 > noise else 0 * v) for a, v in means)
    squares = by_radius(drawn.f[:, None] ** 2 * (target.variance / size))[:, 0]
    return Profile(by_radius(drawn.x[:, None])[:, 0], along, squares + target.noise)


def _harmonics(target: Hierarchical, seen: Array, angle: Array) -> dict[int, Array]:
    """Return values of harmonics at angles, by degree; `seen` (D, D) is E[u z^T]."""
    composition, size = target.composition, target.sizes[0]
    D, floor = len(seen), _NOTHING * target.variance
    linear = seen @ first_moments(composition, size)
    found = {1: angle @ linear} if linear @ linear > floor else {}
    if D == 1:
        return found
    second = seen @ second_moments(composition, size) @ seen.T
    second = second - np.trace(second) / D * np.eye(D)
    if np.sum(second**2) > floor:
        found[2] = np.einsum("nk,nk->n", angle @ second, angle)
    length = np.sqrt(np.sum(seen**2, axis=0))
    cosines = angle @ (seen / np.maximum(length, 1e-12))
    before, here = cosines, (D * cosines**2 - 1) / (D - 1)
    for a in range(3, min(_HIGHEST, composition.highest) + 1):
        # The zonal harmonic of degree a in D dimensions, which is 1 at the pole.
        before, here = here, ((2 * a + D - 4) * cosines * here - (a - 1) * before) / (a + D - 3)
        weights = first_moments(composition, size, a) * length**a
        values = here @ weights
        if weights @ weights > floor and values.any():
            found[a] = values
    return found
