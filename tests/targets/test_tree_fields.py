"""Fields of a hierarchical target."""

from __future__ import annotations

from typing import Any

import pytest

from learnability import Hierarchical, LearnabilityError
from learnability.targets._tree_fields import Levels


def made(**fields: Any) -> Hierarchical:
    return Hierarchical("tanh(z)", **fields)


def test_what_is_accepted() -> None:
    assert made(polynomial="He2(z) + z").polynomial.text is not None
    assert made().epsilon == 0.5 and made(epsilon=0.25).epsilon == 0.25
    assert made().depth == 3 and made(N=(16, 4)).depth == made(N=[16, 4], depth=4).depth == 4
    assert made(N=8).N == (8,) and made(N=8).epsilon is None
    assert made(signs="ones").signs == "ones"
    assert Levels().read(Levels().parse("16,4")) == (16, 4)


@pytest.mark.parametrize("source", ["z**2", "He2(z) + 1", "He4(z) + 0.1"])
def test_a_constant_term(source: str) -> None:
    with pytest.raises(LearnabilityError, match="with a constant term"):
        made(polynomial=source)


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("epsilon", (0, 1, -0.2, 1.5, True, "half"), "a finite number above 0 and below 1"),
        ("polynomial", ("tanh(z)", "He9(z)", "z1*z2", "z ++* 2"), "`polynomial`"),
        ("depth", (2, 9, 3.5, True), "of at least 3 and of at most 8"),
        ("N", (0, (8, 3), (4, 4), "8", 2.5, ()), "`N` was given"),
        ("signs", ("coin",), "one of balanced, ones"),
    ],
)
def test_sentences(name: str, values: tuple[Any, ...], words: str) -> None:
    for value in values:
        with pytest.raises(LearnabilityError, match=words):
            made(**{name: value})


def test_relations_between_fields() -> None:
    with pytest.raises(LearnabilityError, match="has depth 4"):
        made(N=(16, 4), depth=5)
    with pytest.raises(LearnabilityError, match="both given"):
        made(N=4, epsilon=0.5)
