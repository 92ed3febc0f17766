"""What all targets share: seeds, numbered batches, sizes, and links that become targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnability import Hierarchical, Link, MultiIndex, SparseParity, SpikedIndex
from learnability.errors import LearnabilityError
from learnability.inputs import PowerLaw, Spiked
from learnability.targets import TARGETS, Sample, Target, as_target
from learnability.targets.base import checked_memory, checked_sizes

EXAMPLES = [
    MultiIndex("z1*z2", noise=0.1),
    SpikedIndex("He2(z)", spike=3.0, alignment=0.5),
    MultiIndex("z1*z2", inputs=Spiked((2.0, 1.0), alignment=0.4)),
    MultiIndex("z1*z2", inputs=PowerLaw()),
    SparseParity(3, anisotropy=0.5),
    Hierarchical("tanh(z)", "He2(z)"),
]
EVERY = pytest.mark.parametrize("target", EXAMPLES, ids=repr)


def test_every_kind_is_registered_and_tried() -> None:
    assert {target.kind for target in EXAMPLES} == set(TARGETS)
    assert Sample._fields == ("X", "y", "W", "h")


@EVERY
def test_batches_have_numbers(target: Target) -> None:
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


@EVERY
def test_types_and_sizes(target: Target) -> None:
    found = target.sample(0, d=16, alpha=0.5, dtype=np.float32)
    assert found.X.shape == (8, 16) and {part.dtype for part in found} == {np.dtype(np.float32)}
    wrongs: list[dict[str, Any]] = [
        {"n": 3}, {"n": 3, "d": 0}, {"d": 16}, {"n": 3, "d": 16, "alpha": 1.0},
    ]  # fmt: skip
    for wrong in wrongs:
        with pytest.raises(LearnabilityError):
            target.sample(0, **wrong)
    with pytest.raises(LearnabilityError, match="seed"):
        target.sample(-1, n=3, d=16)


@EVERY
def test_a_target_says_what_it_is(target: Target) -> None:
    about = target.provenance()
    assert about["target"] == target.kind and about["inputs"] == repr(target.inputs)
    assert about["link"] == target.link.text and about["r"] == target.r
    assert about["noise"] == target.noise


@EVERY
def test_labels_are_the_link_of_the_hidden_coordinates(target: Target) -> None:
    sample = target.sample(2, n=9, d=16)
    rest = sample.y - target.link(sample.h)
    assert np.abs(rest).max() < 1e-9 if not target.noise else rest.std() < 1


def test_sizes() -> None:
    assert checked_sizes(2, 10, 5, None, np.float64) == (10, 5)
    assert checked_sizes(2, np.int64(10), np.int32(5), None, np.float32) == (10, 5)  # type: ignore[arg-type]
    assert checked_sizes(2, None, 7, 0.5, np.float64) == (round(3.5), 7)
    assert checked_sizes(2, None, 7, 1e-6, np.float64) == (1, 7)
    found = checked_sizes(1, np.int64(3), np.int64(4), None, float)  # type: ignore[arg-type]
    assert all(type(n) is int for n in found)


def test_the_memory_needed_is_named() -> None:
    with pytest.raises(LearnabilityError, match=r"need 745058059\.7 GiB, but .* GiB are free"):
        checked_sizes(1, 10**9, 10**8, None, np.float64)
    with pytest.raises(LearnabilityError, match=r"Two stones need .*: leave one"):
        checked_memory("Two stones", 1e30, "leave one")


# ---- links that become targets


def test_a_target_stays_and_a_link_becomes_one() -> None:
    target = MultiIndex("z1*z2", noise=0.1)
    assert as_target(target) is target
    assert as_target("z1*z2") == MultiIndex(Link("z2*z1"))
    assert as_target(Link("abs(z)"), noise=0.1) == MultiIndex("abs(z)", noise=0.1)
    assert as_target("z1", r=3).r == 3
    assert as_target(lambda z: z[..., 0], r=2).r == 2


@pytest.mark.parametrize("wrong", [3, None, ["z"], 1.5])
def test_what_is_neither_a_target_nor_a_link(wrong: object) -> None:
    with pytest.raises(LearnabilityError, match=f"given as {type(wrong).__name__}, but a target"):
        as_target(wrong)  # type: ignore[arg-type]


@EVERY
def test_what_belongs_to_a_target_is_not_given_beside_it(target: Target) -> None:
    for beside in ({"r": target.r}, {"noise": 0.1}):
        with pytest.raises(LearnabilityError, match="belong to the target"):
            as_target(target, **beside)  # type: ignore[arg-type]


def test_a_function_without_its_number_of_variables() -> None:
    with pytest.raises(LearnabilityError, match="without `r`"):
        as_target(lambda z: z[..., 0])
