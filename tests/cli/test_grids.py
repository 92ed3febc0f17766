"""Grids and seeds written on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnability import LearnabilityError
from learnability.cli.grids import MOST, grid, seeds, setting


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.1:4:3", [0.1, 2.05, 4.0]),
        ("4:1:4", [4.0, 3.0, 2.0, 1.0]),
        ("0.5,2,1e1", [0.5, 2.0, 10.0]),
        (" 1 , 2 ", [1.0, 2.0]),
        ("2.5", 2.5),
        ("-1", -1.0),  # What is meaningful is for the learner to say.
    ],
)
def test_what_is_accepted(text: str, values: float | list[float]) -> None:
    found = grid(text)
    assert found.shape == np.shape(values) and found.dtype == float
    np.testing.assert_allclose(found, values)


@given(
    first=st.floats(-100, 100), last=st.floats(-100, 100), count=st.integers(2, 60)
)  # fmt: skip
def test_both_ends_belong_to_the_grid(first: float, last: float, count: int) -> None:
    found = grid(f"{first!r}:{last!r}:{count}")
    assert len(found) == count and found[0] == first and found[-1] == last


@pytest.mark.parametrize(
    "text",
    ["", "1:2", "1:2:3:4", "1:2:1", "1:2:0", "1:2:-3", "1:2:2.5", "a:b:c", "1,,2", "1,x", "nan",
     "inf", "1:inf:3", "1;2", f"1:2:{MOST + 1}", "1:2:99999999999999999999"],
)  # fmt: skip
def test_bad_grids_end_in_a_sentence(text: str) -> None:
    with pytest.raises(LearnabilityError) as caught:
        grid(text, "ratio")
    assert str(caught.value).startswith(f"`--ratio` was given as {text!r}, but `a:b:n`")


@pytest.mark.parametrize(
    ("text", "expected"), [("72", 72), ("0,5,7", [0, 5, 7]), (" 3 ", 3), ("1, 1", [1, 1])]
)
def test_seeds(text: str, expected: int | list[int]) -> None:
    assert seeds(text) == expected


@pytest.mark.parametrize("text", ["", "x", "1.5", "-1", "1,", "1:3:3", "²", str(MOST + 1)])
def test_bad_seeds_end_in_a_sentence(text: str) -> None:
    with pytest.raises(LearnabilityError, match=r"^`--seeds` was given as "):
        seeds(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("100:300:3", [100, 200, 300]),
        ("1:2:3", [1.0, 1.5, 2.0]),
        ("1.0:3.0:3", [1.0, 2.0, 3.0]),
        ("20, 30", [20, 30]),
        ("0.5", 0.5),
        ("-3", -3),
        ("1e3", 1000.0),
        ("none,-10", [None, -10]),
        ("true", True),
        ("random,spectral", ["random", "spectral"]),
        ("max(z, 0),relu(z)", ["max(z, 0)", "relu(z)"]),
        ("f(1, g(z)),z", ["f(1, g(z))", "z"]),
    ],
)
def test_values_of_any_parameter(text: str, value: object) -> None:
    found = setting(text, "x")
    assert found == value
    several = found if isinstance(found, list) else [found]
    expected = value if isinstance(value, list) else [value]
    assert [type(v) for v in several] == [type(v) for v in expected]


@pytest.mark.parametrize("text", ["", "1,,2", "1:2", "a:b:c"])
def test_no_values(text: str) -> None:
    with pytest.raises(LearnabilityError, match="`a:b:n`"):
        setting(text, "x")
