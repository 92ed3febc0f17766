"""Ridge regression: the smaller system, paths, singular systems and rounding."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.learners.linear_algebra.ridge import dual_path, fit_readout

SHAPES = [(30, 12), (12, 30), (20, 20)]


def problem(n: int, p: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n + 7 * p)
    return rng.standard_normal((n, p)).astype(dtype), rng.standard_normal(n)


def normal_equations(F: np.ndarray, y: np.ndarray, ridge: float) -> np.ndarray:
    return np.linalg.solve(F.T @ F + ridge * np.eye(F.shape[1]), F.T @ y)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ridges", [(0.3,), (0.3, 1e-3, 7.0)])
def test_both_systems_solve_the_normal_equations(
    shape: tuple[int, int], ridges: tuple[float, ...]
) -> None:
    F, y = problem(*shape)
    found = fit_readout(F, y, ridges)
    for a, error, ridge in zip(found.weights, found.train_error, ridges, strict=True):
        np.testing.assert_allclose(a, normal_equations(F, y, ridge), rtol=1e-8, atol=1e-10)
        assert error == pytest.approx(np.mean((y - F @ a) ** 2), rel=1e-9)
    assert found.status == ("solved",) * len(ridges)


@pytest.mark.parametrize("shape", SHAPES)
def test_without_a_ridge_the_answer_has_least_norm(shape: tuple[int, int]) -> None:
    F, y = problem(*shape)
    found = fit_readout(F, y, [0.0])
    np.testing.assert_allclose(found.weights[0], np.linalg.pinv(F) @ y, rtol=1e-6, atol=1e-9)
    residual = np.mean((y - F @ found.weights[0]) ** 2)
    assert found.train_error[0] == pytest.approx(residual, abs=1e-12)


SINGULAR = {
    "duplicated rows": lambda F: np.vstack([F, F]),
    "duplicated features": lambda F: np.hstack([F, F]),
    "constant features": lambda F: np.ones_like(F),
    "no features": lambda F: np.zeros_like(F),
}


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_singular_systems_have_an_answer_of_least_norm(
    name: str, shape: tuple[int, int], dtype: type
) -> None:
    F = SINGULAR[name](problem(*shape, dtype)[0])
    y = np.random.default_rng(3).standard_normal(len(F))
    found = fit_readout(F, y, [0.0, 0.5])
    expected = np.linalg.pinv(F.astype(float), rcond=1e-10) @ y
    np.testing.assert_allclose(found.weights[0], expected, rtol=1e-5, atol=1e-8)
    regular = normal_equations(F.astype(float), y, 0.5)
    np.testing.assert_allclose(found.weights[1], regular, rtol=1e-7, atol=1e-9)
    assert found.train_error[0] == pytest.approx(np.mean((y - F @ expected) ** 2), abs=1e-9)
    if min(F.shape) > np.linalg.matrix_rank(F.astype(float)):
        assert found.status == ("least norm", "solved")


@pytest.mark.parametrize("ridge", [1e-2, 1e-6, 1e-9])
def test_small_ridges_survive_single_precision(ridge: float) -> None:
    """A large common part, as relu has, would drown a small ridge in float32 sums."""
    F, y = problem(400, 300, np.float32)
    F += 2
    found = fit_readout(F, y, [ridge]).weights[0]
    np.testing.assert_allclose(found, normal_equations(F.astype(float), y, ridge), rtol=2e-3)


def test_a_kernel_path() -> None:
    F, y = problem(15, 40)
    K = F @ F.T
    found = dual_path(K.copy(), y, [0.0, 2.0])
    np.testing.assert_allclose(found.weights[1], np.linalg.solve(K + 2 * np.eye(15), y))
    assert found.train_error[1] == pytest.approx(np.mean((y - K @ found.weights[1]) ** 2))


def test_what_is_not_positive_or_not_finite_ends_in_a_sentence() -> None:
    y = np.ones(2)
    for ridges in ([0.1], [0.0], [0.1, 0.2]):
        with pytest.raises(LearnabilityError, match="not positive"):
            dual_path(np.diag([1.0, -1.0]), y, ridges)
    with pytest.raises(LearnabilityError, match="not all finite"):
        fit_readout(np.full((3, 2), np.inf), np.ones(3), [0.1])
