"""The target that the options of a command describe."""

from __future__ import annotations

from typing import Any

import pytest

from learnability.cli.described_target import described
from learnability.errors import LearnabilityError
from learnability.targets import Hierarchical, MultiIndex, SparseParity, SpikedIndex


@pytest.mark.parametrize(
    ("expression", "options", "expected"),
    [
        ("z1*z2", {}, MultiIndex("z1*z2")),
        ("He3(z)", {"spike": 2.0}, SpikedIndex("He3(z)", 2.0)),
        (
            "He3(z)",
            {"spike_exponent": 0.5, "alignment": 0.5},
            SpikedIndex("He3(z)", None, 0.5, spike_exponent=0.5),
        ),
        ("z1*z2*z3", {"anisotropy": 0.5}, SparseParity(3, 0.5)),
        ("tanh(z)", {"polynomial": "He3(z)"}, Hierarchical("tanh(z)", "He3(z)")),
        (
            "tanh(z)",
            {"polynomial": "He3(z)", "directions": 9},
            Hierarchical("tanh(z)", "He3(z)", N=9),
        ),
        ("tanh(z)", {"polynomial": "He2(z)", "depth": 4}, Hierarchical("tanh(z)", depth=4)),
        ("tanh(z)", {"hierarchical": True}, Hierarchical("tanh(z)", "He2(z)")),
    ],
)
def test_options_choose_the_target(
    expression: str, options: dict[str, Any], expected: object
) -> None:
    assert described(expression, **options) == expected


def test_noise_is_that_of_the_target() -> None:
    for options in ({}, {"spike": 1.0}, {"polynomial": "He2(z)"}):
        assert described("tanh(z)", 0.3, **options).noise == 0.3  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"polynomial": "He2(z)", "spike": 1.0}, "belong to different targets"),
        ({"spike": 1.0, "anisotropy": 0.5}, "belong to different targets"),
        ({"spike": 1.0, "hierarchical": True}, "a learner of hierarchical targets"),
        ({"epsilon": 0.5}, "belongs to `--polynomial`"),
        ({"depth": 4}, "`--depth` was given"),
        ({"anisotropy": 0.5, "noise": 0.1}, "is for a parity"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], words: str) -> None:
    with pytest.raises(LearnabilityError, match=words):
        described("z1*z2", **options)
