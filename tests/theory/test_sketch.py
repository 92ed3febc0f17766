"""Sketches of state evolution: right within their errors, or none."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.targets import MultiIndex
from learnability.theory.sketch import sketched_fixed_point
from learnability.theory.state_evolution import state_evolution
from learnability.theory.thresholds import first_estimates, spectrum_is_needed, weak_recovery


@pytest.mark.parametrize("text, noise", [("abs(z)", 0.0), ("tanh(z)", 0.0), ("abs(z)", 0.5),
                                         ("sign(z1*z2)", 0.0)])  # fmt: skip
@pytest.mark.parametrize("alpha", [0.8, 2.0, 4.0])
def test_a_sketch_is_right_within_its_error(text: str, noise: float, alpha: float) -> None:
    channel = MultiIndex(text, noise=noise).channel
    sketch = sketched_fixed_point(channel, alpha)
    if sketch is None:  # Close to a threshold; at four it is far from those of all these links.
        assert alpha < 4
        return
    point = state_evolution(channel).fixed_point(alpha)
    assert np.all(np.abs(sketch.M - point.M) <= sketch.error + point.error)
    assert sketch.error.max() < 0.25


def test_near_a_threshold_there_is_no_sketch() -> None:
    channel = MultiIndex("abs(z)").channel
    assert sketched_fixed_point(channel, 1.02 * weak_recovery(channel).alpha) is None


def test_what_a_known_direction_would_open_is_not_called_shut() -> None:
    """Beyond the first step, what z1 tells of the others is not resolved here."""
    assert sketched_fixed_point(MultiIndex("z1**2 + sign(z1*z2*z3)").channel, 4.0) is None


@pytest.mark.parametrize("text", ["z1*z2", "z1*z2 + 0.3*z1**2"])
def test_first_estimates_are_right_within_errors_that_shrink(text: str) -> None:
    channel = MultiIndex(text).channel
    found = [*first_estimates(channel), weak_recovery(channel)]
    errors = [one.alpha_error for one in found]
    assert len(found) == 3 and errors[0] > errors[1] > errors[2] > 0
    for one in found[:-1]:
        assert abs(one.alpha - found[-1].alpha) < 4 * (one.alpha_error + errors[-1])


def test_exact_moments_have_no_first_estimates() -> None:
    for text in ("abs(z)", "sign(z1*z2)"):
        assert not list(first_estimates(MultiIndex(text).channel))


@pytest.mark.parametrize("text, needed", [("z1*z2", True), ("z1 + abs(z2)", False),
                                          ("abs(z)", True), ("He3(z1)*z2", True)])  # fmt: skip
def test_the_spectrum_is_needed_where_the_mean_says_nothing(text: str, needed: bool) -> None:
    assert spectrum_is_needed(MultiIndex(text).channel) is needed


@pytest.mark.parametrize("text", ["z1*z2*z3*z4", "z1*z2 + z3*z4", "z1 + z2*z3*z4"])
def test_four_directions_are_sketched_below_their_threshold(text: str) -> None:
    channel = MultiIndex(text).channel
    recovery = weak_recovery(channel)
    opens = 0.0 if len(recovery.trivial) else recovery.alpha
    for alpha in (0.3, 0.98 * opens, 1.02 * opens, 9.0):
        found = sketched_fixed_point(channel, alpha)
        assert (found is not None) == (alpha < opens)
        assert found is None or not found.M.any()
    assert sketched_fixed_point(channel, 0.1, informed=True) is None
