"""The mutation tool changes one thing, keeps the rest, and finds the tests of a room."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.tools.mutate import ROOMS, ROOT, chosen, mirrors, modules, mutants, mutated, room_of


@pytest.mark.parametrize("room", ROOMS)
def test_a_mutant_differs_in_one_statement_and_is_python(room: str) -> None:
    for mutant in chosen(15, 7, (room,)):
        text = (ROOT / mutant.path).read_text(encoding="utf-8")
        found = mutated(text, mutant)
        assert ast.dump(ast.parse(found)) != ast.dump(ast.parse(text))
        before, after = text.splitlines(), found.splitlines()
        same = next(n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
        assert same + 1 <= mutant.line + 60 and before[:same] == after[:same]


def test_mutants_are_chosen_by_the_seed() -> None:
    assert chosen(5, 1, ROOMS) == chosen(5, 1, ROOMS)
    assert chosen(5, 1, ROOMS) != chosen(5, 2, ROOMS)
    assert len(set(chosen(60, 0, ROOMS))) == 60


def test_words_and_declarations_are_left_alone() -> None:
    every = [mutant for path in modules(ROOMS) for mutant in mutants(path)]
    assert len(every) > 3000
    for mutant in every:
        line = (ROOT / mutant.path).read_text(encoding="utf-8").splitlines()[mutant.line - 1]
        assert "numerics_version" not in line


@pytest.mark.parametrize("path", modules(ROOMS), ids=str)
def test_every_room_has_tests(path: Path) -> None:
    assert (ROOT / room_of(str(path))).is_dir()
    assert mirrors(str(path))
