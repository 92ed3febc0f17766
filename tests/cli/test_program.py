"""The command line as a whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import learnability
from learnability.cli import main


def test_an_unknown_verb(run) -> None:  # type: ignore[no-untyped-def]
    done = run("softness", "z")
    assert done.code == 2 and done.err.count("\n") == 1 and "softness" in done.err


def test_version_and_help(run) -> None:  # type: ignore[no-untyped-def]
    assert run("--version").out == f"learnability {learnability.__version__}\n"
    verbs = ("hardness", "predict", "simulate", "plot", "learners", "figure", "study", "fit")
    for arguments in ([], ["--help"], *([verb, "--help"] for verb in verbs)):
        done = run(*arguments)
        assert done.code == 0 and "Usage" in done.out and done.err == ""


def completed(words: str, monkeypatch: pytest.MonkeyPatch, capsys) -> list[str]:  # type: ignore[no-untyped-def]
    """What a shell is told after these words."""
    monkeypatch.setenv("_LEARNABILITY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"learnability {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" "))))
    monkeypatch.setattr(sys, "argv", ["learnability"])
    with pytest.raises(SystemExit):
        main()
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "expected", "absent"),
    [
        ("pre", {"predict"}, {"simulate"}),
        ("predict ba", {"batch-gd", "bayes-amp"}, {"spectral"}),
        ("predict spectral z --", {"--alpha", "--floor", "--noise"}, {"--damping", "--spike"}),
        ("predict bayes-amp z --start ", {"auto", "informed"}, {"layerwise"}),
        ("predict bayes-amp z --question ", {"values", "path"}, {"recovery"}),
        ("learners ker", {"kernel-ridge"}, {"spectral"}),
        ("figure grand", {"grand-staircase"}, {"flows"}),
        ("hardness z --sp", {"--spike", "--spike-exponent"}, {"--noise"}),
    ],
)
def test_shell_completion(words, expected, absent, monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    found = set(completed(words, monkeypatch, capsys))
    assert expected <= found and not absent & found


def test_the_module_is_the_command(tmp_path: Path) -> None:
    def python(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "learnability", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )

    good = python("hardness", "abs(z)", "--json")
    assert good.returncode == 0 and json.loads(good.stdout)["kind"] == "easy"
    bad = python("hardness", "z +")
    assert bad.returncode == 2 and bad.stdout == "" and len(bad.stderr.splitlines()) == 1


def test_a_table_is_fitted(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    table = rng.standard_normal((80, 3))
    rows = [f"{a},{b},{c},{a + 0.1 * b}" for a, b, c in table]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,c,y", *rows]))
    done = run(
        "fit", str(tmp_path / "data.csv"), "--target", "y", "--components", "1", "--no-compare"
    )
    assert done.code == 0 and "1 direction found" in done.out
    bad = run("fit", str(tmp_path / "data.csv"), "--target", "x")
    assert bad.code == 2 and "the columns are a, b, c, y" in bad.err
