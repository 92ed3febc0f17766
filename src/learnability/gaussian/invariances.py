"""Orthogonal maps that leave a function unchanged, not only permutations of the coordinates.

Signed permutations of the coordinates are tried first, then those of frames in which every symmetry
must be a signed permutation: the normals of the planes on which the function breaks, and the
eigenvectors of C_2 and of A_k = unfold(C_k) unfold(C_k)^T of its Hermite tensors C_k, which every
symmetry preserves. The possible invariant subspaces follow from them by exact linear algebra.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from learnability.expressions.structure import points_beside_jumps
from learnability.gaussian.functions import Function
from learnability.gaussian.hermite_products import (
    multi_indices,
    root_factorials,
    symmetric_basis,
)
from learnability.gaussian.quadrature import adapted_frame, rules_for
from learnability.gaussian.rules import Rule
from learnability.gaussian.sections import Section, basis_of

__all__ = ["invariances", "invariant_subspace"]

Array = NDArray[np.float64]

_MOST_DIRECTIONS = 4
_ORDERS = (1, 2, 3)
_SETTLED = 1e-8
_SAME = 1e-2
"""Matrices with entries closer than this are the same."""


@lru_cache(maxsize=256)
def invariances(function: Function) -> tuple[Array, ...]:
    """Return orthogonal matrices R, shape (r, r), with g(R z) = g(z); the identity first.

    Parameters
    ----------
    function : Function
        Any function; frames other than the coordinates are tried for 2 to 4 variables of a label
        that is not random.
    """
    found = [s.matrix for s in function.symmetries if s.character == 1]
    if 2 <= function.r <= _MOST_DIRECTIONS and function.law is None:
        jumps = points_beside_jumps(function, function.r)
        beside = np.concatenate([jumps, Section.whole(function).beside_breaks])
        for frame in _frames(function):
            for turn in _signed_permutations(function.r):
                matrix = frame.T @ turn @ frame
                apart = np.abs(np.array(found) - matrix).max(axis=(1, 2), initial=0.0)
                if np.all(apart > _SAME) and _is_unchanged(function, matrix, beside):
                    found.append(matrix)
    return tuple(found)


def _signed_permutations(r: int) -> Iterator[Array]:
    for order, signs in product(permutations(range(r)), product((1.0, -1.0), repeat=r)):
        yield np.eye(r)[list(order)] * np.array(signs)


def _frames(function: Function) -> Iterator[Array]:
    """Yield orthonormal frames (r, r) other than the coordinates."""
    whole = Section.whole(function)
    frame = adapted_frame(whole)
    if not _is_made_of_axes(frame):
        yield frame
    if whole.break_functions is None or whole.hides_cells:
        return
    turned = whole.inside(frame)
    points = np.random.default_rng(31).standard_normal((512, function.r))
    unit = 2 * float(np.median(np.abs(turned(points)))) or 1.0
    first, second = (
        _covariant(rule, turned, unit) for rule in rules_for(turned, constant=function.r > 3)[0][:2]
    )
    if np.abs(first - second).max() > _SETTLED * np.abs(first).max():
        return  # A jump hides a small tilt of a frame from every test at points.
    other = _eigenframe(frame.T @ first @ frame)
    if not _is_made_of_axes(other) and not _is_made_of_axes(other @ frame.T):
        yield other


def _covariant(rule: Rule, section: Section, unit: float) -> Array:
    """A symmetric matrix (m, m) that rotates with the function: C_2 plus all A_k of its tanh."""
    values = np.tanh(rule.evaluate(section) / unit)
    moments = rule.hermite_moments(values, _ORDERS)
    total = np.einsum("q,qij->ij", moments[2][0], symmetric_basis(section.m))
    for k in _ORDERS:
        total += _unfolded(moments[k][0], section.m, k)
    return np.asarray(total)


def _unfolded(moments: Array, r: int, k: int) -> Array:
    """A_k / k! from the orthonormal moments of an order."""
    betas = multi_indices(r, k)
    found = np.zeros((r, r))
    raw = dict(zip(map(tuple, betas.tolist()), moments / root_factorials(betas), strict=True))
    for gamma in multi_indices(r, k - 1).tolist():
        row = np.zeros(r)
        for i in range(r):
            beta = list(gamma)
            beta[i] += 1
            row[i] = beta[i] * raw[tuple(beta)]
        found += np.outer(row, row) * float(root_factorials(np.array([gamma]))[0]) ** 2
    return found


def _eigenframe(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    rows: list[Array] = []
    starts = np.nonzero(np.diff(values, prepend=-np.inf) > 1e-9 * max(values[-1], 1e-300))[0]
    for a, b in zip(starts, np.append(starts, len(values))[1:], strict=True):
        block = vectors[:, a:b]
        rows += list(basis_of(block @ block.T, int(b - a)))
    return np.array(rows)


def _is_made_of_axes(frame: Array) -> bool:
    return bool(np.all(np.abs(frame).max(axis=1) > 1 - 1e-12))


def _is_unchanged(function: Function, matrix: Array, beside: Array) -> bool:
    points = np.random.default_rng(31).standard_normal((64, len(matrix)))
    for z, tolerance in ((points, 1e-9), (3 * points, 1e-9), (10 * points, 1e-6), (beside, 1e-6)):
        if not len(z):
            continue
        before = np.asarray(function(z), dtype=float)
        after = np.asarray(function(z @ matrix.T), dtype=float)
        size = np.maximum(np.abs(before), np.abs(after)) + np.median(np.abs(before))
        if not np.all(np.abs(before - after) <= tolerance * size):
            return False
    return True


def invariant_subspace(rows: Array, turns: Sequence[Array]) -> Array | None:
    """Return the subspace that symmetries allow close to one that is known up to an error.

    Parameters
    ----------
    rows : array, shape (k, m)
        Orthonormal rows, known to about a percent.
    turns : sequence of array, shape (m, m)
        A group of orthogonal matrices under which the subspace must be invariant.

    Returns
    -------
    array, shape (k, m), or None
        A sum of isotypic components; None when the symmetries leave a choice.
    """
    m = rows.shape[1]
    first, second = (np.mean([t @ s @ t.T for t in turns], axis=0) for s in _random_symmetric(m))
    values, vectors = np.linalg.eigh(first)
    label = np.cumsum(np.diff(values, prepend=values[0]) > 1e-7)
    crossed = np.abs(vectors.T @ second @ vectors) > 1e-7
    for i, j in zip(*np.nonzero(crossed), strict=True):  # Equivalent parts are one component.
        label[label == label[j]] = label[i]
    total = np.zeros((m, m))
    for part in np.unique(label):
        block = vectors[:, label == part]
        share = float(np.sum((rows @ block) ** 2)) / block.shape[1]
        if 1e-2 < share < 1 - 1e-2:
            return None
        if share >= 0.5:
            total += block @ block.T
    if round(float(np.trace(total))) != len(rows):
        return None
    return basis_of(total, len(rows))


def _random_symmetric(m: int) -> tuple[Array, Array]:
    first, second = np.random.default_rng(37).standard_normal((2, m, m))
    return first + first.T, second + second.T
