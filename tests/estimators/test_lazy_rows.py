import dask.array
import dask.dataframe
import numpy as np
import pandas
import pytest

from learnability.errors import LearnabilityError
from learnability.estimators._lazy_rows import in_memory, is_lazy, lazy_rows


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((50, 3))


@pytest.mark.parametrize("chunks", [(50, 3), (7, 2), ((0, 20, 30), 3)])
def test_sums_over_blocks_are_those_of_all_rows(X, chunks):
    rows = lazy_rows(dask.array.from_array(X, chunks=chunks))
    w = np.arange(50.0)
    found = rows.summed(lambda block, part: block.T @ part, w)
    np.testing.assert_allclose(found, X.T @ w, rtol=1e-12)
    np.testing.assert_allclose(rows.mapped(lambda block: block[:, :2], 2).compute(), X[:, :2])
    np.testing.assert_array_equal(rows.take(np.array([3, 44])), X[[3, 44]])


def test_a_data_frame_has_names_and_numbers_only(X):
    frame = pandas.DataFrame(X, columns=list("abc"))
    rows = lazy_rows(dask.dataframe.from_pandas(frame, npartitions=3))
    assert rows.names == ["a", "b", "c"] and rows.shape == (50, 3)
    with pytest.raises(LearnabilityError, match="columns word hold no numbers"):
        lazy_rows(dask.dataframe.from_pandas(frame.assign(word="x"), npartitions=3))


def test_numbers_that_are_not_finite_are_refused_by_their_column(X):
    X[40, 1] = np.nan
    rows = lazy_rows(dask.array.from_array(X, chunks=(10, 3)))
    with pytest.raises(LearnabilityError, match="columns 1:"):
        rows.summed(lambda block: block.sum())


def test_only_dask_collections_are_lazy(X):
    lazy = dask.array.from_array(X)
    assert is_lazy(lazy) and not is_lazy(X)
    np.testing.assert_array_equal(in_memory(lazy), X)
    assert in_memory(X) is X
    with pytest.raises(LearnabilityError, match="two"):
        lazy_rows(lazy[:, 0])
