"""A short run of the fuzzers: texts and damaged stores; `make fuzz` does the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.__main__ import fuzz
from tests.fuzz.cases import command, link, numbered


@pytest.mark.parametrize(("kind", "count"), [("texts", 500), ("stores", 20)])
def test_cases_end_in_answers_or_sentences(kind: str, count: int, tmp_path: Path) -> None:
    done, failed = fuzz(kind, 1.0, count, 10**6, tmp_path)
    assert done > 0 and failed == 0


def test_a_case_is_its_number(tmp_path: Path) -> None:
    for _, (number, dice) in zip(range(20), numbered(5), strict=False):
        _, again = next(numbered(number))
        assert (link(dice), command(dice, tmp_path)) == (link(again), command(again, tmp_path))
