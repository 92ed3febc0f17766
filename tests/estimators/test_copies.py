import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsRegressor

from learnability.estimators import IndexRegressor, IndexSubspace, MomentSubspace, prediction_report
from learnability.estimators._copies import copied_rows, merged_rows, row_of_copy
from learnability.estimators.tables import read_table


def noise(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(4))
def test_noise_that_was_copied_has_no_directions(seed):
    X, y = noise(seed)
    many = np.random.default_rng(seed).permutation(np.tile(np.arange(60), 5))
    found = IndexSubspace(random_state=0).fit(X[many], y[many])
    assert len(found.components_) == 0
    assert "240 of 300 rows are copies" in str(found.report_)
    assert found.held_out_.shape == (300, 0)


@pytest.mark.parametrize("seed", range(4))
def test_noise_that_was_drawn_again_has_no_directions(seed):
    X, y = noise(seed)
    again = np.random.default_rng(seed).integers(0, 60, 300)
    found = IndexSubspace(random_state=0).fit(X[again], y[again])
    assert len(found.components_) == 0
    asked = IndexSubspace(1, random_state=0).fit(X[again], y[again])
    assert asked.report_.supported in (0, None) and asked.report_.overlap == [None]


def test_a_copied_table_says_what_the_table_says():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 5))
    y = np.abs(X[:, 0]) + 0.2 * rng.standard_normal(150)
    once = IndexSubspace(1, random_state=0).fit(X, y)
    twice = IndexSubspace(1, random_state=0).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    assert np.allclose(once.components_, twice.components_)
    assert once.report_.overlap == twice.report_.overlap
    assert once.report_.scores == twice.report_.scores
    assert np.allclose(np.tile(once.held_out_, (2, 1)), twice.held_out_)


@pytest.mark.parametrize("seed", range(3))
def test_predictions_of_a_copied_table_are_those_of_the_table(seed):
    X, y = noise(seed, n=40)
    model = IndexRegressor(MomentSubspace("sir", 1), folds=5, random_state=seed)
    many = clone(model).fit(np.tile(X, (6, 1)), np.tile(y, 6))
    once = model.fit(X, y)
    assert many.score_ == once.score_ and many.score_error_ == once.score_error_
    assert np.allclose(many.predict_interval(X), once.predict_interval(X))
    told = prediction_report(many, np.tile(X, (6, 1)), np.tile(y, 6))
    assert told.to_dict() == prediction_report(once, X, y).to_dict()


def test_models_without_weights_take_copies_once():
    X, y = noise(1, n=40)
    again = np.r_[np.arange(40), np.arange(20), np.arange(20)]
    model = IndexRegressor(MomentSubspace("sir", 1), KNeighborsRegressor(), folds=3)
    many = clone(model).fit(X[again], y[again])
    assert np.allclose(many.predict(X), model.fit(X, y).predict(X))
    assert len(many.held_out_) == 40


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_few_values_coincide_by_chance(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (1000, 3)).astype(float)
    assert copied_rows(X, rng.integers(0, 2, 1000)) is None
    assert copied_rows(np.repeat(X[:, :1], 4, axis=1), rng.integers(0, 2, 1000)) is None
    assert copied_rows(rng.standard_normal((500, 2)), rng.integers(0, 2, 500)) is None
    assert copied_rows(X, rng.standard_normal(1000)) is None


@pytest.mark.parametrize("seed", range(3))
def test_copies_of_coarse_rows_are_seen_as_well(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(3.0, (200, 10)).astype(float)
    y = rng.choice(["a", "b"], 200)
    many = rng.permutation(np.tile(np.arange(200), 3))
    group = copied_rows(X[many], y[many])
    assert group is not None and group.max() == 199


def test_merged_rows_keep_their_order_and_their_shares():
    X = np.array([[3.0], [1.0], [3.0], [2.0], [1.0], [3.0]])
    y = X[:, 0] * 10
    group = np.array([2, 0, 2, 1, 0, 2])
    rows, target, weights = merged_rows(group, X, y, np.ones(6))
    assert rows[:, 0].tolist() == [3, 1, 2] and target.tolist() == [30, 10, 20]
    assert weights.tolist() == [3.0, 2.0, 1.0]
    assert (rows[row_of_copy(group)] == X).all()


def test_a_table_in_a_file_has_each_row_once(tmp_path):
    X, y = noise(0)
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(y=y)
    path = tmp_path / "twice.csv"
    pandas.concat([frame, frame]).to_csv(path, index=False)
    table = read_table(path, "y")
    assert len(table.X) == len(table.y) == 60 and table.weights is None
    assert "60 of 120 rows are copies" in table.notes[0]
    pandas.concat([frame, frame.head(30)]).to_csv(path, index=False)
    assert np.allclose(read_table(path, "y").weights, np.r_[np.full(30, 4 / 3), np.full(30, 2 / 3)])
