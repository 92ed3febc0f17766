import pickle

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from learnability.estimators import IndexSubspace, subspace_overlap

from tests.estimators.problems import planted


def test_it_finds_one_even_direction_and_says_who_is_blind():
    X, y, W = planted(lambda z: np.abs(z[0]), 1, 300, 8, 0)
    found = IndexSubspace(max_components=2, candidates=["message_passing", "dr"], random_state=0)
    found.fit(X, y)
    assert found.components_.shape == (1, 8)
    assert subspace_overlap(found.components_, W) > 0.95
    assert "sir" in found.report_.blind and "dr" not in found.report_.blind
    assert found.report_.dimension["chosen"] == 1
    text = str(found.report_)
    assert "sir is blind" in text and "1 direction found" in text
    assert (pickle.loads(pickle.dumps(found)).transform(X) == found.transform(X)).all()
    assert list(found.get_feature_names_out()) == ["indexsubspace0"]


def test_no_direction_is_an_answer():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 8)), rng.standard_normal(300)
    found = IndexSubspace(max_components=2, random_state=0).fit(X, y)
    assert found.components_.shape == (0, 8)
    assert list(found.get_feature_names_out()) == ["indexsubspace0"]
    piped = make_pipeline(found, Ridge()).fit(X, y)
    np.testing.assert_allclose(piped.predict(X), y.mean())
    assert "No direction" in str(found.report_)


def test_fewer_than_three_rows_a_column_leave_first_moments_and_few_columns_only():
    X, y, _ = planted(lambda z: z[0], 1, 60, 80, 1)
    found = IndexSubspace(n_components=1, folds=3, random_state=0).fit(X, y)
    assert {"sir", "sparse"} == set(found.report_.scores) - {"average"}
    assert any("fewer than three" in warning for warning in found.report_.warnings)


def test_rows_with_heavy_tails_are_judged_by_a_machine_and_averaged():
    rng = np.random.default_rng(2)
    X = rng.standard_t(3, (400, 8))
    z = X @ np.linalg.qr(rng.standard_normal((8, 2)))[0]
    y = z[:, 0] + np.abs(z[:, 1]) + 1.5 * rng.standard_normal(400)
    found = IndexSubspace(2, candidates=["opg", "agop", "sir"], random_state=0).fit(X, y)
    assert found.report_.judge == "cv"
    assert "accuracy above chance" in str(found.report_)
    scores = found.report_.scores
    assert "average" in scores
    best, error = max(scores.values())
    assert scores[found.chosen_][0] > best - error
    again = IndexSubspace(2, candidates=["opg", "agop", "sir"], random_state=0).fit(X, y)
    assert (again.components_ == found.components_).all()
    gaussian = IndexSubspace(1, candidates=["sir"], random_state=0)
    assert gaussian.fit(rng.standard_normal((400, 3)), z[:, 0]).report_.judge == "information"


def test_a_class_of_one_row_does_not_end_the_fit():
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, (80, 4))
    y = (X[:, 0] + 0.5 * rng.standard_normal(80) > 0).astype(int)
    y[5], X[5, 1] = 2, X[5, 1] + 8
    found = IndexSubspace(2, candidates=["sir", "dr", "opg"], random_state=0).fit(X, y)
    assert found.transform(X).shape == (80, 2)


def test_numbers_among_objects_are_numbers_and_missing_ones_are_refused():
    X, y, _ = planted(lambda z: z[0], 1, 100, 3, 1)
    one = IndexSubspace(1, candidates="sir", random_state=0)
    assert (one.fit(X, y).components_ == one.fit(X, y.astype(object)).components_).all()
    for missing in (None, np.nan):
        labels = np.where(y > 0, "high", "low").astype(object)
        labels[7] = missing
        with pytest.raises(ValueError, match=r"missing values .* in row 7"):
            one.fit(X, labels)


def test_rows_of_weight_two_are_two_rows_where_there_is_nothing_to_choose():
    X, y, _ = planted(lambda z: z[0], 1, 40, 5, 1)
    counts = np.arange(40) % 3
    one = IndexSubspace(1, candidates="sir", random_state=0)
    weighed = one.fit(X, y, sample_weight=counts).components_
    repeated = one.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).components_
    np.testing.assert_allclose(weighed, repeated, atol=1e-9)
