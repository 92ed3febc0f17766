import numpy as np
import pytest
from scipy.sparse import csr_matrix

from learnability.estimators import _accumulator
from learnability.estimators._accumulator import Accumulator


def slices(n, rng):
    return rng.integers(0, 3, n)


def test_pieces_and_weights_give_the_moments_of_all_rows_at_once():
    rng = np.random.default_rng(0)
    X, codes, weights = rng.standard_normal((90, 4)) + 1e5, slices(90, rng), rng.random(90)
    whole, pieces = Accumulator(X.mean(axis=0)), Accumulator(X[0])
    whole.add(X, weights, codes)
    for part in np.array_split(np.arange(90), 4):
        pieces.add(X[part], weights[part], codes[part])
    one, other = whole.whitening("exact"), pieces.whitening("exact")
    np.testing.assert_allclose(one.center, other.center, rtol=1e-12)
    for h, (S, T) in enumerate(
        zip(whole.moments(one, ordered=True).seconds, pieces.moments(one, ordered=True).seconds,
            strict=True)
    ):  # fmt: skip
        np.testing.assert_allclose(S, T, atol=1e-5)
        inside = codes == h
        Z = one.rows(X[inside])
        direct = Z.T @ (Z * weights[inside, None]) / weights[inside].sum()
        np.testing.assert_allclose(S, direct, atol=1e-5)


@pytest.mark.parametrize("wide", [False, True])
def test_sparse_tables_give_what_dense_ones_give_and_stay_sparse(wide, monkeypatch):
    if wide:
        monkeypatch.setattr(_accumulator, "WIDE", 3)
        monkeypatch.setattr("learnability.estimators._whitening.WIDE", 3)
        monkeypatch.setattr(csr_matrix, "toarray", refuse_tall(csr_matrix.toarray))
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 5)) * (rng.random((60, 5)) < 0.4)
    codes = slices(60, rng)
    dense, sparse = Accumulator(np.zeros(5)), Accumulator(np.zeros(5))
    dense.add(X, np.ones(60), codes)
    sparse.add(csr_matrix(X), np.ones(60), codes)
    assert bool(sparse.wide) is wide
    whitening = sparse.whitening("exact")
    expected, found = (sums.moments(whitening, ordered=False) for sums in (dense, sparse))
    np.testing.assert_allclose(found.means, expected.means, atol=1e-9)
    for V in (np.eye(5)[None], rng.standard_normal((3, 5, 2))):
        np.testing.assert_allclose(found.each(V), expected.each(V), atol=1e-9)


def refuse_tall(toarray):
    """A `toarray` that makes nothing of 60 rows dense."""

    def checked(self, *args, **kwargs):
        assert self.shape[0] < 60
        return toarray(self, *args, **kwargs)

    return checked
