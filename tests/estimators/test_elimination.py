"""Directions made of fewer columns, and their number."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.estimators import (
    GradientSubspace,
    IndexSubspace,
    MomentSubspace,
    subspace_overlap,
)
from learnability.estimators._elimination import EliminatedSubspace, can_drop, count_by_worth
from learnability.estimators._labels import read_labels
from learnability.estimators.loadings import _with_dropped, loadings


def _rows(n: int, p: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, p))


def _eliminated(X: np.ndarray, y: np.ndarray, r: int) -> EliminatedSubspace:
    return EliminatedSubspace([GradientSubspace("opg", r, random_state=0)]).fit(X, y)


@pytest.mark.parametrize("columns", [[3], [2, 7], [0, 5, 11]])
def test_the_columns_that_matter_are_kept(columns):
    X = _rows(300, 20, len(columns))
    direction = X[:, columns].sum(axis=1) / np.sqrt(len(columns))
    found = _eliminated(X, np.abs(direction) + 0.3 * _rows(300, 1, 9)[:, 0], 1)
    assert found.columns_.tolist() == columns
    assert set(np.flatnonzero(found.components_[0])) == set(columns)
    coordinates = found.transform(X)[:, 0]
    assert abs(coordinates.std() - 1) < 0.01
    assert abs(np.corrcoef(coordinates, direction)[0, 1]) > 0.99


def test_a_direction_of_all_columns_keeps_them():
    X = _rows(800, 6, 0)
    w = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    found = _eliminated(X, np.tanh(X @ w) + 0.2 * _rows(800, 1, 1)[:, 0], 1)
    assert len(found.columns_) == 6
    assert np.allclose(found.components_, found.inner_.components_, atol=1e-12)


def test_fewer_columns_are_better_than_all():
    X = _rows(150, 15, 4)
    y = X[:, 1] * X[:, 4] + 0.2 * _rows(150, 1, 5)[:, 0]
    found = _eliminated(X, y, 2)
    truth = np.eye(15)[[1, 4]]
    lost, before = (1 - subspace_overlap(one.components_, truth) for one in (found, found.inner_))
    assert lost < before / 4


def test_a_start_with_more_directions_gives_the_first_ones_also_in_folds():
    X = _rows(200, 8, 2)
    y = np.tanh(2 * X[:, 0]) + X[:, 3] ** 2 + 0.3 * _rows(200, 1, 3)[:, 0]
    found = EliminatedSubspace([MomentSubspace("dr", 5, random_state=0)], 2).fit(X, y)
    again = found.for_folds().fit(X[::2], y[::2])
    assert found.components_.shape == again.components_.shape == (2, 8)


@pytest.mark.parametrize("kind", ["numbers", "classes", "counts"])
def test_noise_is_worth_less_than_very_strong_evidence(kind):
    """Columns are chosen among many, and the criterion pays for the choice."""
    worth = []
    for seed in range(6):
        X, y = _rows(120, 10, seed), _rows(120, 1, 100 + seed)[:, 0]
        y = {"numbers": y, "classes": np.sign(y), "counts": np.round(np.exp(y))}[kind]
        labels = read_labels(y, np.ones(120))
        count, values, _ = count_by_worth(X, y, labels, 2, seed)
        assert count == 0
        worth += values[1:]
    assert max(worth) < 5


def test_the_number_of_directions_of_few_rows():
    X = _rows(150, 10, 7)
    y = X[:, 1] * X[:, 4] + X[:, 8] + 0.2 * _rows(150, 1, 8)[:, 0]
    count, worth, fits = count_by_worth(X, y, read_labels(y, np.ones(150)), 4, 0)
    assert count == 3
    assert worth[3] > worth[2] + 5
    assert fits[3].columns_.tolist() == [1, 4, 8]


def test_large_tables_keep_their_columns():
    labels = read_labels(np.arange(40.0), np.full(40, 1e4))
    assert can_drop(np.empty((40, 800)), labels, 800)
    assert not can_drop(np.empty((40, 900)), labels, 900)
    assert not can_drop(np.empty((40, 5)), read_labels(np.arange(40.0), np.ones(40)), 14)


def test_the_estimator_says_what_chose_the_number():
    X = _rows(200, 12, 2)
    y = np.sin(2 * X[:, 3]) + X[:, 9] ** 2 + 0.2 * _rows(200, 1, 3)[:, 0]
    found = IndexSubspace(random_state=0).fit(X, y)
    assert found.chosen_ == "elimination"
    assert found.report_.dimension["criterion"] == 2
    assert "2 by the criterion of few columns" in str(found.report_)
    assert subspace_overlap(found.components_, np.eye(12)[[3, 9]]) > 0.99
    again = found.estimator_.for_folds().fit(X, y)
    assert {3, 9} <= set(again.columns_) and len(again.columns_) < 6


def test_copies_of_a_column_stand_for_each_other():
    X = _rows(200, 7, 5)
    X[:, 6] = X[:, 0] + 1e-3 * _rows(200, 1, 6)[:, 0]
    found = IndexSubspace(1, random_state=0).fit(X, X[:, 0] ** 2 + 0.3 * _rows(200, 1, 7)[:, 0])
    assert found.chosen_ == "elimination"
    assert {tuple(sorted(pair)) for pair in found.estimator_.stand_ins_} == {(0, 6)}
    assert any("0 or 6" in one or "6 or 0" in one for one in found.report_.warnings)
    told = loadings(found, X, X[:, 0] ** 2, repeats=2)
    assert np.isnan(told.errors).all() and "could stand for some" in " ".join(str(told).split())


def test_errors_of_weights_are_those_of_a_fit_of_all_columns():
    """Of three columns of correlation 1/2 one is kept: its variance grows by 3/2."""
    correlation = np.eye(4)
    correlation[:3, :3] += 0.5 * (1 - np.eye(3))
    errors = np.array([[0.1, 0.0, 0.0, 0.1]])
    found = _with_dropped(errors, np.array([0, 3]), correlation, np.ones(4, dtype=bool))
    np.testing.assert_allclose(found, 0.1 * np.sqrt([[1.5, 1.5, 1.5, 1.0]]))


def test_overlaps_are_undecided_of_rows_in_the_order_of_time():
    rng = np.random.default_rng(8)
    X = np.cumsum(rng.standard_normal((200, 5)), axis=0)
    found = IndexSubspace(1, random_state=0).fit(X, np.cumsum(rng.standard_normal(200)))
    assert found.report_.overlap == [None]
    assert "rows that follow each other are alike" in str(found.report_)
