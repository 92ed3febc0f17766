"""Options made from declarations."""

from __future__ import annotations

import pytest

from learnability.cli.options import Option, command, listed, metavar, plain_option
from learnability.errors import LearnabilityError
from learnability.fields import Choice, Declared, Flag, Number, Several, Whole

STEP = Option("step-size", Declared(Number(above=0), "Size of a step.", unit="1/d"), "Learner", "1")
KINDS = {
    "X": Number(),
    "N": Whole(),
    "a|b": Choice(("a", "b")),
    "X,Y,...": Several(Number()),
}


@pytest.mark.parametrize("shown", KINDS)
def test_what_stands_for_the_value(shown: str) -> None:
    assert metavar(Declared(KINDS[shown], "Help.")) == shown


def test_values_are_read_and_refused_by_the_declaration() -> None:
    assert STEP.read("0.5") == 0.5 and STEP.help == "Size of a step. In units of 1/d. [default: 1]"
    for text in ("-1", "much", "nan"):
        with pytest.raises(LearnabilityError, match=r"^`--step-size` was given as .* above 0 is"):
            STEP.read(text)


def made(seen: list[object]) -> object:
    flag = Option("fast", Declared(Flag(), "Whether it is fast."), "Learner")
    plain = plain_option("name", str | None, None, help="A name.")
    parameters = [STEP.parameter(), flag.parameter(), plain]
    owners = {"--run": ["runner", "jogger"]}
    return command("walk", "Go.", parameters, seen.append, lambda: owners)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], (None, None, None)),
        (["--step-size", "-1", "--fast"], ("-1", True, None)),
        (["--no-fast", "--name=--run"], (None, False, "--run")),
        (["--name", "--run"], (None, None, "--run")),
    ],
)
def test_a_command_hands_over_what_was_given(
    words: list[str], expected: tuple[object, ...]
) -> None:
    seen: list[dict[str, object]] = []
    made(seen)(words, standalone_mode=False)  # type: ignore[operator, arg-type]
    assert [tuple(values.values()) for values in seen] == [expected]


@pytest.mark.parametrize(
    ("word", "sentence"),
    [("--run", "belongs to runner and jogger"), ("--fly=1", "lists no such option")],
)
def test_unknown_options_end_in_a_sentence(word: str, sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        made([])([word], standalone_mode=False)  # type: ignore[operator]


def test_the_help_has_sections(capsys: pytest.CaptureFixture[str]) -> None:
    made([])(["--help"], standalone_mode=False)  # type: ignore[operator]
    said = capsys.readouterr().out
    assert said.index("Learner:") < said.index("--step-size X") < said.index("Options:")


def test_lists() -> None:
    assert (listed(["a"]), listed(["a", "b", "c"])) == ("a", "a, b and c")
