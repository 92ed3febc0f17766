"""Gradient descent on spiked inputs."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link, SpikedIndex
from learnability.learners.flow._descent import descend_fresh, descend_reused

TARGET = SpikedIndex("He2(z)/sqrt(2)", spike=5.0, alignment=0.6, noise=0.1)
START = np.array([0.3, 0.4, np.sqrt(0.75)])


@pytest.mark.parametrize("flow", ["spherical", "normalised", "whitened"])
def test_one_step_in_the_frame_is_one_in_all_coordinates(flow: str) -> None:
    """Means over seeds of both programs after two steps, |z| < 4."""
    arguments = (TARGET, 9, flow, Link("tanh(z)"), 0.3, 20, START, np.array([1]))
    both = []
    for descend in (descend_fresh, descend_reused):
        found = np.array([descend(*arguments, seed)[0] for seed in range(400)])
        both.append(np.column_stack([found, np.sum(found**2, axis=1), found[:, 0] * found[:, 1]]))
    x, y = both
    spread = np.sqrt((x.var(axis=0) + y.var(axis=0)) / 400) + 1e-12
    assert np.abs((x.mean(axis=0) - y.mean(axis=0)) / spread).max() < 4


def test_looks_do_not_change_the_path() -> None:
    rules = ("normalised", Link("relu(z)"), 0.1, 50)
    whole = descend_fresh(TARGET, 30, *rules, START, np.array([0, 3, 3, 8]), 1)
    np.testing.assert_array_equal(whole[0], START)
    np.testing.assert_array_equal(whole[1], whole[2])
    end = descend_fresh(TARGET, 30, *rules, START, np.array([8]), 1)
    np.testing.assert_array_equal(whole[3], end[0])


def test_divergence_is_nan() -> None:
    rules = ("normalised", Link("z**5"), 1e6, 5)
    found = descend_fresh(TARGET, 30, *rules, START, np.array([0, 50]), 0)
    assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()
