"""Sections that differ by a map of the label share their moments; others do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from learnability import Channel, Link
from learnability.gaussian.sections import Section
from learnability.labels._like_sections import first_alike

POINTS = (-1.3, -0.2, 0.4, 2.0)


def alike(source: str | Callable[..., object], scales: bool) -> list[int]:
    link = Link(source, r=2)
    sections = [Section.whole(link).fix(np.array([[1.0, 0.0]]), np.array([u])) for u in POINTS]
    return numbers(sections, scales)


def numbers(sections: list[Section], scales: bool) -> list[int]:
    return [number for number, _ in first_alike(sections, scales)]


@pytest.mark.parametrize(
    ("text", "shifts", "scales"),
    [
        ("floor(z1) + z2**2", [0, 0, 0, 0], [0, 0, 0, 0]),
        ("tanh(z1)*abs(z2) + z1", [0, 1, 2, 3], [0, 0, 0, 0]),
        ("sign(z2 - 0.001*z1)", [0, 1, 2, 3], [0, 1, 2, 3]),
        ("relu(z1)*z2", [0, 0, 2, 3], [0, 0, 2, 2]),
        ("exp(z1*z2)", [0, 1, 2, 3], [0, 1, 2, 3]),
        ("z2**2 + z1*z2**3/1000", [0, 1, 2, 3], [0, 1, 2, 3]),
        ("sign(z2 - 0.1*z1)*exp(z2)", [0, 1, 2, 3], [0, 1, 2, 3]),
    ],
)
def test_which_sections_are_alike(text: str, shifts: list[int], scales: list[int]) -> None:
    assert alike(text, False) == shifts
    assert alike(text, True) == scales


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max(sign(z1) + 0.5*sign(z2*z3), xi)", [0, 0, 2, 2]),
        ("sign(z1)*abs(z2)*(z3 + xi)", [0, 0, 0, 0]),
        ("z1 + abs(z2 + xi)*z3", [0, 0, 0, 0]),
        ("abs(z1*z2) + z3", [0, 1, 2, 3]),
        ("bernoulli(sigmoid(sign(z1) + z2*z3))", [0, 1, 2, 3]),
    ],
)
def test_sections_of_more_coordinates_and_of_laws(text: str, expected: list[int]) -> None:
    link = Link(text)
    known = np.array([[1.0, 0.0, 0.0]])
    sections = [Section.whole(link).fix(known, np.array([u])) for u in POINTS]
    assert numbers(sections, True) == expected


def test_functions_are_compared_too() -> None:
    assert alike(lambda z: z[..., 0] * np.abs(z[..., 1]), True) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("sign(z1 + z2)", [1, 1, -1]),
        ("exp(z2 - 0.3*z1)*sign(z2 - z1)", None),
        ("z1 + abs(z2 - z1)", [1, 1, -1]),
    ],
)
def test_reflected_sections_are_alike(text: str, signs: list[int] | None) -> None:
    points = (-0.7, -0.7, 0.7)
    known = np.array([[1.0, 0.0]])
    sections = [Section.whole(Link(text, r=2)).fix(known, np.array([u])) for u in points]
    found = first_alike(sections, True)
    assert [number for number, _ in found] == ([0, 0, 0] if signs else [0, 0, 2])
    if signs:
        assert [int(flip[0]) for _, flip in found] == signs


@pytest.mark.parametrize(
    ("text", "noise"),
    [
        ("tanh(z1)*abs(z2) + z1", 0.0),
        ("z1 + z2**2", 0.3),
        ("sign(z1 + z2*z3)", 0.0),
        ("sign(z1 + z2 + z2*z3)", 0.0),
        ("relu(z1)*z2", 0.0),
    ],
)
def test_moments_are_those_of_all_sections(
    text: str, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = Channel(text, noise)
    known = np.eye(channel.link.r)[:1]
    ours = Channel(text, noise).conditional_moments([2], known)[2]
    monkeypatch.setattr(
        "learnability.labels.conditional.first_alike",
        lambda s, scales: [(k, np.ones(part.m)) for k, part in enumerate(s)],
    )
    each = Channel(text, noise).conditional_moments([2], known)[2]
    np.testing.assert_allclose(ours.matrix, each.matrix, rtol=1e-10)
