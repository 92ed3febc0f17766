"""The map of strength and alignment: slopes, their errors, groups of runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from learnability import SpikedIndex
from learnability.figures.alignment_map import _slope_error, _slopes, steps_to_recovery


def test_slopes_of_powers() -> None:
    d = np.array([64, 128, 512])
    found = _slopes(d, np.stack([3.0 * d**1.7, d / 5.0]))
    np.testing.assert_allclose(found, [1.7, 1.0])


def test_the_error_of_a_slope_is_its_scatter() -> None:
    """Against slopes of many independent sets of log-normal times."""
    d, rng = np.array([64, 128, 256]), np.random.default_rng(0)
    sets = d[:, None] ** 1.5 * np.exp(rng.standard_normal((400, 3, 64)))
    scatter = np.std(_slopes(d, np.median(sets, axis=2)))
    errors = [_slope_error(d, one) for one in sets[:40]]
    assert np.mean(errors) == pytest.approx(scatter, rel=0.2)


def test_more_runs_keep_those_that_there_are(tmp_path: Path) -> None:
    target = SpikedIndex("He3(z)/sqrt(6)", spike_exponent=0.4, alignment_exponent=0.1)
    four = steps_to_recovery(target, 64, 4, tmp_path / "map.study")
    assert four.shape == (4,) and len(np.unique(four)) == 4
    np.testing.assert_array_equal(steps_to_recovery(target, 64, 2), four[:2])
