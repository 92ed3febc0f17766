"""Every text ends in a link or in one sentence, and nothing is ever executed."""

from __future__ import annotations

import random
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnability.errors import LinkError
from learnability.expressions.parse import parse
from learnability.expressions.tree import Call, Const, Var
from learnability.labels.link import Link

from tests.expressions.strategies import grammar_text, mutated_text

HOSTILE = {
    "attribute": ["z1.real", "().__class__.__bases__", "z1.__class__(2)"],
    "unknown name": ["foo(z1)", "eval(z)", "x + 1", "z0", "z10", "_", "where"],
    "call of no name": ["(z1)(2)", "sign(z1)(z2)", "(lambda: 1)()"],
    "subscript": ["z1[0]", "z[1:2]"],
    "lambda": ["lambda z: z", "lambda: 0"],
    "comprehension": ["[z for z in z]", "max(z for z in z)", "{z: z for z in z}", "{z for z in z}"],
    "collection": ["(z1, z2)", "[z1]", "{z1}", "{z1: 1}", "()", "max(*z1)", "max(**z1)"],
    "string": ["'z'", '"z" + z', "f'{z}'", "b'z'"],
    "number": ["1j", "1e999", "1e13", "9" * 400, "True", "None", "..."],
    "arguments": ["sign()", "sign(z1, z2)", "max(z1)", "where(z1 < 0, 1)", "sign(x=z1)"],
    "power": ["9**9**9", "z**17", "z**-17", "z**z", "2**z1", "z**pi", "(z**16)**16", "0**-1"],
    "degree": ["He9(He9(z))", "He9(z)**8", "z**16*z**16*z**16*z**16*z"],
    "nesting": ["(" * 41 + "z" + ")" * 41, "-" * 300 + "z", "sign(" * 100 + "z" + ")" * 100],
    "size": ["z + " * 500 + "z", "z+" * 300 + "z", " " * 2001, "z/" * 60 + "z"],
    "parser": ["-" * 1999 + "z", "(" * 1999, "[" * 300, "not " * 400 + "z", "z**" * 600 + "2"],
    "empty": ["", "   ", "\n"],
    "boolean": [
        "z1 and z2",
        "not z1",
        "z1 or 1",
        "where(z1 < 0 and z2 < 0, 1, 2)",
        "z if z else z",
    ],
    "comparison": [
        "z1 < 2",
        "z1 == 2",
        "where(z1 == 0, 1, 2)",
        "sign(z1 < 2)",
        "where(z1 in z2, 1, 2)",
    ],
    "condition": ["where(z1, 1, 2)", "where(1, 2, 3)", "where((z1 < 2) < 3, 1, 2)"],
    "operator": ["z ^ 2", "z // 2", "z % 2", "z @ z", "~z", "z << 1", "z | 1", "z & 1"],
    "assignment": ["(y := z)", "z = 1", "z; z", "import os", "del z", "yield z", "await z"],
    "character": ["z\x00", "\uff5a1", "\u03b1", "z # comment", "z\x0b1", "\ud800"],
    "syntax": ["2z", "z1 z2", "(z", "z)", "z +", "* z", "sign z", "0777", "1_", "z1,,z2", "\\"],
    "both names": ["z + z1", "z*z2"],
    "division": ["1/0", "z/0", "z/-0.0"],
}
CASES = [pytest.param(text, id=f"{k}-{i}") for k, v in HOSTILE.items() for i, text in enumerate(v)]


def sentence_of(text: object) -> str | None:
    """The message of the refusal, checked to be one line of printable text; None when accepted."""
    try:
        Link(text)  # type: ignore[arg-type]
    except LinkError as error:
        message = str(error)
        assert message and message.isprintable() and message.isascii()
        assert message.endswith(".") and len(message) < 500, message
        return message
    return None


@pytest.mark.parametrize("text", CASES)
def test_refused_in_one_sentence(text: str) -> None:
    assert sentence_of(text) is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("z1.real", "attribute"),
        ("foo(z1)", "unknown name"),
        ("sigmoyd(z1)", "`sigmoid`"),
        ("z1[0]", "subscript"),
        ("lambda z: z", "lambda"),
        ("[z for z in z]", "comprehension"),
        ("'z'", "string"),
        ("1j", "complex"),
        ("sign(x=z1)", "keywords"),
        ("max(*z1)", "starred"),
        ("sign(z1, z2)", "2 arguments"),
        ("9**9**9", "power"),
        ("(" * 41 + "z" + ")" * 41, "nested too deeply"),
        ("sign(" * 41 + "z" + ")" * 41, "nested too deeply"),
        ("z ^ 2", "`**`"),
        ("z1 < 2", "`where(c, a, b)`"),
        ("z + z1", "both `z` and `z1`"),
        ("", "empty"),
        ("\uff5a1", "ASCII"),
        ("z\x00", "ASCII"),
    ],
)
def test_refusal_names_its_reason(text: str, words: str) -> None:
    message = sentence_of(text)
    assert message is not None and words in message


def test_long_text_is_quoted_briefly() -> None:
    message = sentence_of("z1.real + " * 150 + "1")
    assert message is not None and len(message) < 400


@pytest.mark.parametrize("source", [3, None, 2.5, b"z", ["z"], {"z": 1}])
def test_other_types_are_refused(source: object) -> None:
    assert sentence_of(source) is not None


def test_numbers_are_exact() -> None:
    assert parse("0.1") == Const(Fraction(1, 10))
    assert parse("1_0.5") == Const(Fraction(21, 2))
    assert parse("-2") == Const(Fraction(-2))
    assert parse("2/6") == Const(Fraction(1, 3))
    assert parse("0x10") == Const(Fraction(16))
    assert parse("1e-99999999999") == Const(Fraction(0))


def test_precedence_is_python_s() -> None:
    z = Var(0)
    two = Const(Fraction(2))
    assert parse("-z**2") == Call("neg", (Call("**", (z, two)),))
    assert parse("(-z)**2") == Call("**", (Call("neg", (z,)), two))
    assert parse("z1 - z2 - z3") == parse("(z1 - z2) - z3") != parse("z1 - (z2 - z3)")
    assert parse("z**-1") == parse("z**(-1)")


def test_bounds_themselves_are_accepted() -> None:
    for text in ["z+" * 199 + "z", "sign(" * 39 + "z" + ")" * 39, "(z**16)**4", "1e12*z", "z**-16"]:
        assert sentence_of(text) is None, text
    assert sentence_of(" z1\n + \t z2 ") is None


EVENTS: list[str] = []
_watching = False


def _audit(event: str, args: tuple[object, ...]) -> None:
    if _watching and event.partition(".")[0] in {
        "exec",
        "open",
        "os",
        "import",
        "subprocess",
        "socket",
    }:
        EVENTS.append(event)
    # ast.parse compiles source to a tree; its file name is "<unknown>", and no code object runs.
    if _watching and event == "compile" and args[1] not in ("<unknown>", b"<unknown>"):
        EVENTS.append(f"compile {args[1]!r}")


def watched(texts: list[str]) -> int:
    """Read all texts while recording what Python executes; how many were accepted."""
    global _watching
    if _audit not in _installed:
        sys.addaudithook(_audit)  # cannot be removed again, hence the switch
        _installed.append(_audit)
    EVENTS.clear()
    _watching = True
    try:
        return sum(sentence_of(text) is None for text in texts)
    finally:
        _watching = False


_installed: list[object] = []


def test_guard_notices_execution() -> None:
    watched([])
    global _watching
    _watching = True
    eval("1 + 1")
    _watching = False
    assert any(event == "exec" for event in EVENTS)
    assert any(event.startswith("compile") for event in EVENTS)


def test_fuzz_with_a_grammar() -> None:
    rng = random.Random(2)
    texts = [grammar_text(rng) for _ in range(12_000)]
    accepted = watched(texts)
    assert EVENTS == []
    assert 2_000 < accepted < 11_000


def test_fuzz_with_mutations_and_noise() -> None:
    rng = random.Random(3)
    texts = [mutated_text(rng) for _ in range(10_000)]
    accepted = watched(texts)
    assert EVENTS == []
    assert 250 < accepted < 7_500


@settings(max_examples=400)
@given(st.text(max_size=60) | st.text(alphabet="z12+-*/()., <>signwhere[]'", max_size=40))
def test_fuzz_with_hypothesis(text: str) -> None:
    sentence_of(text)
