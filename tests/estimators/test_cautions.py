"""Reasons not to trust an answer."""

import numpy as np
import pytest

from learnability.estimators import IndexSubspace
from learnability.estimators._cautions import fewer_given, twins
from learnability.estimators._labels import read_labels


@pytest.mark.parametrize("seed", range(3))
def test_a_column_that_is_the_target_in_another_form_is_named(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 3))
    y = np.exp(-X[:, 1])
    labels = read_labels(y, np.ones(200))
    assert "the column b alone orders" in twins(X, labels, ["a", "b", "c"])[0]
    assert "the columns 0, 1 each" in twins(np.c_[3 * y, X[:, 1], X[:, 0]], labels)[0]
    assert not twins(X[:, [0, 2]], labels)
    noisy = read_labels(X[:, 1] + 0.2 * rng.standard_normal(200), np.ones(200))
    assert not twins(X, noisy)
    words = np.array(["u", "v", "w"])[np.digitize(X[:, 2], [-0.5, 0.7])]
    assert "column 2" in twins(X, read_labels(words, np.ones(200)))[0]
    two = read_labels(np.where(X[:, 0] + X[:, 1] > 0, "u", "v"), np.ones(200))
    assert not twins(X, two)


def test_a_row_far_out_hides_no_moment_and_is_named():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = X[:, 0] + 0.3 * rng.standard_normal(300)
    X[7], y[7] = 1e6, -1e6
    found = IndexSubspace(1, candidates="sir", random_state=0).fit(X, y)
    assert found.report_.rank == 4
    assert "sir" not in found.report_.blind
    assert any("1 row lies so far" in one for one in found.report_.warnings)


def test_fewer_directions_than_were_asked_for_are_named():
    assert fewer_given("auto", 1, 5) == fewer_given(2, 2, 5) == []
    assert "the table has 3 independent columns" in fewer_given(50, 3, 3)[0]
    assert "saw no more" in fewer_given(2, 1, 5)[0]
