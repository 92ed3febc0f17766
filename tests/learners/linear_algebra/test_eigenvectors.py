"""Thin products and leading eigenvectors, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import MultiIndex
from learnability.errors import LearnabilityError
from learnability.learners.linear_algebra import eigenvectors
from learnability.learners.linear_algebra.eigenvectors import (
    leading_linearised_vectors,
    leading_vectors,
    preprocessing,
)
from learnability.learners.linear_algebra.thin_products import collect, project


def symmetric_matrices(rng: np.random.Generator, n: int, r: int) -> np.ndarray:
    raw = rng.standard_normal((n, r, r))
    return 0.5 * (raw + raw.transpose(0, 2, 1))


def dense_symmetric(X: np.ndarray, T: np.ndarray) -> np.ndarray:
    """The matrix on vectors ordered as (r, d)."""
    n, d = X.shape
    size = T.shape[1] * d
    return np.einsum("nab,ni,nj->aibj", T, X, X, optimize=True).reshape(size, size) / n


def modulus(seed: int, d: int, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y, W, _ = MultiIndex("abs(z)").sample(seed, d=d, alpha=alpha, dtype=np.float32)
    return X, (y.astype(float) ** 2 - 1)[:, None, None], W


# ---- thin products


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (5003, 900)])
def test_thin_products_are_products(dtype: type, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape).astype(dtype)
    W, G = rng.standard_normal((3, shape[1])), rng.standard_normal((3, shape[0]))
    near = {"rtol": 1e-4 if dtype is np.float32 else 1e-11, "atol": 1e-3}
    assert project(X, W).dtype == collect(X, G).dtype == dtype
    np.testing.assert_allclose(project(X, W), W @ X.T, **near)
    np.testing.assert_allclose(collect(X, G), G @ X, **near)


# ---- preprocessing


def test_preprocessing_is_one_minus_the_inverse_second_moment() -> None:
    rng = np.random.default_rng(1)
    root = rng.standard_normal((20, 3, 3))
    second = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(3)
    T = preprocessing(second - np.eye(3), -100.0)
    np.testing.assert_allclose(T, np.eye(3) - np.linalg.inv(second), atol=1e-10)


def test_preprocessing_has_a_floor_and_ignores_labels_that_do_not_occur() -> None:
    G = np.array([-1.0, -1.0 - 1e-9, -0.99, 3.0, np.nan])[:, None, None]
    np.testing.assert_allclose(preprocessing(G, -7.0).ravel(), [-7, -7, -7, 0.75, 0])


# ---- the symmetric matrix


def test_leading_vectors_of_a_dense_matrix() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((90, 40))
    T = symmetric_matrices(rng, 90, 2)
    found = leading_vectors(X, T, 3, tolerance=1e-9)
    values, vectors = np.linalg.eigh(dense_symmetric(X, T))
    np.testing.assert_allclose(found.values, values[::-1][:3], rtol=1e-9)
    cosines = np.abs(np.einsum("ki,ik->k", found.vectors.reshape(3, -1), vectors[:, ::-1][:, :3]))
    np.testing.assert_allclose(cosines, 1, atol=1e-9)
    assert found.residuals.max() <= 1e-9
    assert found.status == "converged"


def test_restarts_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    X, G, _ = modulus(0, 200, 2.0)
    T = preprocessing(G, -20.0)
    whole = leading_vectors(X, T, 2)
    monkeypatch.setattr(eigenvectors, "_LARGEST_BASIS", 24)
    restarted = leading_vectors(X, T, 2)
    assert restarted.status == "converged"
    assert restarted.products > whole.products
    np.testing.assert_allclose(restarted.values, whole.values, rtol=1e-4)


def test_vectors_outside_a_subspace() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 30))
    T = symmetric_matrices(rng, 120, 2)
    known = np.linalg.qr(rng.standard_normal((30, 2)))[0].T
    for solve in (leading_vectors, leading_linearised_vectors):
        found = solve(X, T, 2, outside=known)
        assert np.abs(found.vectors @ known.T).max() < 1e-9
    rest = np.kron(np.eye(2), np.eye(30) - known.T @ known)
    top = np.linalg.eigvalsh(rest @ dense_symmetric(X, T) @ rest)[-1]
    assert leading_vectors(X, T, 1, outside=known).values[0] == pytest.approx(top, rel=1e-5)


def test_degenerate_eigenvalues_are_found_with_their_multiplicity() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((200, 25))
    scalar = rng.standard_normal(200)
    found = leading_vectors(X, scalar[:, None, None] * np.eye(2), 4, tolerance=1e-8)
    top = np.linalg.eigvalsh((X * scalar[:, None]).T @ X / 200)[::-1]
    np.testing.assert_allclose(found.values, [top[0], top[0], top[1], top[1]], rtol=1e-8)


def test_more_vectors_than_the_space_has_room_for_in_blocks() -> None:
    X, G, _ = modulus(1, 3, 4.0)
    found = leading_vectors(X, preprocessing(G, -10.0), 2)
    dense = np.linalg.eigvalsh(dense_symmetric(X.astype(float), preprocessing(G, -10.0)))
    np.testing.assert_allclose(found.values, dense[::-1][:2], rtol=1e-4)


# ---- products


@pytest.mark.parametrize("solve", [leading_vectors, leading_linearised_vectors])
def test_products_are_passes_over_the_samples(solve, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    X, G, _ = modulus(2, 100, 4.0)
    calls = []
    for name, function in (("project", project), ("collect", collect)):
        monkeypatch.setattr(
            eigenvectors, name, lambda X, W, function=function: (calls.append(1), function(X, W))[1]
        )
    assert solve(X, G).products == len(calls) > 0


@pytest.mark.parametrize("seed", range(4))
def test_phase_retrieval_takes_at_most_40_products(seed: int) -> None:
    X, G, W = modulus(seed, 500, 10.0)
    found = leading_vectors(X, preprocessing(G, -30.0), 1, seed)
    assert found.products <= 40
    assert found.residuals.max() <= 1e-3
    assert float((found.vectors[0, 0] @ W[0]) ** 2) > 0.97


def test_a_run_that_is_cut_short_says_so() -> None:
    X, G, _ = modulus(0, 300, 1.0)
    found = leading_vectors(X, preprocessing(G, -100.0), most_products=10)
    assert found.products == 10
    assert found.status == "stopped"
    assert np.isfinite(found.vectors).all()


def test_the_same_seed_gives_the_same_numbers() -> None:
    X, G, _ = modulus(0, 100, 3.0)
    for solve in (leading_vectors, leading_linearised_vectors):
        one, two, other = (solve(X, G, 1, seed) for seed in (5, 5, 6))
        np.testing.assert_array_equal(one.vectors, two.vectors)
        assert other.values[0] == pytest.approx(one.values[0], rel=1e-3)
        assert not np.array_equal(one.vectors, other.vectors)


# ---- the asymmetric matrix


def test_linearised_vectors_of_a_dense_matrix() -> None:
    X, y, W, _ = MultiIndex("sign(z1*z2)").sample(0, d=40, alpha=8.0)
    G = MultiIndex("sign(z1*z2)").channel.G(y)
    n, d = X.shape
    kernel = X @ X.T / d - np.eye(n)
    dense = np.einsum("ij,jab->iajb", kernel, G).reshape(2 * n, 2 * n)
    values, vectors = np.linalg.eig(dense)
    top = int(np.argmax(values.real))
    found = leading_linearised_vectors(X, G, 1, tolerance=1e-8)
    assert found.values[0] == pytest.approx(values[top].real, rel=1e-6)
    blocks = vectors[:, top].real.reshape(n, 2)
    estimate = np.einsum("nab,nb,nd->ad", G, blocks, X)
    cosine = np.sum(estimate * found.vectors[0]) / np.linalg.norm(estimate)
    assert abs(cosine) == pytest.approx(1, abs=1e-5)
    assert np.linalg.norm(found.vectors[0] @ W.T) > 0.5


# ---- bad input


def test_what_cannot_be_solved_is_said_in_a_sentence() -> None:
    X, G, _ = modulus(0, 20, 3.0)
    with pytest.raises(LearnabilityError, match="`T` holds numbers that are not finite"):
        leading_vectors(X, np.full_like(G, np.nan))
    with pytest.raises(LearnabilityError, match="`G` has shape"):
        leading_linearised_vectors(X, G[:-1])
    with pytest.raises(LearnabilityError, match="zero for every sample"):
        leading_vectors(X, np.zeros_like(G))
    with pytest.raises(LearnabilityError, match="whole numbers from 1 to 20"):
        leading_vectors(X, G, 21)
    with pytest.raises(LearnabilityError, match="at least 3"):
        leading_linearised_vectors(X[:2], G[:2])
    broken = X.copy()
    broken[30, 4] = np.inf
    for solve in (leading_vectors, leading_linearised_vectors):
        with pytest.raises(LearnabilityError, match="`X` holds numbers that are not finite"):
            solve(broken, G)
