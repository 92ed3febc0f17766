"""The sample complexity of each algorithm from the exponents."""

from __future__ import annotations

import dataclasses
import math

import pytest

from learnability.reports.costs import Cost, costs_of
from learnability.reports.references import BIBTEX

ALGORITHMS = [
    "kernel or random features",
    "one giant step",
    "T giant steps",
    "one-pass SGD",
    "SGD with repetition",
    "message passing",
    "CSQ lower bound",
    "SQ and low-degree bound",
]


def scalings(**arguments: object) -> dict[str, tuple[float | None, int]]:
    defaults = {"information": 1, "generative": 1, "leap": 1, "alpha_c": 0.0, "grand_orders": [1]}
    found = costs_of(**{**defaults, **arguments})  # type: ignore[arg-type]
    assert [cost.algorithm for cost in found] == ALGORITHMS
    assert all(cost.reference in BIBTEX for cost in found)
    return {cost.algorithm: (cost.exponent, cost.log_power) for cost in found}


def test_everything_is_linear_for_a_line() -> None:
    assert set(scalings().values()) == {(1.0, 0)}


@pytest.mark.parametrize(
    ("leap", "expected"), [(1, (1.0, 0)), (2, (1.0, 1)), (3, (2.0, 0)), (5, (4.0, 0))]
)
def test_one_pass_gradient_descent(leap: int, expected: tuple[float, int]) -> None:
    # d, d log d, d^(leap - 1).
    assert scalings(leap=leap)["one-pass SGD"] == expected
    assert scalings(leap=leap)["T giant steps"] == (float(leap), 0)


def test_the_information_exponent_rules_what_stays_lazy() -> None:
    found = scalings(information=3, leap=3, generative=1)
    assert found["kernel or random features"] == found["one giant step"] == (3.0, 0)


@pytest.mark.parametrize(
    ("orders", "expected"),
    [([1], (1.0, 0)), ([2], (1.0, 1)), ([1, 2], (1.0, 1)), ([2, 3], (2.0, 0)), ([4], (3.0, 0))],
)
def test_repetition_follows_the_grand_staircase(
    orders: list[int], expected: tuple[float, int]
) -> None:
    assert scalings(grand_orders=orders)["SGD with repetition"] == expected


@pytest.mark.parametrize(("generative", "exponent"), [(1, 1.0), (2, 1.0), (3, 1.5), (4, 2.0)])
def test_message_passing_follows_the_generative_exponent(generative: int, exponent: float) -> None:
    assert scalings(generative=generative)["message passing"] == (exponent, 0)


@pytest.mark.parametrize(
    ("leap", "orders", "csq", "sq"),
    [(1, [1], 1.0, 1.0), (3, [2, 2], 1.5, 1.0), (4, [4], 2.0, 2.0), (5, [1, 3], 2.5, 1.5)],
)
def test_lower_bounds_halve_the_leap_of_each_staircase(
    leap: int, orders: list[int], csq: float, sq: float
) -> None:
    found = scalings(leap=leap, grand_orders=orders)
    assert found["CSQ lower bound"] == (csq, 0)
    assert found["SQ and low-degree bound"] == (sq, 0)


def test_no_algorithm_beats_its_bound() -> None:
    for information, leap, orders in ((1, 2, [1]), (3, 4, [2, 2]), (4, 4, [4]), (3, 5, [3])):
        found = scalings(
            information=information, leap=leap, generative=orders[0], grand_orders=orders
        )
        assert found["one-pass SGD"][0] >= found["CSQ lower bound"][0]  # type: ignore[operator]
        assert found["CSQ lower bound"][0] >= found["SQ and low-degree bound"][0]  # type: ignore[operator]
        assert found["SGD with repetition"][0] >= found["SQ and low-degree bound"][0]  # type: ignore[operator]


def test_the_constant_is_the_threshold_where_there_is_one() -> None:
    def constant(generative: int, alpha_c: float) -> float | None:
        found = costs_of(2, generative, 2, alpha_c, [generative])
        return next(cost.constant for cost in found if cost.algorithm == "message passing")

    assert constant(2, 0.75) == 0.75
    assert constant(1, 0.0) is None and constant(3, math.inf) is None


def test_what_is_unknown_stays_unknown() -> None:
    found = scalings(information=None, generative=None, leap=None, grand_orders=[2, None])
    assert all(exponent is None for exponent, _ in found.values())
    assert scalings(grand_orders=[])["SGD with repetition"] == (None, 0)


def test_a_cost_is_plain() -> None:
    cost = Cost("a", "b", 1.5, 0, None, "mei2022")
    assert cost.to_dict() == dataclasses.asdict(cost)
    assert list(cost.to_dict()) == [
        "algorithm",
        "learns",
        "exponent",
        "log_power",
        "constant",
        "reference",
        "bound",
    ]
