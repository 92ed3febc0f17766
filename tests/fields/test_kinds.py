"""Kinds of fields: what each accepts, refuses and parses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies

from learnability.errors import LearnabilityError, refuse
from learnability.fields import Choice, Declared, Flag, Kind, Number, Several, Whole
from learnability.labels import Link
from learnability.labels.fields import Function

UNIT = Number(above=0, at_most=1)
COUNT = Whole(at_least=1, at_most=9)
WORDS = Choice(("old", "new"))
RIDGES = Several(Number(at_least=0))
LIST = Several(Number(at_least=0), distinct=False)


def read(kind: Kind, value: Any) -> Any:
    return Declared(kind, "Help.").read("field", value)


# ---- kinds of fields

ACCEPTED = [
    (UNIT, 1, 1.0), (UNIT, np.float32(0.5), 0.5), (UNIT, np.int64(1), 1.0),
    (COUNT, 4.0, 4), (COUNT, np.int32(9), 9), (COUNT, np.float64(3), 3),
    (Flag(), True, True), (Flag(), False, False),
    (WORDS, "old", "old"),
    (RIDGES, 2, 2.0), (RIDGES, [1, 0.5], (1.0, 0.5)), (RIDGES, np.array([3.0]), (3.0,)),
    (LIST, (1, 1), (1.0, 1.0)),
    (Function(), "tanh(z)", Link("tanh(z)")), (Function(), Link("z"), Link("z")),
    (Function(2), "z1*z2", Link("z2*z1")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "expected"), ACCEPTED)
def test_what_is_accepted(kind: Kind, value: Any, expected: Any) -> None:
    found = read(kind, value)
    assert found == expected and type(found) is type(expected)
    assert read(kind, found) == found


REFUSED = [
    *[(UNIT, value) for value in (0, -1, 1.01, math.nan, math.inf, True, "0.5", None, [0.5], 1j)],
    *[(COUNT, value) for value in (0, 10, 2.5, math.nan, True, "3", None, 1e300)],
    *[(Flag(), value) for value in (1, 0, "yes", None, np.float64(1))],
    *[(WORDS, value) for value in ("OLD", "", 1, None, ("old",))],
    *[(RIDGES, value) for value in (-1, [], [1.0, 1.0], [1, -1], "1,2", None, [[1.0]], [True])],
    *[(LIST, value) for value in ([], [1.0, math.nan])],
]


@pytest.mark.parametrize(("kind", "value"), REFUSED)
def test_what_is_refused_ends_in_a_sentence_that_names_the_field(kind: Kind, value: Any) -> None:
    with pytest.raises(LearnabilityError) as caught:
        read(kind, value)
    message = str(caught.value)
    assert message == f"`field` was given as {value!r}, but {kind.accepted} is accepted."


@pytest.mark.parametrize("value", ["z +", "z1*z2", 3, "import os"])
def test_a_function_that_is_none_is_refused_with_the_reason(value: Any) -> None:
    with pytest.raises(LearnabilityError, match=r"^`field` cannot be read: .*\.$"):
        read(Function(), value)


def test_a_function_is_given_its_number_of_variables() -> None:
    found = read(Function(), lambda z: z[..., 0] ** 2)
    assert found.r == 1 and found(3.0) == 9.0
    assert read(Function(3), lambda z: z.sum(axis=-1)).r == 3


def test_none_is_accepted_where_the_field_is_optional() -> None:
    optional = Declared(UNIT, "Help.", optional=True)
    assert optional.read("field", None) is None and optional.read("field", 1) == 1.0
    with pytest.raises(LearnabilityError, match="of at most 1, or None, is accepted"):
        optional.read("field", 2)


PARSED = [
    (UNIT, "0.25", 0.25), (UNIT, "1e-3", 1e-3), (COUNT, "7", 7), (COUNT, "3.0", 3.0),
    (Flag(), "true", True), (Flag(), "False", False), (WORDS, "new", "new"), (WORDS, "1", "1"),
    (RIDGES, "0.5", 0.5), (RIDGES, "0.5,1,2", (0.5, 1, 2)), (UNIT, "None", None),
    (Function(), "tanh(z)", "tanh(z)"), (UNIT, "much", "much"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "expected"), PARSED)
def test_a_text_of_the_command_line_is_parsed(kind: Kind, text: str, expected: Any) -> None:
    found = kind.parse(text)
    assert found == expected and type(found) is type(expected)


RANGES = strategies.builds(
    lambda ends, above, below: Number(**{
        ("above" if above else "at_least"): ends[0], ("below" if below else "at_most"): ends[1]
    }),
    strategies.tuples(strategies.floats(-1e6, 0), strategies.floats(0, 1e6)),
    strategies.booleans(), strategies.booleans(),
)  # fmt: skip


@given(RANGES, strategies.floats())
def test_a_number_is_accepted_exactly_within_its_range(kind: Number, value: float) -> None:
    low, high = (kind.above, kind.at_least), (kind.below, kind.at_most)
    inside = math.isfinite(value)
    inside &= value > low[0] if low[0] is not None else value >= low[1]  # type: ignore[operator]
    inside &= value < high[0] if high[0] is not None else value <= high[1]  # type: ignore[operator]
    if inside and value and not 1e-50 <= abs(value) <= 1e50:
        with pytest.raises(LearnabilityError, match="out of range: 0 and magnitudes from 1e-50"):
            read(kind, value)
    elif inside:
        assert read(kind, value) == value
    else:
        with pytest.raises(LearnabilityError, match="`field` was given as"):
            read(kind, value)


@given(strategies.integers(-(10**30), 10**30), strategies.integers(-50, 50))
def test_whole_numbers_are_those_of_the_range(value: int, least: int) -> None:
    kind = Whole(at_least=least)
    if value >= least and abs(value) <= 2**53:
        assert read(kind, value) == read(kind, float(value)) == value
    else:
        said = f"of at least {least}" if value < least else "out of range"
        with pytest.raises(LearnabilityError, match=said):
            read(kind, value)


@given(strategies.lists(strategies.just(0.0) | strategies.floats(1e-50, 1e9), min_size=1))
def test_several_numbers_are_kept_in_their_order_and_only_once(values: list[float]) -> None:
    if len(set(values)) == len(values):
        assert read(RIDGES, values) == tuple(values)
        assert read(RIDGES, RIDGES.parse(",".join(map(repr, values)))) in (tuple(values), values[0])
    else:
        with pytest.raises(LearnabilityError, match="several different ones"):
            read(RIDGES, values)
    assert read(LIST, values) == tuple(values)


def test_long_values_are_cut_in_sentences() -> None:
    message = str(refuse("field", list(range(1000)), "a number"))
    assert len(message) < 300 and "..., but a number is accepted." in message
