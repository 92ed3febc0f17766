"""What every law of inputs offers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from scipy.stats import kstest

from learnability.inputs import INPUTS, Inputs
from learnability.inputs.base import orthonormal_rows

from tests.inputs.laws import EXAMPLES, covariance, gaussian

LAWS = pytest.mark.parametrize("inputs", EXAMPLES, ids=repr)


def test_every_kind_is_registered_and_tried() -> None:
    assert {inputs.kind for inputs in EXAMPLES} == set(INPUTS)
    assert all(INPUTS[inputs.kind] is type(inputs) for inputs in EXAMPLES)


@pytest.mark.parametrize(("r", "d"), [(1, 1), (1, 5), (3, 3), (4, 60)])
def test_hidden_directions_are_orthonormal(r: int, d: int) -> None:
    W = orthonormal_rows(np.random.default_rng(0), r, d)
    assert W.shape == (r, d)
    np.testing.assert_allclose(W @ W.T, np.eye(r), atol=1e-13)


def test_hidden_directions_are_uniform() -> None:
    rows = np.concatenate([orthonormal_rows(np.random.default_rng(k), 2, 3) for k in range(4000)])
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=5 / np.sqrt(3 * len(rows)))
    np.testing.assert_allclose(rows.T @ rows / len(rows), np.eye(3) / 3, atol=0.02)


@LAWS
def test_directions_are_orthonormal_and_belong_to_their_seed(inputs: Inputs) -> None:
    hidden, marked = inputs.directions(3, 2, 12)
    for rows in (hidden, marked):
        np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-12)
    again, other = inputs.directions(3, 2, 12), inputs.directions(4, 2, 12)
    np.testing.assert_array_equal(hidden, again.hidden)
    np.testing.assert_array_equal(marked, again.marked)
    assert not np.array_equal(hidden, other.hidden)


@LAWS
def test_samples_have_the_covariance_and_the_hidden_coordinates_are_standard(
    inputs: Inputs,
) -> None:
    n, d, r = 40_000, 10, 2
    directions = inputs.directions(0, r, d)
    X, h = inputs.draw(np.random.default_rng(1), n, directions, np.float64)
    Sigma = covariance(inputs, 0, r, d)
    # Entries of a sample covariance: standard error sqrt((S_ii S_jj + S_ij^2) / n).
    error = np.sqrt(np.outer(np.diag(Sigma), np.diag(Sigma)) + Sigma**2) / math.sqrt(n)
    assert (np.abs(X.T @ X / n - Sigma) < 4.5 * error + 1e-12).all()
    assert (np.abs(X.mean(axis=0)) < 4.5 * np.sqrt(np.diag(Sigma) / n)).all()
    W = directions.hidden
    values, vectors = np.linalg.eigh(W @ Sigma @ W.T)
    whitening = (vectors / np.sqrt(values)) @ vectors.T
    np.testing.assert_allclose(h, X @ (whitening @ W).T, atol=1e-10)
    np.testing.assert_allclose(h.T @ h / n, np.eye(r), atol=4.5 * math.sqrt(2 / n))
    if inputs.normal:
        assert all(kstest(column, "norm").pvalue > 1e-3 for column in h.T)
    else:
        np.testing.assert_allclose(np.abs(h), 1.0)


@LAWS
def test_single_precision(inputs: Inputs) -> None:
    directions = inputs.directions(0, 2, 12)
    X, h = inputs.draw(np.random.default_rng(1), 7, directions, np.float32)
    assert X.dtype == h.dtype == np.float32 and X.shape == (7, 12) and h.shape == (7, 2)


@settings(deadline=None, max_examples=60)
@given(
    strategies.integers(1, 4).flatmap(lambda r: strategies.tuples(strategies.just(r), gaussian(r))),
    strategies.integers(0, 10**6),
    strategies.floats(-1.5, 1.5),
    strategies.floats(-1.5, 1.5),
)
def test_powers_of_the_covariance_multiply(
    drawn: tuple[int, Inputs], seed: int, a: float, b: float
) -> None:
    r, inputs = drawn
    d = inputs.least_dimension(r) + 3
    directions = inputs.directions(seed, r, d)
    V = np.random.default_rng(seed).standard_normal((3, d))

    def apply(rows: np.ndarray, power: float) -> np.ndarray:
        return inputs.apply(rows, directions, power)

    np.testing.assert_allclose(apply(apply(V, a), b), apply(V, a + b), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(apply(V, 0.0), V, atol=1e-12)
    Sigma = apply(np.eye(d), 1.0)
    np.testing.assert_allclose(Sigma, Sigma.T, atol=1e-10)
    np.testing.assert_allclose(apply(V, 1.0), V @ Sigma, atol=1e-9)
    assert np.linalg.eigvalsh(Sigma).min() > 0


@settings(deadline=None, max_examples=40)
@given(
    strategies.integers(1, 3).flatmap(lambda r: strategies.tuples(strategies.just(r), gaussian(r))),
    strategies.integers(0, 10**6),
)
def test_hidden_coordinates_are_whitened_projections(drawn: tuple[int, Inputs], seed: int) -> None:
    """z = (W* Sigma W*^T)^(-1/2) W* x, sample by sample and whatever the law."""
    r, inputs = drawn
    d = inputs.least_dimension(r) + 4
    directions = inputs.directions(seed, r, d)
    X, h = inputs.draw(np.random.default_rng(seed), 5, directions, np.float64)
    W = directions.hidden
    gram = W @ inputs.apply(W, directions).T
    root = h.T @ np.linalg.pinv((X @ W.T).T)  # Five samples determine the r x r matrix.
    np.testing.assert_allclose(root, root.T, atol=1e-7)
    np.testing.assert_allclose(root @ gram @ root, np.eye(r), atol=1e-6)
    assert np.linalg.eigvalsh(0.5 * (root + root.T)).min() > 0
