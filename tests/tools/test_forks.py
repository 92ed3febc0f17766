"""Mutants by forks: which lines are meant, and changes in place."""

from __future__ import annotations

import ast

import pytest

from learnability.gaussian import sobol

from tests.tools.forks import changed, replaced, statement, users
from tests.tools.mutate import ROOT, SOURCE, Mutant, mutants

PATH = SOURCE / "gaussian" / "sobol.py"


def mutant_of(text: str) -> Mutant:
    """The first mutant on the line that starts so."""
    lines = (ROOT / PATH).read_text(encoding="utf-8").splitlines()
    line = next(n for n, one in enumerate(lines, 1) if one.strip().startswith(text))
    return next(one for one in mutants(PATH) if one.line == line)


def test_lines_of_a_statement_and_users_of_a_constant() -> None:
    inner, outer = mutant_of("powers = 1 <<"), mutant_of("_BITS = 30")
    assert changed(inner)[1] and not changed(outer)[1]
    assert statement(inner) == {inner.line}
    assert outer.line not in users(outer) and inner.line in users(outer)
    assert ast.dump(changed(outer)[0]) != ast.dump(
        ast.parse((ROOT / PATH).read_text(encoding="utf-8"))
    )


@pytest.mark.parametrize("text", ["_BITS = 30", "return np.array([number <<"])
def test_changes_are_put_in_place(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sobol._direction_numbers(2)
    monkeypatch.setattr(sobol, "_BITS", 30)  # Put back at the end.
    code = sobol._direction_numbers.__code__
    one = mutant_of(text)
    try:
        assert replaced(one, *changed(one))
        after = sobol._direction_numbers(2)
    finally:
        sobol._direction_numbers.__code__ = code
    assert len(after) != len(before) or (after != before).any()
