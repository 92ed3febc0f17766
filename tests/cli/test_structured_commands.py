"""Structured data on the command line."""

from __future__ import annotations

import json
import sys

import pytest

from learnability.cli import main


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str):  # type: ignore[no-untyped-def]
    """Exit code, stdout and stderr of a command."""
    monkeypatch.setattr(sys, "argv", ["learnability", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


def test_hardness_of_a_spike(capsys, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    words = ("hardness", "He3(z)", "--spike-exponent", "0.6", "--json")
    code, out, _ = run(capsys, monkeypatch, *words)
    assert code == 0 and json.loads(out)["kernel_exponent"] == pytest.approx(1.2)


def test_predictions(capsys, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    words = ("predict", "kernel-ridge", "z", "--spike", "9", "--d", "500", "--alpha", "1")
    code, out, _ = run(capsys, monkeypatch, *words)
    assert code == 0 and "error" in out and "d = 500" in out
    words = ("predict", "gradient-flow", "z", "--spike", "9", "--d", "500", "--time", "0,1")
    code, out, _ = run(capsys, monkeypatch, *words)
    assert code == 0 and "solved" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("predict", "kernel-ridge", "z", "--spike=-1", "--d", "9", "--alpha", "1"), "`spike`"),
        (("predict", "kernel-ridge", "z", "--spike", "1", "--alpha", "1"), "give `d`"),
        (("hardness", "z", "--spike", "1", "--alignment", "1.5"), "a number between -1 and 1"),
        (("hardness", "z", "--spike", "nan"), "`spike` was given as nan"),
        (("hardness", "z1*z2", "--spike", "1"), "labels of one variable"),
        (("hardness", "z", "--spike", "1", "--spike-exponent", "1"), "not both or neither"),
        (("predict", "kernel-ridge", "z", "--spike-exponent", "200", "--d", "1000000", "--alpha",
          "1"), "give a smaller one"),
        (("predict", "kernel-ridge", "exp(z**2)", "--spike", "1", "--d", "99", "--alpha", "1"),
         "square-int"),
        (("predict", "online-sgd", "z", "--spike", "90", "--d", "99", "--time", "1"),
         "exact at every d"),
        (("predict", "online-sgd", "z", "--spike", "9", "--time", "1"), "give `d`"),
        (("simulate", "online-sgd", "z", "--spike", "9", "--d", "2", "--time", "1"),
         "a whole number from 3"),
        (("predict", "gradient-flow", "z", "--spike", "9", "--d", "3", "--time", "1"),
         "a dimension from 4"),
        (("predict", "gradient-flow", "z", "--spike", "9", "--d", "99", "--time=-1"), "`time`"),
        (("predict", "mean-field-langevin", "z1*z2", "--alpha", "1"), "no theory"),
        (("predict", "kernel-ridge", "z", "--alignment", "0.5", "--alpha", "1"),
         "`spike_exponent`"),
        (("predict", "kernel-ridge", "z", "--spike-exponent", "0.97", "--d", "1000", "--alpha",
          "1"), "needs less than 1/2"),
        (("predict", "kernel-ridge", "z", "--d", "9", "--alpha", "1"), "needs none"),
        (("predict", "bayes-amp", "z", "--spike", "2", "--alpha", "1"), "accepts a MultiIndex"),
        (("simulate", "mean-field-langevin", "z1+z2", "--anisotropy", "0.5", "--d", "9", "--alpha",
          "1"), "for a parity"),
        (("simulate", "mean-field-langevin", "z1*z2", "--anisotropy", "2", "--d", "9", "--alpha",
          "1"), "the parity is defined for numbers from 0"),
    ],
)  # fmt: skip
def test_bad_input_ends_in_a_sentence(words, sentence, capsys, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    code, _, err = run(capsys, monkeypatch, *words)
    assert code == 2 and sentence in err and "Traceback" not in err
