"""Samples in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Hierarchical, LearnabilityError
from learnability.learners.deep import samples
from learnability.learners.deep.samples import Samples, sample_sizes

TARGET = Hierarchical("tanh(z)", "He2(z)", N=3)


def test_blocks_are_the_same_kept_or_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Samples(TARGET, 5, 6, 9000)
    first, second = list(kept), list(kept)
    assert [len(y) for _, y in first] == [4096, 4096, 808]
    assert first[0][0] is second[0][0]
    monkeypatch.setattr(samples, "_KEPT", 0)
    drawn = Samples(TARGET, 5, 6, 9000)
    for (X, y), (Z, v) in zip(first, drawn, strict=True):
        np.testing.assert_array_equal(X, Z)
        np.testing.assert_array_equal(y, v)
    np.testing.assert_array_equal(drawn.labels, kept.labels)
    assert (Samples(TARGET, 5, 6, 10, first=7).labels != kept.labels[:10]).any()


def test_numbers_of_samples() -> None:
    assert sample_sizes({"d": 9, "alpha": np.array([1.0, 2.5])}) == [9, 22]
    with pytest.raises(LearnabilityError, match="n = 1 in dimension 9, but 2 samples are needed"):
        sample_sizes({"d": 9, "alpha": 0.1})
