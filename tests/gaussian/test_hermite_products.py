"""Hermite products: counting, orthonormality, rotations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.gaussian.hermite_products import (
    hermite_products,
    hermite_table,
    multi_indices,
    product_rotation,
)
from learnability.gaussian.rules import gauss_normal

from tests.geometry import random_rotation


@pytest.mark.parametrize(("m", "order"), [(1, 4), (2, 3), (3, 2), (4, 3), (3, 0), (0, 0)])
def test_multi_indices(m: int, order: int) -> None:
    found = multi_indices(m, order)
    assert found.shape == (math.comb(m + order - 1, order) if m else 1, m)
    assert len({tuple(beta) for beta in found.tolist()}) == len(found)
    assert (found.sum(axis=1) == order).all()
    assert found.tolist() == sorted(found.tolist(), reverse=True)
    assert len(multi_indices(0, 2)) == 0


def test_hermite_table() -> None:
    x = np.linspace(-3, 3, 9)
    table = hermite_table(x, 5)
    expected = [
        1 + 0 * x,
        x,
        x**2 - 1,
        x**3 - 3 * x,
        x**4 - 6 * x**2 + 3,
        x**5 - 10 * x**3 + 15 * x,
    ]
    for k, value in enumerate(expected):
        np.testing.assert_allclose(table[k], value / math.sqrt(math.factorial(k)), atol=1e-13)
    assert hermite_table(x, 0).shape == (1, 9)


@pytest.mark.parametrize(("m", "orders"), [(1, range(9)), (2, range(5)), (3, range(4))])
def test_products_are_orthonormal(m: int, orders: range) -> None:
    axes = [gauss_normal(np.zeros(0), 20)] * m
    nodes = np.stack(np.meshgrid(*[x for x, _ in axes], indexing="ij"), axis=-1).reshape(-1, m)
    weights = np.array([1.0])
    for _, w in axes:
        weights = np.multiply.outer(weights, w).ravel()
    products = np.concatenate([hermite_products(nodes, k) for k in orders])
    np.testing.assert_allclose((products * weights) @ products.T, np.eye(len(products)), atol=1e-9)


@pytest.mark.parametrize(("m", "order"), [(2, 1), (2, 5), (3, 4), (4, 3), (3, 8)])
def test_rotations_mix_products_of_one_order(m: int, order: int) -> None:
    turn = random_rotation(m, seed=order)
    rotation = product_rotation(turn, order)
    z = np.random.default_rng(1).standard_normal((50, m))
    scale = np.abs(hermite_products(z, order)).max()
    turned = hermite_products(z @ turn.T, order)
    assert np.allclose(turned, rotation @ hermite_products(z, order), atol=1e-9 * scale)
    assert np.allclose(rotation @ rotation.T, np.eye(len(rotation)), atol=1e-8)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_a_turn_by_a_right_angle_moves_products_and_adds_nothing(order: int) -> None:
    rotation = product_rotation(np.array([[0.0, 1.0], [-1.0, 0.0]]), order)
    assert np.count_nonzero(rotation) == order + 1
    np.testing.assert_allclose(np.abs(rotation[rotation != 0]), 1.0)
