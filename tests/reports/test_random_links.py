"""Random links say the same as functions and said otherwise: a slice of `make links`."""

from __future__ import annotations

import pytest

from learnability.labels import Link

from tests.random_links import COUNT, audited, random_formula

FEW = [n for n in range(COUNT) if Link(random_formula(n)).r <= 2][:8]


@pytest.mark.parametrize("number", FEW)
def test_a_link_does_not_contradict_itself(number: int) -> None:
    report, found = audited(number)
    assert len(found) == 3 and report.staircase
    assert {way: what for way, what in found.items() if what} == {}
