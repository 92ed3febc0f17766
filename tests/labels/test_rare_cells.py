"""Cells that samples never meet: what is said of them is exact, refused or undecided."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError, hardness
from learnability.expressions.crossings import points_beside_breaks
from learnability.gaussian.line_roots import roots_together
from learnability.gaussian.sections import Section
from learnability.labels import Link
from learnability.labels.cells import few_values

NEEDLE = "(z1 - 3)**2 + (z2 - 0.3)**2 - 1e-4"


@pytest.mark.parametrize(
    "text",
    [
        f"sign({NEEDLE})",
        "step(z1 - 2)*step(2.0001 - z1)",
        "step(z1 - 2)*step(2.0001 - z1)*step(z2 - 1)*step(1.0001 - z2)",
        "sign((z1 - 3)**2 + (z2 + 1)**2 + z3**2 - 1e-3)",
    ],
)
def test_every_label_is_found_beside_the_breaks(text: str) -> None:
    link = Link(text)
    assert link.breaks is not None
    points = points_beside_breaks(link.breaks, link.r)
    assert set(np.asarray(link(points))) == set(link.values or ())
    assert few_values(Section.whole(link)) is not None
    assert len(link.symmetries) == 1 or link.r == 3  # Only z3 may change its sign.


def test_two_roots_around_a_kink_are_found_through_it() -> None:
    def outer(s: np.ndarray) -> np.ndarray:
        return np.abs(s[..., 0] ** 2 + s[..., 1] ** 2 - 4) - 1e-3

    def inner(s: np.ndarray) -> np.ndarray:
        return s[..., 0] ** 2 + s[..., 1] ** 2 - 4

    x = np.array([0.0, 1.3, 1.9999, 2.0001])
    roots = roots_together([outer, inner], np.column_stack([x, 0 * x]), np.array([0.0, 1.0]))[0]
    for row, at in zip(roots, x, strict=True):
        squares = np.array([4.001, 3.999]) - at**2
        expected = np.concatenate([s * np.sqrt(squares[squares > 0]) for s in (-1, 1)])
        np.testing.assert_allclose(row[np.isfinite(row)], np.sort(expected), atol=1e-9)


def test_a_thin_shell_has_its_exact_threshold() -> None:
    # The cell has mass p, and E[z z^T - I] = I on it.
    p = 2 * math.exp(-2) * math.sinh(5e-4)
    report = hardness("sign(abs(z1**2 + z2**2 - 4) - 1e-3)")
    assert report.kind == "easy"
    assert report.alpha_c is not None and report.alpha_c_error is not None
    assert abs(report.alpha_c - (1 - p) / p) < 3 * report.alpha_c_error < 1


def test_a_needle_is_trivial_along_its_centre() -> None:
    report = hardness(f"sign({NEEDLE})")
    assert report.kind == "trivial"
    assert report.information_exponent == 1
    centre = np.array([3, 0.3]) / math.hypot(3, 0.3)
    assert abs(abs(report.staircase[0].directions[0] @ centre) - 1) < 1e-6


@pytest.mark.parametrize(
    "text", ["step(z - 2)*step(2.0001 - z)", "sign((z - 3)**2 - 1e-8)", "sign(abs(z - 2) - 1e-5)"]
)
def test_a_narrow_window_is_trivial(text: str) -> None:
    assert hardness(text).kind == "trivial"


@pytest.mark.parametrize(
    "text",
    [
        f"z1**2 + step(-({NEEDLE}))",
        f"bernoulli(sigmoid(-1e5*({NEEDLE})))",
        "sign(z1**2 + z2**2 + z3**2 + z4**2 - 40)",
        f"tanh(z1) + exp(-1e5*({NEEDLE} + 1e-4))",
    ],
)
def test_what_no_integral_meets_is_refused(text: str) -> None:
    with pytest.raises(LearnabilityError, match="so small that"):
        hardness(text)


def test_laws_are_laws_in_rare_cells_too() -> None:
    assert Link(f"flip(sign(z1), 0.4*step(-({NEEDLE})))").law is not None
    assert Link(f"sign({NEEDLE} + 1e-5*xi)").law is not None
    with pytest.raises(LearnabilityError, match="must lie between 0 and 1"):
        Link(f"flip(sign(z1), 2*step(-({NEEDLE})))")


def test_a_function_that_looks_constant_is_undecided() -> None:
    report = hardness(Link(lambda z: 1.0 * (np.abs(z[..., 0] - 2) < 1e-6), r=2))
    assert report.alpha_c is None
    assert "kind" in report.undecided
