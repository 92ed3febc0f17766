"""Products of Hermite polynomials: multi-indices, values, and how rotations mix them."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "hermite_products",
    "hermite_table",
    "multi_indices",
    "product_rotation",
    "root_factorials",
    "symmetric_basis",
]

Array = NDArray[np.float64]


@lru_cache(maxsize=256)
def multi_indices(m: int, order: int) -> NDArray[np.int64]:
    """Return all multi-indices of a given order, shape (q, m), in lexicographic order."""
    if m == 0:
        return np.zeros((1 if order == 0 else 0, 0), dtype=int)
    if m == 1:
        return np.array([[order]])
    return np.concatenate(
        [
            np.column_stack([np.full(len(rest), first), rest])
            for first in range(order, -1, -1)
            for rest in [multi_indices(m - 1, order - first)]
        ]
    )


def root_factorials(betas: NDArray[np.int64]) -> Array:
    """Return sqrt(beta!) of multi-indices (q, m)."""
    return np.array([math.sqrt(math.prod(map(math.factorial, row))) for row in betas.tolist()])


def symmetric_basis(m: int) -> Array:
    """Orthonormal basis (q, m, m) of symmetric matrices, in the order of `multi_indices(m, 2)`."""
    found = []
    for beta in multi_indices(m, 2):
        i, j = np.repeat(np.arange(m), beta)
        matrix = np.zeros((m, m))
        matrix[i, j] = matrix[j, i] = 1.0 if i == j else math.sqrt(0.5)
        found.append(matrix)
    return np.array(found)


def hermite_table(x: Array, order: int) -> Array:
    """Orthonormal Hermite polynomials He_k / sqrt(k!) of orders 0 ... order, along axis 0."""
    table = np.empty((order + 1, *x.shape))
    table[0] = 1.0
    if order:
        table[1] = x
    for k in range(1, order):
        table[k + 1] = (x * table[k] - np.sqrt(k) * table[k - 1]) / np.sqrt(k + 1)
    return table


def hermite_products(z: Array, order: int) -> Array:
    """Return orthonormal products of Hermite polynomials of total order `order`, shape (q, ...)."""
    if order == 1:
        return np.moveaxis(z, -1, 0)
    if order == 2:
        columns = np.ascontiguousarray(np.moveaxis(z, -1, 0))
        pairs = [np.repeat(np.arange(len(beta)), beta) for beta in multi_indices(len(columns), 2)]
        return np.stack(
            [
                (columns[i] ** 2 - 1) / math.sqrt(2) if i == j else columns[i] * columns[j]
                for i, j in pairs
            ]
        )
    table = hermite_table(np.moveaxis(z, -1, 0), order)
    products = []
    for beta in multi_indices(z.shape[-1], order):
        factors = [table[b, i] for i, b in enumerate(beta) if b]
        product = np.ones(z.shape[:-1]) if not factors else factors[0]
        for factor in factors[1:]:
            product = product * factor
        products.append(product)
    return np.array(products)


def product_rotation(matrix: Array, order: int) -> Array:
    """Return the matrix R with h(M z) = R h(z) for the orthonormal Hermite products h of an order.

    M is orthogonal. R also maps the coefficients E[g h] to those of the tensor every index of which
    is rotated by M.
    """
    return _product_rotation(np.ascontiguousarray(matrix).tobytes(), len(matrix), order)


@lru_cache(maxsize=4096)
def _product_rotation(matrix: bytes, m: int, order: int) -> Array:
    turn = np.frombuffer(matrix).reshape(m, m)
    points, inverse = _interpolation(m, order)
    rotation = hermite_products(points @ turn.T, order) @ inverse
    rotation[np.abs(rotation) < 1e-11] = 0.0
    return rotation


@lru_cache(maxsize=64)
def _interpolation(m: int, order: int) -> tuple[Array, Array]:
    """Points at which the products of an order are independent, and the inverse of their values."""
    count = 3 * len(multi_indices(m, order)) + 8
    points = np.random.default_rng(23).standard_normal((count, m))
    return points, np.asarray(np.linalg.pinv(hermite_products(points, order)), dtype=float)
