import dask.array
import numpy as np
import pandas
import pytest

from learnability.errors import LearnabilityError
from learnability.estimators import IndexSubspace, MomentSubspace, held_out_score, parquet_rows
from learnability.estimators import _base as base
from learnability.estimators.tables import read_table

COLUMNS = list("abcd")


@pytest.fixture(scope="module")
def frame():
    """Rows with heavy tails and a mean far from zero."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(5, (900, 4)) + 50
    y = (X[:, 0] - 50) ** 2 + X[:, 1] + 0.1 * rng.standard_normal(900)
    return pandas.DataFrame(X, columns=COLUMNS).assign(y=y)


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """The same rows in three files."""
    path = tmp_path_factory.mktemp("rows")
    for k in range(3):
        frame.iloc[300 * k : 300 * (k + 1)].to_parquet(path / f"{k}.parquet")
    return path


@pytest.mark.parametrize("method", ["dr", "sir", "save", "phd"])
@pytest.mark.parametrize("clip", [True, False])
def test_moments_of_blocks_are_those_of_the_table(frame, method, clip):
    X, y = frame[COLUMNS].to_numpy(), frame.y.to_numpy()
    w = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    here, there = (MomentSubspace(method, 2, clip=clip) for _ in range(2))
    here.fit(X, y, sample_weight=w)
    there.fit(dask.array.from_array(X, chunks=(128, 3)), dask.array.from_array(y), w)
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-9)
    np.testing.assert_allclose(there.eigenvalues_, here.eigenvalues_, atol=1e-9)


def test_a_folder_of_files_is_a_table_with_names(frame, folder):
    X, y = parquet_rows(folder, "y", drop=["d"])
    found = MomentSubspace("dr", 1).fit(X, y)
    assert list(found.feature_names_in_) == ["a", "b", "c"]
    here = MomentSubspace("dr", 1).fit(frame[["a", "b", "c"]], frame.y)
    np.testing.assert_allclose(found.components_, here.components_, atol=1e-9)
    np.testing.assert_allclose(
        found.transform(X).compute(), here.transform(frame[["a", "b", "c"]]), atol=1e-9
    )
    with pytest.raises(LearnabilityError, match="4 features"):
        found.transform(parquet_rows(folder, "y")[0])


@pytest.mark.parametrize("judge", ["information", "cv"])
def test_the_judge_says_the_same_of_blocks(frame, folder, judge):
    finder = MomentSubspace("dr", 2)
    here = held_out_score(finder, frame[COLUMNS], frame.y, judge=judge)
    there = held_out_score(finder, *parquet_rows(folder, "y"), judge=judge)
    # The machine's solver stops at a tolerance of 1e-3.
    np.testing.assert_allclose(there, here, atol=1e-6 if judge == "information" else 1e-3)


def test_message_passing_draws_rows_and_says_what_that_loses(frame, folder, monkeypatch):
    X, y = parquet_rows(folder, "y")
    quick = {"candidates": ["dr", "sir"], "judge": "information", "random_state": 0}
    whole = IndexSubspace(1, **quick).fit(X, y)
    here = IndexSubspace(1, **quick).fit(frame[COLUMNS], frame.y)
    np.testing.assert_allclose(whole.components_, here.components_, atol=1e-9)
    assert whole.sampled_ == (900, 900) and "drawn" not in str(whole.report_)
    monkeypatch.setattr(base, "_MOST_SAMPLED", 400)
    monkeypatch.setattr(base, "_LEAST_SAMPLED", 400)
    with pytest.warns(UserWarning, match="400 of 900 rows"):
        part = IndexSubspace(1, **quick).fit(X, y)
    assert part.report_.rows == 400 and part.sampled_ == (400, 900)
    assert "400 of 900 rows were drawn at random" in str(part.report_)
    assert not hasattr(part.fit(frame[COLUMNS], frame.y), "sampled_")


def test_a_folder_is_read_as_a_table(folder, monkeypatch):
    assert len(read_table(folder, "y").X) == 900
    monkeypatch.setattr(base, "_MOST_SAMPLED", 400)
    monkeypatch.setattr(base, "_LEAST_SAMPLED", 400)
    some = read_table(folder, "y")
    assert len(some.X) == pytest.approx(400, abs=3) and "of 900 rows" in some.notes[0]


def test_what_cannot_be_read_is_refused(frame, folder, tmp_path):
    with pytest.raises(LearnabilityError, match="no column 'z'"):
        parquet_rows(folder, "z")
    with pytest.raises(LearnabilityError, match="no column beside"):
        parquet_rows(folder, "y", columns=["y"])
    with pytest.raises(LearnabilityError, match="Parquet data set"):
        parquet_rows(tmp_path / "nothing", "y")
    with pytest.raises(LearnabilityError, match="more rows"):
        wide = dask.array.ones((3, 5))
        MomentSubspace().fit(wide, np.arange(3.0))
    with pytest.raises(LearnabilityError, match="inconsistent"):
        MomentSubspace().fit(dask.array.ones((30, 5)), np.arange(3.0))
