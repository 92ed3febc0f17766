import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from learnability.errors import LearnabilityError
from learnability.estimators import IndexClassifier, MomentSubspace

from tests.estimators.problems import planted


def test_classification_with_words():
    X, y, _ = planted(lambda z: np.where(np.abs(z[0]) > 0.7, "far", "near"), 1, 800, 10, 1)
    model = IndexClassifier(MomentSubspace("dr", 1)).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > 0.9
    np.testing.assert_allclose(model.predict_proba(X[500:]).sum(axis=1), 1)
    assert set(model.predict(X[500:])) == {"far", "near"}


def test_weights_of_rows_and_of_classes_move_the_boundary_alike():
    X, y, _ = planted(lambda z: np.where(z[0] > 0.8, "rare", "often"), 1, 400, 3, 2)
    finder, rows = MomentSubspace("sir", 1), np.where(y == "rare", 20.0, 1.0)
    plain = IndexClassifier(finder, LogisticRegression()).fit(X, y)
    by_class = IndexClassifier(
        finder, LogisticRegression(), class_weight={"rare": 20.0, "often": 1.0}
    ).fit(X, y)
    by_row = IndexClassifier(finder, LogisticRegression()).fit(X, y, sample_weight=rows)
    rare = [(model.predict(X) == "rare").sum() for model in (plain, by_class, by_row)]
    assert rare[0] < rare[1] and rare[0] < rare[2]


def test_many_numbers_are_classes_and_one_class_is_refused():
    X, y, _ = planted(lambda z: np.digitize(z[0], np.linspace(-2, 2, 14)), 1, 600, 2, 3)
    model = IndexClassifier(MomentSubspace("sir", 1), LogisticRegression()).fit(X, y)
    assert len(model.classes_) > 10 and model.score(X, y) > 0.3
    with pytest.raises(LearnabilityError, match="1 class"):
        IndexClassifier().fit(X, np.ones(600))


def test_where_nothing_is_found_the_shares_are_predicted():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((60, 40)), np.repeat(["a", "b"], [20, 40])
    model = IndexClassifier(random_state=0).fit(X, rng.permutation(y))
    assert len(model.subspace_.components_) == 0
    np.testing.assert_allclose(model.predict_proba(X), [[1 / 3, 2 / 3]] * 60)


def test_sets_hold_their_share_of_new_classes_and_chances_are_as_sharp_as_they_should_be():
    held, gains = [], []
    for seed in range(8):
        X, y, _ = planted(lambda z: z[0], 1, 900, 5, seed)
        noise = np.random.default_rng(seed).logistic(0, 0.5, 900)
        y = np.array(["low", "middle", "top"])[np.digitize(y + noise, [-0.5, 0.8])]
        model = IndexClassifier(
            MomentSubspace("sir", 1), LogisticRegression(C=1e4), folds=4, random_state=0
        ).fit(X[:60], y[:60])
        codes = np.searchsorted(model.classes_, y[60:])
        rows = np.arange(len(codes))
        held.append(model.predict_set(X[60:], coverage=0.8)[rows, codes].mean())
        sharp = np.log(model.predict_proba(X[60:])[rows, codes]).mean()
        power, model.sharpness_ = model.sharpness_, 1.0
        gains.append(sharp - np.log(model.predict_proba(X[60:])[rows, codes]).mean())
        assert 0.05 < power < 7
    assert 0.77 < np.mean(held) < 0.88
    assert np.mean(gains) > -0.01
