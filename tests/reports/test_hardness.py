"""The hardness report as an object."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

import learnability
from learnability import Hardness, LearnabilityError, Link, MultiIndex, hardness
from learnability.reports.references import BIBTEX

from tests.geometry import axes
from tests.reports.shared import opened, report_on

NAMES = [
    "link", "r", "noise", "information_exponent", "generative_exponent", "leap", "kind", "alpha_c",
    "alpha_c_error", "relevant", "staircase", "csq_staircase", "floors", "costs", "notes",
    "undecided",
]  # fmt: skip
CHEAP = [
    "z",
    "abs(z)",
    "He3(z)",
    "z**2*exp(-z**2)",
    "sign(z1*z2)",
    "sign(z1) + 3*sign(abs(z2) - 1)",
    "4",
]


@pytest.mark.parametrize("text", CHEAP)
def test_plain_numbers(text: str) -> None:
    report = report_on(text)
    plain = report.to_dict()
    assert list(plain) == NAMES
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["alpha_c"] == (report.alpha_c if math.isfinite(report.alpha_c) else None)
    for step in [*plain["staircase"], *plain["csq_staircase"]]:
        assert {"directions", "kind", "alpha", "order"} <= set(step)
        rows = np.array(step["directions"])
        assert rows.shape[1] == plain["r"]
        np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-9)


@pytest.mark.parametrize("text", [t for t in CHEAP if t != "4"])
def test_the_parts_fit_together(text: str) -> None:
    report = report_on(text)
    first = report.staircase[0]
    assert (report.kind, report.alpha_c, report.generative_exponent) == (
        first.kind,
        first.alpha,
        first.order,
    )
    assert report.generative_exponent <= report.information_exponent
    assert report.leap == max(s.order for s in report.csq_staircase if s.order)
    assert report.csq_staircase[0].order == report.information_exponent
    assert {"trivial": 0.0, "hard": math.inf}.get(report.kind, report.alpha_c) == report.alpha_c
    for steps in (report.staircase, report.csq_staircase):
        total = sum(opened(steps), np.zeros((report.target.r,) * 2))
        np.testing.assert_allclose(total, report.relevant.T @ report.relevant, atol=1e-7)
    assert len(report.floors) == len(report.csq_staircase) + 1
    assert len(report.costs) == 8
    assert report.undecided == ()


def test_a_constant() -> None:
    report = hardness("4 + 0*z1")
    exponents = (report.information_exponent, report.generative_exponent, report.leap)
    assert exponents == (None, None, None)
    assert report.kind is None and report.alpha_c == math.inf
    assert report.staircase == report.csq_staircase == report.costs == ()
    assert report.notes == ("The label does not depend on z: there is nothing to learn.",)
    assert "constant" in str(report)


def test_a_label_whose_law_does_not_depend_on_z() -> None:
    report = hardness("sign(z)*xi")  # Normal labels, whatever z is.
    assert report.kind is None and report.alpha_c == math.inf
    assert report.notes == ("The label does not depend on z: there is nothing to learn.",)


def test_it_is_immutable() -> None:
    report = report_on("abs(z)")
    assert isinstance(report, Hardness)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.alpha_c = 0.1  # type: ignore[misc]


def test_irrelevant_directions_are_left_out() -> None:
    report = report_on("abs(z3)", r=3)
    np.testing.assert_allclose(opened(report.staircase), [axes(3, 3)], atol=1e-9)
    assert report.alpha_c == pytest.approx(0.5, abs=1e-9)
    assert any("1 of its 3 directions" in note for note in report.notes)


def test_what_it_accepts() -> None:
    same = [
        hardness("abs(z)", noise=0.1),
        hardness(Link("abs(z)"), noise=0.1),
        hardness(MultiIndex("abs(z)", noise=0.1)),
        learnability.hardness("abs(z)", noise=0.1),
    ]
    assert len({report.alpha_c for report in same}) == 1
    function = hardness(lambda z: np.abs(z[..., 0]), r=1, noise=0.1)
    assert function.alpha_c == pytest.approx(same[0].alpha_c, abs=1e-7)
    assert function.to_dict()["link"] is None
    assert hardness("abs(z1)", r=2).target.r == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"target": "z +"}, "z +"),
        ({"target": "import os"}, "import"),
        ({"target": "z", "noise": -1}, "`noise`"),
        ({"target": "z", "noise": float("nan")}, "`noise`"),
        ({"target": lambda z: z[..., 0]}, "`r`"),
        ({"target": "z1*z2", "r": 1}, "at least 2"),
        ({"target": MultiIndex("z"), "noise": 0.1}, "belong to the target"),
        ({"target": MultiIndex("z"), "r": 2}, "belong to the target"),
        ({"target": 3}, "int"),
        ({"target": "log(z)"}, "finite"),
    ],
)
def test_bad_input_ends_in_a_sentence(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(LearnabilityError) as caught:
        hardness(**arguments)  # type: ignore[arg-type]
    message = str(caught.value)
    assert words in message and "\n" not in message and message.endswith(".")


def test_citations() -> None:
    report = report_on("sign(z1) + 3*sign(abs(z2) - 1)")
    text = report.cite()
    for key in {cost.reference for cost in report.costs} | {"troiani2024", "damian2024"}:
        assert BIBTEX[key] in text
    assert text.count("@") == len({line for line in text.splitlines() if line.startswith("@")})


def test_steps_that_take_earlier_ones_as_known_say_so() -> None:
    note = "takes the earlier directions as known"
    assert any(note in n for n in report_on("sign(z1) + 3*sign(abs(z2) - 1)").notes)
    assert not any(note in n for n in report_on("sign(z1*z2)").notes)


def test_the_same_link_gives_the_same_report() -> None:
    assert hardness("sign(z1*z2)").to_dict() == hardness("sign(z2*z1)").to_dict() | {
        "link": "sign(z1*z2)"
    }


def test_what_is_not_given_is_said_of_what_is_not_given() -> None:
    """A narrow bump is no polynomial of z and xi, and its mean given z is one of z."""
    z = np.linspace(-9, 9, 200_001)
    law = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    mean = np.exp(-2000 * (0.5 * z - 0.6) ** 2 / 1.4) / np.sqrt(1.4)
    variance = law @ mean**2 - (law @ mean) ** 2
    told = hardness("exp(-2000*(0.5*z - 0.6 + 0.01*xi)**2)")
    assert told.information_exponent == 1 and told.floors[0][0] == pytest.approx(variance, rel=1e-6)
    assert not any("No information exponent" in note for note in told.notes)
    endless = hardness("exp(z**2)")
    assert endless.information_exponent is None
    assert any("No information exponent" in note for note in endless.notes)
