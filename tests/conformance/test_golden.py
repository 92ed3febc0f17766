"""Numbers change only together with the version of their numerics."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.learners import LEARNERS
from learnability.targets import TARGETS

from tests.conformance.cases import SEEDS, ask
from tests.conformance.golden import (
    COMMAND,
    digests,
    read,
    sample_digests,
    target_of,
    wanted,
)

GOLDEN = read()
ROUGH = {"simulate": 1e-4, "predict": 1e-4, "sample": 1e-5}
"""Relative differences that another processor may make: runs are in float32."""


def current() -> list[str]:
    """Keys of today's versions that have numbers."""
    return [key for key in GOLDEN if _is_current(key)]


def _is_current(key: str) -> bool:
    *own, target, _ = (part.strip() for part in key.split(" | "))
    kind, version = target.split()
    if kind not in TARGETS or TARGETS[kind].numerics_version != int(version):
        return False
    if own == ["sample"]:
        return True
    name, number = own[0].split()
    return name in LEARNERS and LEARNERS[name].numerics_version == int(number)


@pytest.mark.parametrize("key", current())
def test_numbers_are_those_of_their_version(key: str) -> None:
    entry = GOLDEN[key]
    target = target_of(entry)
    if key.startswith("sample"):
        found, owner, verb = sample_digests(target), type(target), "sample"
    else:
        who, asked, *_ = key.split(" | ")
        owner = LEARNERS[who.split()[0]]
        verb, name = asked.split()
        question = next(one for one in owner.questions if one.name == name)
        fields = {n: tuple(v) if isinstance(v, list) else v for n, v in entry["fields"].items()}
        at = {n: tuple(v) if isinstance(v, list) else v for n, v in entry["at"].items()}
        answer = ask(owner(**fields), target, question, verb, SEEDS, at)
        assert answer.result is not None, answer.sentence
        found = digests(answer.result)
    wrong = [n for n in {*found, *entry["numbers"]} if not _same(entry["numbers"], found, n, verb)]
    assert not wrong, (
        f"{', '.join(sorted(wrong))} changed without a new version. If that is meant, raise "
        f"`numerics_version` of {owner.__name__} and run `{COMMAND}`; else undo the change."
    )


def _same(golden: dict[str, list], found: dict[str, list], name: str, verb: str) -> bool:  # type: ignore[type-arg]
    if name not in golden or name not in found:
        return False
    if name == "status":
        return bool(golden[name] == found[name])
    one, other = (np.array(values[name], dtype=float) for values in (golden, found))
    if one.shape != other.shape or not np.array_equal(np.isnan(one), np.isnan(other)):
        return False
    # A spread of the order of rounding is zero on one machine and not on another.
    room = max(ROUGH[verb] * np.nanmax(np.abs(one), initial=0.0), 1e-15)
    return bool(np.allclose(one, other, rtol=ROUGH[verb], atol=room, equal_nan=True))


def test_every_learner_on_every_law_has_golden_numbers() -> None:
    missing = [key for key in wanted() if key not in GOLDEN]
    assert not missing, f"{missing[0]} and others have no golden numbers yet: run `{COMMAND}`."


def test_no_entry_is_of_a_version_to_come() -> None:
    for key in GOLDEN:
        own = key.split(" | ")[0].split()
        if len(own) == 2 and own[0] in LEARNERS:
            assert int(own[1]) <= LEARNERS[own[0]].numerics_version, key
