"""Questions: their arguments, what is needed and what is accepted."""

from __future__ import annotations

import math
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import given, strategies

from learnability.errors import LearnabilityError
from learnability.fields import Declared
from learnability.learners.base import ARGUMENTS, At, Question, Side
from learnability.learners.base.questions import checked_arguments

SIDE = Side(needs=("d", "alpha"), takes=("steps", "time"))


def read(**given: Any) -> dict[str, Any]:
    return checked_arguments("simulate toy", SIDE, given)


def test_every_argument_is_typed_and_declared() -> None:
    assert set(get_type_hints(At)) == set(ARGUMENTS)
    for name, about in ARGUMENTS.items():
        assert isinstance(about, Declared) and about.help[0].isupper() and about.help[-1] == ".", (
            name
        )
        assert about.accepted and about.kind.type_name


def test_arguments_are_read() -> None:
    found = read(d=5.0, alpha=[1, 2], steps=3, time=None)
    assert found["d"] == 5 and isinstance(found["d"], int) and found["steps"] == 3
    np.testing.assert_array_equal(found["alpha"], [1.0, 2.0])
    assert "time" not in found
    assert read(d=5, alpha=2)["alpha"].shape == ()


def test_what_is_missing_is_named_with_its_meaning() -> None:
    with pytest.raises(LearnabilityError, match=r"^simulate toy needs `alpha`, .*Samples per dim"):
        read(d=5)
    with pytest.raises(LearnabilityError, match="needs `d`"):
        read(alpha=1.0, d=None)
    with pytest.raises(LearnabilityError, match="needs `points`"):
        checked_arguments("predict toy", SIDE, {"d": 1, "alpha": 1.0}, ("points",))


def test_what_is_not_taken_is_named_with_what_is() -> None:
    sentence = r"^`degree` was given, but simulate toy takes `d`, `alpha`, `steps`, `time`\.$"
    with pytest.raises(LearnabilityError, match=sentence):
        read(d=5, alpha=1.0, degree=2)
    with pytest.raises(LearnabilityError, match="takes no arguments"):
        checked_arguments("predict toy", Side(), {"d": 3})


@pytest.mark.parametrize("alpha", [0, -1.0, math.nan, math.inf, [1.0, 0.0], [2.0, math.nan]])
def test_alphas_out_of_range(alpha: Any) -> None:
    with pytest.raises(LearnabilityError, match=r"`alpha` was given as .* above 0, or a list"):
        read(d=5, alpha=alpha)


@pytest.mark.parametrize("alpha", [[], "much", [[1.0]], {"a": 1}, True, b"1", ["x"]])
def test_alphas_that_are_no_numbers(alpha: Any) -> None:
    with pytest.raises(LearnabilityError, match="`alpha` was given as"):
        read(d=5, alpha=alpha)


@given(strategies.lists(strategies.floats(-1, 100), min_size=1, max_size=6))
def test_times_start_at_zero_and_do_not_decrease(times: list[float]) -> None:
    if min(times) >= 0 and times == sorted(times):
        np.testing.assert_array_equal(read(d=1, alpha=1.0, time=times)["time"], times)
    else:
        with pytest.raises(LearnabilityError, match=r"`time` was given as .* do not decrease"):
            read(d=1, alpha=1.0, time=times)


@pytest.mark.parametrize("name", ["alpha", "time"])
def test_ratios_and_times_that_are_out_of_range(name: str) -> None:
    for value in (1e16, 1e308):
        with pytest.raises(LearnabilityError, match=f"`{name}` cannot be read: .* out of range"):
            read(**{"d": 5, "alpha": 1.0, name: [0.5, value]})
    with pytest.raises(LearnabilityError, match="out of range"):
        read(d=5, alpha=1e-10)


@pytest.mark.parametrize("d", [0, -1, 2.5, True, "ten", math.nan, [3]])
def test_bad_dimensions(d: Any) -> None:
    with pytest.raises(LearnabilityError, match=r"`d` was given as .* of at least 1"):
        read(d=d, alpha=1.0)


def test_texts_of_the_command_line() -> None:
    assert ARGUMENTS["d"].kind.parse("100") == 100
    assert ARGUMENTS["start"].kind.parse("1.0,0.5") == (1.0, 0.5)
    assert ARGUMENTS["third"].kind.parse("true") is True


def test_a_question_knows_the_names_of_its_sides() -> None:
    question = Question("values", "Help.", ("overlap",), simulate=Side(observables=("status",)))
    assert question.side("simulate") is question.simulate and question.side("predict") is None
    assert question.names("simulate") == ("overlap", "status")
    assert question.names("predict") == ("overlap",)
