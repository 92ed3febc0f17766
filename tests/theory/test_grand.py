"""Grand staircases of links whose labels are cheap."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import MultiIndex
from learnability.labels import Link
from learnability.theory import grand_staircase
from learnability.theory.grand import _EasySignal

from tests.geometry import axes
from tests.reports.shared import opened

PI = math.pi


@pytest.mark.parametrize(
    ("text", "kinds", "alphas", "orders", "spans"),
    [
        ("z", ["trivial"], [0.0], [1], [np.eye(1)]),
        ("abs(z)", ["easy"], [0.5], [2], [np.eye(1)]),
        ("z**2*exp(-z**2)", ["hard"], [math.inf], [4], [np.eye(1)]),
        (
            "sign(z1) + 3*sign(z2*z3)",
            ["trivial", "easy"],
            [0.0, PI**2 / 4],
            [1, 2],
            [axes(3, 1), axes(3, 2, 3)],
        ),
        ("sign(z1*z2) + 3*sign(z2*z3)", ["easy"], [PI**2 / 8], [2], [np.eye(3)]),
    ],
)
def test_grand_staircases(text, kinds, alphas, orders, spans) -> None:  # type: ignore[no-untyped-def]
    found = grand_staircase(Link(text))
    assert found.doubts == ()
    assert [s.kind for s in found.steps] == kinds
    assert [s.order for s in found.steps] == orders
    np.testing.assert_allclose([s.alpha for s in found.steps], alphas, rtol=1e-8)
    for span, expected in zip(opened(found.steps), spans, strict=True):
        np.testing.assert_allclose(span, expected, atol=1e-7)


def test_known_directions_may_show_the_next_ones() -> None:
    # Both labels show the same z2 on average; given z1 they are the sign of z2 + 1/2.
    found = grand_staircase(Link("sign(z1*(z2 + 0.5))"))
    assert [s.kind for s in found.steps] == ["trivial", "trivial"]
    np.testing.assert_allclose(opened(found.steps), [axes(2, 1), axes(2, 2)], atol=1e-7)


def rays(count: int) -> str:
    """The sign of cos(count angle), as a product of lines: it is its own turn by 2 pi / count."""
    angles = [math.pi * (k + 0.5) / count for k in range(count)]
    lines = (f"({math.cos(a)!r}*z1 + {math.sin(a)!r}*z2)" for a in angles)
    return f"sign({'*'.join(lines)})"


@pytest.mark.parametrize("count", [3, 5, 8])
def test_the_first_order_of_rays_is_their_number(count: int) -> None:
    found = grand_staircase(Link(rays(count)))
    assert found.doubts == ()
    assert [(s.kind, s.order) for s in found.steps] == [("hard", count)]
    np.testing.assert_allclose(opened(found.steps)[0], np.eye(2), atol=1e-7)


def test_an_order_that_is_too_high_is_a_doubt() -> None:
    """Orders up to eight are looked at, and nine rays show at order nine."""
    found = grand_staircase(Link(rays(9)))
    assert [s.order for s in found.steps] == [None]
    assert len(found.doubts) == 1 and "the order at which" in found.doubts[0]


def test_a_signal_is_there_above_ten_errors_and_may_be_above_five() -> None:
    nothing = np.zeros((0, 1))

    def signal(value: float, error: float = 1e-5, method: str = "cells", floor: float = 0.0):  # type: ignore[no-untyped-def]
        return _EasySignal(value, error, nothing, method, floor)

    assert signal(1.05e-4).is_there and not signal(0.95e-4).is_there
    assert not signal(1.05e-4, floor=1.1e-4).is_there and signal(1.2e-4, floor=1.1e-4).is_there
    assert signal(0.55e-4).may_be_there and not signal(0.45e-4).may_be_there
    assert signal(0.0, error=1.1e-3).may_be_there and signal(0.0, method="regression").may_be_there
    assert signal(2e-4).bound == pytest.approx(2.5e-4)
    assert signal(-2e-4).bound == pytest.approx(0.5e-4)


def test_what_a_function_shows_is_as_exact_as_what_is_conditioned_on_it() -> None:
    """One of two labels shows one direction; its error of 6e-4 made the other one part of it."""
    steps = grand_staircase(Link(lambda z: np.sign(np.sin(2 * z[..., 0]) + z[..., 1]), r=2)).steps
    z = np.linspace(-9, 9, 2001)
    density = np.exp(-0.5 * (z**2 + np.sin(2 * z) ** 2))
    first = np.array([density @ (2 * np.cos(2 * z)), density.sum()])  # E[y z], by Stein's lemma.
    assert [s.kind for s in steps] == ["trivial", "trivial"]
    unit = first / np.linalg.norm(first)
    np.testing.assert_allclose(abs(steps[0].directions @ unit), 1.0, rtol=0, atol=1e-9)


def test_the_sign_of_what_is_known_does_not_matter() -> None:
    """Given z1 and y the modulus of z2 is known; where z1 < 0 its tails were lost (3e-7)."""
    step = grand_staircase(Link("z1*exp(-z2**2)")).steps[1]
    assert step.alpha == pytest.approx(0.5, abs=1e-9)


def test_a_later_step_of_a_label_cut_from_below() -> None:
    """Given z1 a label of max(sign(z2 z3) / 2 + sign(z1), xi) has t = E[sign(z2 z3) | y] with
    E[t^2] = (Phi(3/2) + Phi(-1/2)) / 2 = .620864, and the step opens at pi^2 / 4 over that."""
    found = grand_staircase(Link("max(0.5*sign(z2*z3) + sign(z1), xi)"))
    assert found.doubts == ()
    assert [s.kind for s in found.steps] == ["trivial", "easy"]
    later = found.steps[1]
    assert later.alpha == pytest.approx(3.9741335552, abs=3 * (later.alpha_error or 0.0))
    assert later.alpha == pytest.approx(3.9741335552, rel=5e-3)


def test_a_product_with_a_latent_variable_beside_a_known_direction() -> None:
    """Given z2 the label tells p = z1 xi, and E[z1^2 | p] = |p| K1(|p|) / K0(|p|)."""
    found = grand_staircase(Link("z1*xi + z2"))
    assert [s.kind for s in found.steps] == ["trivial", "easy"]
    assert found.steps[1].alpha == pytest.approx(1.4615451159, rel=1e-9)


@pytest.mark.parametrize("text", ["tanh(z1**2 + 0.7*z1*z2**2 + xi)", "exp(z1*z2 + 0.5*xi)/7"])
def test_outer_functions_of_noisy_labels_change_nothing(text: str) -> None:
    inner = text[text.index("(") + 1 : text.rindex(")")]
    plain = MultiIndex(inner)
    found, other = grand_staircase(Link(text)), grand_staircase(plain.link, plain.noise)
    assert [s.kind for s in found.steps] == [s.kind for s in other.steps]
    assert [s.alpha for s in found.steps] == [s.alpha for s in other.steps]
