import numpy as np
import pytest

from learnability.estimators._labels import read_labels
from learnability.estimators._report import (
    blind_methods,
    rows_needed,
)
from learnability.estimators._whitening import tail_weight, whiten


def test_who_is_blind_to_an_even_and_to_an_odd_coordinate():
    t = np.random.default_rng(0).standard_normal((2000, 1))
    ones = np.ones(2000)
    even = blind_methods(read_labels(t[:, 0] ** 2, ones), t)
    assert "sir" in even and "dr" not in even and "phd" not in even
    noise = blind_methods(read_labels(np.random.default_rng(1).random(2000), ones), t)
    assert {"sir", "phd", "save", "dr"} == set(noise)


def test_rows_needed_follow_the_fixed_point_and_never_go_down():
    assert rows_needed([(0.5, 0.2, 0.8), (0.9, 0.8, 0.95)], 100) == (225, 3600)
    assert rows_needed([(0.95, 0.9, 0.99)], 100) is None
    assert rows_needed([None], 100) is None
    low, high = rows_needed([(0.89, 0.7, 0.97), None], 100)
    assert low == 100 < high


def test_tails_are_those_of_gaussian_rows_or_heavier():
    rng = np.random.default_rng(3)
    for X, low, high in (
        (rng.standard_normal((4000, 5)), 0.95, 1.05),
        (rng.standard_t(5, (4000, 5)), 1.2, 5.0),
    ):
        assert low < tail_weight(X, whiten(X, np.ones(4000), "exact"), np.ones(4000)) < high


@pytest.mark.parametrize(("n", "p"), [(120, 3000), (120, 300), (120, 60), (60, 50), (1000, 400)])
def test_gaussian_tables_of_any_shape_have_no_heavy_tails(n, p):
    rng = np.random.default_rng(p)
    X, ones = rng.standard_normal((n, p)), np.ones(n)
    assert tail_weight(X, whiten(X, ones, "auto"), ones) < 1.1
    heavy = X / np.sqrt(rng.chisquare(4, (n, 1)) / 2)
    assert tail_weight(heavy, whiten(heavy, ones, "auto"), ones) > 1.15


def test_rows_of_no_weight_have_no_tails():
    rng = np.random.default_rng(4)
    X = np.vstack([rng.standard_normal((200, 4)), 30 * rng.standard_normal((10, 4))])
    weights = np.repeat([1.0, 1e-6], [200, 10])
    assert tail_weight(X, whiten(X, weights, "exact"), weights) < 1.2


@pytest.mark.parametrize("seed", range(4))
def test_few_rows_do_not_show_that_a_method_is_blind(seed):
    rng = np.random.default_rng(seed)
    t = rng.standard_normal((1200, 1))
    y = t[:, 0] + 0.2 * rng.standard_normal(1200)
    assert not blind_methods(read_labels(y[:30], np.ones(30)), t[:30])
    assert "phd" in blind_methods(read_labels(y, np.ones(1200)), t)
    for n in (60, 150, 300, 600, 1200):
        assert "sir" not in blind_methods(read_labels(y[:n], np.ones(n)), t[:n])
