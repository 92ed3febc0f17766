"""Thresholds of samples and their slopes."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.figures._thresholds import slope, threshold


def test_a_threshold_and_its_error() -> None:
    """Of runs that succeed from a log-normal size on: its mean, and the scatter of means."""
    sizes, rng = 2.0 ** (np.arange(15) / 2), np.random.default_rng(0)
    found = []
    for _ in range(400):
        own = np.exp(2.4 + 0.4 * rng.standard_normal((len(sizes), 12)))
        found.append(threshold(sizes, own < sizes[:, None]))
    logs, errors = np.array(found).T
    assert logs.mean() == pytest.approx(2.4, abs=0.02)
    assert errors.mean() == pytest.approx(logs.std(), rel=0.25)


def test_what_is_not_covered_has_no_threshold() -> None:
    sizes = 2.0 ** np.arange(4)
    reached = np.array([[1, 1], [1, 1], [1, 1], [1, 1]], dtype=bool)
    assert np.isnan(threshold(sizes, reached)).all()
    assert np.isnan(threshold(sizes, ~reached)).all()


def test_slopes_of_powers() -> None:
    d = np.array([10.0, 20.0, 40.0, 80.0])
    logs = 0.7 * np.log(d) + 3
    logs[1] = np.nan
    found, error = slope(d, logs, np.full(4, 0.1))
    assert found == pytest.approx(0.7) and 0.06 < error < 0.08
    assert np.isnan(slope(d, np.where(d > 30, logs, np.nan), np.full(4, 0.1))).all()
