"""The fits, scores and tests of a count of directions."""

import numpy as np
import pytest

from learnability.estimators._count_fits import CountFits
from learnability.estimators._labels import read_labels
from learnability.estimators._whitening import whiten

from tests.estimators.problems import planted


def counter(X, y, how="information", *, few=False):
    weights = np.ones(len(X))
    whitening = whiten(X, weights, "auto")
    return CountFits(
        X, y, read_labels(y, weights), whitening, 3, 0, how, 19, few, ("sir", "sparse")
    )


def test_a_fit_and_a_test_are_made_once():
    X, y, _ = planted(lambda z: np.abs(z[0]), 1, 300, 6, 0)
    one = counter(X, y + 0.3 * np.random.default_rng(0).standard_normal(300))
    assert one.fit(1) is one.fit(1)
    assert one.remains(0) == (True, True)
    assert one.remains(1) is one.remains(1) and set(one.tests) == {0, 1}


def test_nothing_remains_of_noise():
    rng = np.random.default_rng(0)
    shown = [
        counter(rng.standard_normal((200, 6)), rng.standard_normal(200)).remains(0)[0]
        for _ in range(8)
    ]
    assert sum(shown) <= 2  # One in twenty is expected.


def test_tables_of_many_columns_are_not_shuffled():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((500, 160))
    assert counter(X, X[:, 0]).remains(0) == (None, True)


def test_where_nothing_shows_a_brief_run_from_moments_is_enough():
    X, y, _ = planted(lambda z: z[0], 1, 60, 3, 1)
    whole, brief = (counter(X, y, "cv").finder(2, more=more) for more in (True, False))
    assert (whole.start, brief.start) == ("auto", "moments")
    assert whole.staircase and not brief.staircase and brief.n_iter < whole.n_iter


@pytest.mark.parametrize("how", ["information", "cv"])
def test_held_out_rows_tell_a_direction_from_none(how):
    X, y, _ = planted(lambda z: z[0], 1, 120, 5, 2)
    found = counter(X, y, how).verdict(1, more=True)
    assert found.score > 5 * found.error
    nothing = counter(X, np.random.default_rng(3).permutation(y), how).verdict(1, more=True)
    assert nothing.score < 3 * nothing.error


def test_of_few_rows_the_better_of_the_named_finders_is_judged():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 100))
    y = X[:, 7] + 0.1 * rng.standard_normal(60)
    found = counter(X, y, "cv", few=True).verdict(1, more=True)
    assert type(found.fitted).__name__ == "SparseSubspace" and found.score > 0.5
