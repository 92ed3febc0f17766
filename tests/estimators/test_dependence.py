"""Rows that are not independent of each other."""

import numpy as np
import pytest

from learnability.estimators import IndexSubspace
from learnability.estimators._dependence import UNDECIDED, dependence
from learnability.estimators._labels import read_labels


def looked(X, y):
    return dependence(np.asarray(X, dtype=float), read_labels(y, np.ones(len(y))), 0)


def grouped(rng, size, spread, columns=8, rows=400):
    """Groups of rows that are alike, with targets that have nothing to do with the columns."""
    groups = rows // size
    X = np.repeat(rng.standard_normal((groups, columns)), size, axis=0)
    X += spread * rng.standard_normal(X.shape)
    y = np.repeat(rng.standard_normal(groups), size) + 0.1 * rng.standard_normal(len(X))
    order = rng.permutation(len(X))
    return X[order], y[order]


def test_rows_that_follow_each_other_are_noticed():
    rng = np.random.default_rng(0)
    X, walk = rng.standard_normal((300, 3)), np.cumsum(rng.standard_normal(300))
    assert "follow each other" in looked(X, walk).caution
    assert looked(X, rng.permutation(walk)) is None
    assert looked(X, np.sort(walk)) is None
    assert looked(X, np.repeat(["a", "b"], 150)) is None


@pytest.mark.parametrize("size", [2, 3, 10])
def test_groups_of_rows_are_noticed(size):
    X, y = grouped(np.random.default_rng(size), size, 0.05)
    assert "groups" in looked(X, y).caution
    assert "groups" in looked(X, np.where(y > 0, "a", "b")).caution
    assert looked(X, np.random.default_rng(1).permutation(y)) is None


@pytest.mark.parametrize("columns", [1, 2, 5, 30])
@pytest.mark.parametrize("law", ["normal", "heavy", "signs", "grades"])
def test_independent_rows_are_no_groups(columns, law):
    rng = np.random.default_rng([columns, len(law)])
    X = {
        "normal": rng.standard_normal((300, columns)),
        "heavy": rng.standard_t(2, (300, columns)),
        "signs": rng.choice([-1.0, 1.0], (300, columns)),
        "grades": rng.integers(1, 6, (300, columns)).astype(float),
    }[law]
    y = X[:, 0] + 0.1 * rng.standard_normal(300)
    assert looked(X, y) is None


def test_nothing_is_said_of_the_directions_of_groups():
    X, y = grouped(np.random.default_rng(5), 10, 0.05, columns=4, rows=200)
    found = IndexSubspace(1, random_state=0).fit(X, y)
    assert found.report_.overlap == [None] and found.report_.supported is None
    assert "groups" in found.report_.undecided[UNDECIDED]
    assert "Caution: rows come in groups" in str(found.report_)
