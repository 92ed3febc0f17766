"""Hermite products that are the same up to a permutation of exchangeable variables.

A function of exchangeable variables z_1 ... z_N has one coefficient for every partition: He_b with
b = (2, 1) stands for all products He_2(z_i) He_1(z_j), i != j. The variables of a feature come in
two kinds, those of sign +1 and those of sign -1, so that a type is a pair of partitions. In a tree
the variables of a level are features themselves, and the parts of a partition are types of the
level below: products over different blocks of directions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Type",
    "directions_up_to",
    "hermite_powers",
    "partitions",
    "symmetric_sum",
    "types_up_to",
]

Array = NDArray[np.float64]


class Type(NamedTuple):
    """Hermite products of one kind.

    Attributes
    ----------
    plus, minus : tuple of int
        Partitions on the variables of sign +1 and of sign -1. Their parts are types of the level
        below, by their place in its list; for directions the place of He_b is its degree b.
    degree : int
        The total degree.
    copies : float
        Number of products of this kind.
    norm : float
        The expectation of their square, prod_i b_i!.
    """

    plus: tuple[int, ...]
    minus: tuple[int, ...]
    degree: int
    copies: float
    norm: float


def directions_up_to(degree: int) -> list[Type]:
    """Return the types of one Gaussian variable: He_0 ... He_degree."""
    return [Type((b,), (), b, 1.0, float(math.factorial(b))) for b in range(degree + 1)]


def types_up_to(
    degree: int, plus: int, minus: int, below: Sequence[Type] | None = None
) -> list[Type]:
    """Return all types of degree 0 ... `degree` for given numbers of variables of each sign.

    Parameters
    ----------
    degree : int
        Highest degree.
    plus, minus : int
        Number of variables of each sign.
    below : sequence of Type, optional
        Types of each variable, the constant first; by default those of a direction.
    """
    kinds = directions_up_to(degree) if below is None else below
    degrees = tuple(kind.degree for kind in kinds)
    found = []
    for total in range(degree + 1):
        for part in range(total, -1, -1):
            for up in partitions(part, degrees):
                for down in partitions(total - part, degrees):
                    if len(up) <= plus and len(down) <= minus:
                        parts = [kinds[b] for b in (*up, *down)]
                        count = float(_placements(up, plus) * _placements(down, minus))
                        count *= math.prod(kind.copies for kind in parts)
                        norm = math.prod(kind.norm for kind in parts)
                        found.append(Type(up, down, total, count, float(norm)))
    return found


@lru_cache(maxsize=256)
def partitions(total: int, degrees: tuple[int, ...] | None = None) -> tuple[tuple[int, ...], ...]:
    """Return multisets of kinds whose degrees add up to a number, the last kinds first.

    Parameters
    ----------
    total : int
        The sum.
    degrees : tuple of int, optional
        Degrees of the kinds, the constant first; by default 0 ... `total`, so that the multisets
        are partitions into positive parts, largest first.
    """
    sizes = tuple(range(total + 1)) if degrees is None else degrees

    def parts(left: int, last: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
            return
        for kind in range(last, 0, -1):
            if sizes[kind] <= left:
                for rest in parts(left - sizes[kind], kind):
                    yield (kind, *rest)

    return tuple(parts(total, len(sizes) - 1))


def _placements(partition: Sequence[int], variables: int) -> int:
    """Count the ways in which the parts can be put on different variables."""
    alike = math.prod(math.factorial(m) for m in Counter(partition).values())
    return math.perm(variables, len(partition)) // alike


def hermite_powers(z: Array, degree: int) -> list[Array]:
    """Return He_0(z) ... He_degree(z)."""
    found = [np.ones_like(z), z]
    for k in range(1, degree):
        found.append(z * found[k] - k * found[k - 1])
    return found[: degree + 1]


def symmetric_sum(partition: Sequence[int], powers: Sequence[Array]) -> Array:
    """Return the sum of all different products of one partition, shape (n,).

    Parameters
    ----------
    partition : sequence of int
        Degrees of the factors.
    powers : sequence of array, shape (n, N)
        He_0, He_1, ... of the variables.
    """
    alike = math.prod(math.factorial(m) for m in Counter(partition).values())
    return _ordered_sum([powers[b] for b in partition], len(powers[0])) / alike


def _ordered_sum(factors: list[Array], n: int) -> Array:
    """Sum prod_k factors[k][:, i_k] over distinct i_1 ... i_m, by inclusion and exclusion."""
    if not factors:
        return np.ones(n)
    *others, last = factors
    total = last.sum(axis=1) * _ordered_sum(others, n)
    for k, other in enumerate(others):
        total = total - _ordered_sum([*others[:k], other * last, *others[k + 1 :]], n)
    return np.asarray(total)
