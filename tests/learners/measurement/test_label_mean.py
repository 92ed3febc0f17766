"""When the mean of a label makes the limit of large dimension far."""

from __future__ import annotations

import pytest

from learnability import MultiIndex
from learnability.learners.measurement import (
    FAR_MEAN,
    far_mean_note,
    lengths_count,
    mean_ratio,
)


def test_the_ratio_is_that_of_mean_and_variance() -> None:
    assert mean_ratio(MultiIndex("z + 5", noise=1.5)) == pytest.approx(25 / 2.5)
    assert mean_ratio(MultiIndex("sign(z)")) == pytest.approx(0.0, abs=1e-12)
    assert mean_ratio(MultiIndex("0*z + 3")) == 0.0


def test_lengths_count_for_large_means_in_small_dimensions() -> None:
    target = MultiIndex("z + 5")
    assert lengths_count(target, 2 / 300)
    assert not lengths_count(target, 2 / 10**6)
    assert not lengths_count(MultiIndex("z"), 2 / 300)


def test_the_sentence_has_the_dimension() -> None:
    assert "far above 254" in far_mean_note(254.3) and FAR_MEAN > 1
