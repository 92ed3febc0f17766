"""What labels say about every direction: E[F z_i] and E[F (z_i z_j - delta_ij)], F a function of f.

Directions are alike when all features above them have the same signs, so that there are few
different entries. Each is one coefficient of a composition, that of the type of product to which
z_i, z_i z_j or He_2(z_i) belongs in the tree. Coefficients from half of the frequencies show which
entries are zero but for rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.targets._composition import Composition
from learnability.targets._feature_law import FeatureLaw

__all__ = ["first_moments", "second_moments", "second_orders"]

Array = NDArray[np.float64]
Whole = NDArray[np.int_]


def first_moments(composition: Composition, size: int, degree: int = 1) -> Array:
    """Return E[f He_k(z_i)] of all directions, shape (r N,).

    Parameters
    ----------
    composition : Composition
        The composition of a target.
    size : int
        Number N of directions under a feature.
    degree : int
        The degree k; 1 stands for E[f z_i].
    """
    return _diagonal(composition, composition.powered(1), size, degree).ravel()


@lru_cache(maxsize=64)
def second_moments(
    composition: Composition, size: int, power: int = 1, rough: bool = False
) -> Array:
    """Return E[(f - E f)^power (z z^T - I)], shape (r N, r N).

    Parameters
    ----------
    composition : Composition
        The composition of a target.
    size : int
        Number N of directions under a feature.
    power : int
        The power; 1 stands for the function itself.
    rough : bool
        Whether half of the frequencies are used: the difference shows the error.
    """
    return _second_part(composition, composition.powered(power, rough), size)


def second_orders(composition: Composition, size: int) -> Array:
    """Return |E[f He_2(z_i)]| of all directions (r N,), zero where only rounding is left."""
    found = np.diag(second_moments(composition, size))
    rough = np.diag(second_moments(composition, size, 1, True))
    floor = max(10 * float(np.abs(found - rough).max()), 1e-7 * math.sqrt(composition.variance))
    return np.where(np.abs(found) > floor, np.abs(found), 0.0)


def _laws(composition: Composition) -> list[FeatureLaw]:
    """Return the laws of the levels; the one over the directions comes first."""
    found = [composition.law]
    while found[0].below is not None:
        found.insert(0, found[0].below)
    return found


def type_of(laws: Sequence[FeatureLaw], degrees: Sequence[tuple[int, int]]) -> int:
    """Return the place of the type of prod He_b(z_i), directions i of one feature.

    Parameters
    ----------
    laws : sequence of FeatureLaw
        The laws of the levels; the one over the directions comes first.
    degrees : sequence of (i, b)
        Directions and degrees.
    """
    held = list(degrees)
    for law in laws:
        groups: dict[int, list[tuple[int, int]]] = {}
        for i, kind in held:
            groups.setdefault(i // law.N, []).append((i % law.N, kind))
        held = []
        for group, members in groups.items():
            up = tuple(sorted((k for i, k in members if i < law.plus), reverse=True))
            down = tuple(sorted((k for i, k in members if i >= law.plus), reverse=True))
            names = [(t.plus, t.minus) for t in law.types]
            held.append((group, names.index((up, down))))
    return held[0][1]


def _species(laws: Sequence[FeatureLaw], size: int) -> tuple[Whole, list[Whole]]:
    """Return a number for the signs above each direction, and its blocks by level."""
    here = np.arange(size)
    number = np.zeros(size, dtype=int)
    blocks = []
    for law in laws:
        number = 2 * number + (here % law.N >= law.plus)
        here = here // law.N
        blocks.append(here)
    return number, blocks


def _diagonal(composition: Composition, coefficients: Array, size: int, degree: int) -> Array:
    """Return E[F He_k(z_i)] of all directions, shape (r, size)."""
    laws = _laws(composition)
    number, _ = _species(laws, size)
    r = composition.link.r
    found = np.zeros((r, size))
    for kind in np.unique(number):
        alike = number == kind
        place = type_of(laws, [(int(np.flatnonzero(alike)[0]), degree)])
        for m in range(r):
            found[m, alike] = coefficients[_index(r, {m: place})]
    return found


def _second_part(composition: Composition, coefficients: Array, size: int) -> Array:
    """Return E[F (z z^T - I)] of all directions, shape (r size, r size)."""
    laws = _laws(composition)
    number, blocks = _species(laws, size)
    r = composition.link.r
    together = sum((np.equal.outer(b, b).astype(int) for b in blocks), np.zeros((size, size), int))
    keys = (np.minimum.outer(number, number) * 1000 + np.maximum.outer(number, number)) * 10
    keys = keys + together
    keys[np.diag_indices(size)] = -1
    found = np.zeros((r, size, r, size))
    for key in np.unique(keys[keys >= 0]):
        i, j = (int(k) for k in np.argwhere(keys == key)[0])
        place = type_of(laws, [(i, 1), (j, 1)])
        for m in range(r):
            found[m, :, m, :][keys == key] = coefficients[_index(r, {m: place})]
    twice = _diagonal(composition, coefficients, size, 2)
    for m in range(r):
        found[m, :, m, :][np.diag_indices(size)] = twice[m]
    single = [type_of(laws, [(int(np.flatnonzero(number == k)[0]), 1)]) for k in np.unique(number)]
    which = np.searchsorted(np.unique(number), number)
    for m in range(r):
        for k in range(m):
            pair = np.array([[coefficients[_index(r, {m: a, k: b})] for b in single]
                             for a in single])[np.ix_(which, which)]  # fmt: skip
            found[m, :, k, :] = pair
            found[k, :, m, :] = pair.T
    return found.reshape(r * size, r * size)


def _index(r: int, places: dict[int, int]) -> tuple[int, ...]:
    return tuple(places.get(m, 0) for m in range(r))
