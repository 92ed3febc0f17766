"""The iteration of message passing, against dense algebra and state evolution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import funm, inv

from learnability import MultiIndex
from learnability.learners.bayes._channel_step import ChannelStep
from learnability.learners.bayes._iteration import (
    Run,
    Start,
    informed_start,
    iterate,
    matrix_function,
    random_start,
    spectral_start,
)

R, D = 2, 150


def linear(y: np.ndarray, noise: float):
    """g_out of y = z + sqrt(noise) xi, for one direction."""
    return lambda omega, C: (y - omega) / (C[0, 0] + noise)


def run(
    target: MultiIndex, seed: int, alpha: float, start: str = "informed", **settings: float
) -> Run:
    X, y, W, _ = target.sample(seed, d=D, alpha=alpha, dtype=np.float32)
    rng = np.random.default_rng(seed)
    first = informed_start(rng, W) if start == "informed" else random_start(rng, target.r, D)
    options = {"damping": 0.5, "iterations": 200, "tolerance": 1e-3} | settings
    return iterate(X, ChannelStep(target.channel, y), first, W, **options)  # type: ignore[arg-type]


def test_starts() -> None:
    rng = np.random.default_rng(0)
    W = np.linalg.qr(rng.standard_normal((2000, 2)))[0].T
    nothing, spectral, informed = (
        random_start(rng, 2, 2000),
        spectral_start(W),
        informed_start(rng, W),
    )
    assert np.abs(nothing.W @ W.T).max() < 0.02
    np.testing.assert_allclose(nothing.W @ nothing.W.T, 0.01 * np.eye(2), atol=2e-3)
    np.testing.assert_array_equal(nothing.C, np.eye(2))
    for start, q, tolerance in ((spectral, 0.1, 1e-12), (informed, 0.95, 0.03)):
        np.testing.assert_allclose(start.W @ start.W.T, q * np.eye(2), atol=tolerance)
        np.testing.assert_allclose(start.C, (1 - q) * np.eye(2), atol=1e-12)
    np.testing.assert_allclose(informed.W @ W.T, 0.95 * np.eye(2), atol=0.03)


def test_one_step_is_the_formula() -> None:
    rng = np.random.default_rng(1)
    n, d, damping = 90, 40, 0.7
    X = rng.standard_normal((n, d))
    W, hidden = rng.standard_normal((2, 2, d)) / math.sqrt(d)
    C = np.array([[0.8, 0.1], [0.1, 0.6]])
    calls = []

    def step(omega: np.ndarray, V: np.ndarray) -> np.ndarray:
        calls.append((omega.copy(), V.copy()))
        return 0.3 * np.tanh(omega)

    found = iterate(X, step, Start(W, C), hidden, damping, 2, 1e-9)
    np.testing.assert_allclose(calls[0][0], W @ X.T)
    g = 0.3 * np.tanh(W @ X.T)
    A = g @ g.T / d
    gain = np.linalg.inv(np.eye(2) + A)
    new = (1 - damping) * W + damping * gain @ (g @ X / d + A @ W)
    np.testing.assert_allclose(found.overlap[1], new @ hidden.T)
    np.testing.assert_allclose(found.length[1], new @ new.T)
    np.testing.assert_allclose(found.C[1], (1 - damping) * C + damping * gain)
    # The memory term of the second step is that of the averaged estimate.
    np.testing.assert_allclose(calls[1][0], new @ X.T - found.C[1] @ (damping * g))
    np.testing.assert_array_equal(calls[1][1], found.C[1])
    np.testing.assert_array_equal(found.overlap[0], W @ hidden.T)
    assert len(found.C) == len(found.overlap) == len(found.length) == 3
    assert found.status in ("stopped", "inconsistent")


@pytest.mark.parametrize("damping", [0.5, 1.0])
def test_the_fixed_point_of_a_linear_channel_is_ridge_regression(damping: float) -> None:
    """The posterior mean under the prior N(0, I / d) has a closed form."""
    rng = np.random.default_rng(2)
    n, d, noise = 600, 300, 0.5
    X = rng.standard_normal((n, d))
    w = rng.standard_normal((1, d)) / math.sqrt(d)
    y = X @ w[0] + math.sqrt(noise) * rng.standard_normal(n)
    found = iterate(X, linear(y, noise), random_start(rng, 1, d), w, damping, 400, 1e-9)
    assert found.status == "converged"
    ridge = np.linalg.solve(X.T @ X / noise + d * np.eye(d), X.T @ y / noise)
    assert np.linalg.norm(found.W[0] - ridge) < 0.1 * np.linalg.norm(ridge)
    covariance = np.trace(np.linalg.inv(X.T @ X / noise + d * np.eye(d)))
    assert found.C[-1, 0, 0] == pytest.approx(covariance, rel=0.1)


@pytest.mark.parametrize("begin", [0.3, 3.0])
def test_a_covariance_that_is_wrong_is_put_right(begin: float) -> None:
    """Exact linear labels, and a start whose covariance is not that of its error.

    Its ratio to the true one goes to 1 + alpha (ratio - 1)^2 and further, without the derivatives;
    with them the error falls by the factor 1 / (alpha - 1) or so in each step.
    """
    rng = np.random.default_rng(7)
    d, alpha, error = 400, 3, 0.1
    X = rng.standard_normal((alpha * d, d))
    w = rng.standard_normal((1, d))
    w /= np.linalg.norm(w)
    W = (1 - error) * w + np.sqrt(error * (1 - error) / d) * rng.standard_normal((1, d))
    step, start = linear(X @ w[0], 0.0), Start(W, np.array([[begin * error]]))

    def with_information(omega: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return step(omega, C), len(X) / C

    def ratios(run: Run) -> np.ndarray:
        return (1 - 2 * run.overlap + run.length)[4:, 0, 0] / run.C[4:, 0, 0]

    found = iterate(X, step, start, w, 0.5, 14, 1e-9, with_information=with_information)
    assert np.sum((found.W - w) ** 2) < 0.1 * error
    assert np.abs(np.log(ratios(found))).max() < math.log(1.5)
    plain = iterate(X, step, start, w, 0.5, 14, 1e-9)
    assert np.abs(np.log(ratios(plain))).max() > math.log(3)


def test_a_direction_known_exactly_is_held_beside_another_that_is_not() -> None:
    """The first row has labels without noise, and the second is ridge regression."""
    rng = np.random.default_rng(5)
    n, d, noise = 450, 300, 0.5
    X = rng.standard_normal((n, d))
    W = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    y = W @ X.T + math.sqrt(noise) * np.array([[0.0], [1.0]]) * rng.standard_normal((2, n))

    def step(omega: np.ndarray, C: np.ndarray) -> np.ndarray:
        return np.linalg.solve(C + np.diag([0.0, noise]), y - omega)

    start = random_start(rng, 2, d)
    found = iterate(X, step, start, W, 0.5, 400, 1e-9, diagonal=True, exact=True)
    alone = iterate(X, linear(y[1], noise), Start(start.W[1:], np.eye(1)), W[1:], 0.5, 400, 1e-9)
    assert found.status == "converged"
    assert found.C[-1, 0, 0] == pytest.approx(1e-4, rel=1e-9)
    assert np.linalg.norm(found.W[0] - W[0]) < 0.01
    np.testing.assert_allclose(found.W[1], alone.W[0], atol=1e-6)
    # A run that goes on from there holds it from the beginning.
    np.testing.assert_allclose(found.held, np.diag([1.0, 0.0]), atol=1e-12)
    further = iterate(X, step, Start(found.W, found.C[-1], found.held), W, 0.5, 400, 1e-9)
    np.testing.assert_allclose(further.overlap[:, 0, 0], found.overlap[-1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(further.W[1], alone.W[0], atol=1e-6)
    # Where noise may keep a direction from being known, nothing is held.
    free = iterate(X, step, start, W, 0.5, 400, 1e-9, diagonal=True)
    assert free.C[-1, 0, 0] != pytest.approx(1e-4, rel=1e-9)


def test_statuses() -> None:
    target = MultiIndex("sign(z1*z2)")
    assert run(target, 0, 6.0).status == "converged"
    assert run(target, 0, 6.0, iterations=2, tolerance=1e-9).status == "stopped"
    X, _, W, _ = target.sample(0, d=D, alpha=2.0, dtype=np.float32)
    start = random_start(np.random.default_rng(0), R, D)
    broken = iterate(X, lambda omega, C: omega * np.nan, start, W, 0.5, 20, 1e-3)
    assert broken.status == "diverged"
    np.testing.assert_array_equal(broken.W, start.W.astype(np.float32))
    assert len(broken.overlap) == 1
    # Directions that the labels do not support: long, with a large covariance.
    lost = iterate(
        X, lambda omega, C: np.zeros_like(omega), Start(2 * W, np.eye(2)), W, 0.01, 2, 1e-9
    )
    assert lost.status == "inconsistent"


def test_nothing_is_found_in_labels_that_say_nothing() -> None:
    X = np.random.default_rng(3).standard_normal((300, 100)).astype(np.float32)
    W = np.eye(100)[:1]
    start = random_start(np.random.default_rng(4), 1, 100)
    found = iterate(X, lambda omega, C: 0 * omega, start, W, 1.0, 50, 1e-3)
    np.testing.assert_allclose(found.W, 0)
    np.testing.assert_allclose(found.C[-1], 1)
    assert found.status == "converged"


def test_the_informed_run_reaches_state_evolution() -> None:
    """sign(z1 z2) at alpha = 5: overlap 0.8235."""
    overlaps = [np.diag(run(MultiIndex("sign(z1*z2)"), s, 5.0).overlap[-1]).mean() for s in (0, 1)]
    assert np.mean(overlaps) == pytest.approx(0.8235, abs=0.08)


def test_the_covariance_stays_positive_when_everything_is_known() -> None:
    """Phase retrieval far above its threshold: perfect recovery, where runs end."""
    for seed in range(3):
        found = run(MultiIndex("abs(z)"), seed, 3.0)
        assert 1e-6 - 1e-12 <= found.C[-1, 0, 0] <= 1e-3
        assert found.overlap[-1, 0, 0] == pytest.approx(1, abs=5e-3)
        assert found.status == "converged"


def test_single_precision_is_kept() -> None:
    found = run(MultiIndex("sign(z)"), 0, 2.0, start="random", iterations=3)
    assert found.W.dtype == np.float32
    assert found.C.dtype == found.overlap.dtype == found.length.dtype == np.float64


@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_a_function_of_a_matrix_is_that_of_scipy(r: int, seed: int) -> None:
    root = np.random.default_rng(seed).standard_normal((r, r))
    matrix = root + root.T
    np.testing.assert_allclose(matrix_function(matrix, np.cos), funm(matrix, np.cos), atol=1e-12)
    square = root @ root.T
    found = matrix_function(square, lambda x: 1 / (1 + x))
    np.testing.assert_allclose(found, inv(np.eye(r) + square), atol=1e-13)


@pytest.mark.parametrize("r", [1, 2, 3])
def test_a_function_of_equal_eigenvalues(r: int) -> None:
    np.testing.assert_allclose(matrix_function(2.0 * np.eye(r), np.exp), np.exp(2.0) * np.eye(r))
