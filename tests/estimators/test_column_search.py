"""The search for columns by a criterion."""

import numpy as np

from learnability.estimators._column_search import ColumnSearch
from learnability.estimators._labels import read_labels


def searched(r, n=200, p=7):
    rng = np.random.default_rng(r)
    X = rng.standard_normal((n, p))
    y = X[:, 1] + X[:, 4] * X[:, 6] + 0.2 * rng.standard_normal(n)
    return ColumnSearch(X, y, read_labels(y, np.ones(n)), X.mean(axis=0), r)


def test_more_directions_are_never_simpler_and_columns_cost():
    costs = [searched(r).cost(6) for r in range(1, 7)]
    assert (np.diff(costs) >= 0).all()
    assert searched(2).cost(3) > searched(2).cost(2)


def test_nine_tenths_of_the_rows_tell_more_of_several_directions_than_halves():
    search = searched(3)
    t = search.centred[:, [1, 4, 6]]
    assert search.told(t, 10) > search.told(t) + 5


def test_a_column_that_was_missed_comes_in_and_a_useless_one_goes():
    search = searched(3)
    columns = np.array([0, 1, 4])
    assert search._unseen(np.eye(7)[columns], columns)[0] == 6
    search.local(columns)
    assert {1, 4, 6} <= set(search.exchange().columns)
    four = np.array([1, 2, 4, 6])
    components = search.local(four)
    assert 2 in search._weak(components, four)


def test_a_start_of_columns_alone_sees_what_each_says():
    search = searched(1)
    assert search.alone()[0].argmax() == 1


def test_the_weakest_columns_do_not_depend_on_units():
    search, units = searched(3), np.array([1.0, 1.0, 1e-12, 1.0, 1e6, 1.0, 1.0])
    four = np.array([1, 2, 4, 6])
    components = search.local(four)
    other = ColumnSearch(
        search.X * units, search.y, search.labels, search.X.mean(axis=0) * units, 3
    )
    weak = search._weak(components, four).tolist()
    assert other._weak(components / units, four).tolist() == weak
