"""Command lines that once ended in a traceback, in an endless run or in an answer to another one.

`tests/fuzz` makes new ones from the declarations; these were found by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SPECTRAL = ["simulate", "spectral", "z", "--d", "5", "--alpha", "1"]
LINES = {
    "a number below all floats": (["hardness", "1e-300*z"], "too small"),
    "an alpha above all sizes": (["predict", "spectral", "z", "--alpha", "1e308"], "out of range"),
    "an alpha for a kernel": (["predict", "kernel-ridge", "z", "--alpha", "1e300"], "out of range"),
    "a look-ahead without a rule": (
        ["predict", "online-sgd", "z", "--time", "1", "--look-ahead", "-1"], "look_ahead",
    ),
    "a field that is none": ([*SPECTRAL, "--set", "seeds=3"], "sets fields"),
    "an argument given twice": ([*SPECTRAL, "--set", "alpha=3"], "leave out one"),
    "seeds below zero": ([*SPECTRAL, "--seeds", "-1"], "from 0"),
    "a digit that is no number": (
        ["fit", "table.csv", "--target", "y", "--components", "²"], "components",
    ),
    "a seed below zero": (["fit", "table.csv", "--target", "y", "--seed", "-1"], "from 0"),
    "a value that is not finite": (["fit", "table.csv", "--target", "y"], "not finite"),
    "more steps than memory": (
        ["simulate", "giant-steps", "z", "--d", "9", "--alpha", "1", "--steps", "1000000000"],
        "at most",
    ),
    "years of work": (["simulate", "online-sgd", "z", "--d", "10", "--time", "1e12"], "days"),
    "a polynomial without words": (["hardness", "z", "--polynomial", ""], "polynomial"),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_a_sentence_and_code_2(name: str, run, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{k % 7},{k % 5},{'inf' if k == 3 else k}" for k in range(40))
    (tmp_path / "table.csv").write_text(f"a,b,y\n{rows}\n")
    words, told = LINES[name]
    done = run(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("learnability: ") and done.err.count("\n") == 1
    assert told in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]
