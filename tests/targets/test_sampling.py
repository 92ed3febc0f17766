"""What all targets share: seeds, batches and their numbers, sizes."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Hierarchical, MultiIndex, SparseParity, SpikedIndex
from learnability.errors import LearnabilityError
from learnability.targets.sampling import Sampled, stream

TARGETS = [
    MultiIndex("z1*z2", noise=0.1),
    SpikedIndex("He2(z)", spike=3.0, alignment=0.5),
    SparseParity(3, anisotropy=0.5),
    Hierarchical("tanh(z)", "He2(z)"),
]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: type(target).__name__)
def test_batches_have_numbers(target: Sampled) -> None:
    """Batch b is the same whatever was drawn before, a sample is batch 0, and W stays."""
    batches = target.batches(5, n=7, d=16)
    drawn = [next(batches) for _ in range(3)]
    later = next(target.batches(5, n=7, d=16, first=2))
    for one, other in ((drawn[2], later), (drawn[0], target.sample(5, n=7, d=16))):
        for mine, its in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, its)
    np.testing.assert_array_equal(drawn[0].W, drawn[1].W)
    assert not np.array_equal(drawn[0].X, drawn[1].X)
    assert not np.array_equal(target.sample(6, n=7, d=16).X, drawn[0].X)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: type(target).__name__)
def test_types_and_sizes(target: Sampled) -> None:
    found = target.sample(0, d=16, alpha=0.5, dtype=np.float32)
    assert found.X.shape == (8, 16) and {part.dtype for part in found} == {np.dtype(np.float32)}
    for wrong in ({"n": 3}, {"n": 3, "d": 0}, {"d": 16}, {"n": 3, "d": 16, "alpha": 1.0}):
        with pytest.raises(LearnabilityError):
            target.sample(0, **wrong)
    with pytest.raises(LearnabilityError, match="seed"):
        target.sample(-1, n=3, d=16)


def test_streams_of_different_parts_differ() -> None:
    paths = [(1, 0), (1, 1, 0), (1, 2, 0), (1, 1, 1), (2, 0)]
    assert len({float(stream(*path).standard_normal()) for path in paths}) == len(paths)
