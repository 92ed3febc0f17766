"""Options that several commands share."""

from __future__ import annotations

import inspect

import pytest

from learnability.cli import commands
from learnability.cli.described_target import described
from learnability.cli.options import LEARNER, TARGET


@pytest.mark.parametrize("command", [commands.predict, commands.simulate])
def test_every_option_of_targets_and_learners_is_there(command: object) -> None:
    assert set(LEARNER) | set(TARGET) <= set(inspect.signature(command).parameters)  # type: ignore[arg-type]


def test_every_option_of_a_target_describes_one() -> None:
    assert set(TARGET) <= set(inspect.signature(described).parameters)
