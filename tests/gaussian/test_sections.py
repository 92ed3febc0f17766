"""Links on affine pieces of their space, and the breaks found there."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LinkError
from learnability.gaussian.line_roots import roots_on_lines
from learnability.gaussian.sections import REACH, Section, basis_of, complement
from learnability.labels import Link

from tests.geometry import projector, random_rotation, turn

RNG = np.random.default_rng(1)


def whole(text: str, r: int | None = None) -> Section:
    return Section.whole(Link(text, r=r))


def on_line(function, breaks=None) -> Section:  # type: ignore[no-untyped-def]
    return Section.whole(Link(lambda z: function(z[..., 0]), r=1, breaks=breaks))


def test_the_whole_space_is_the_link() -> None:
    section = whole("z1*z2 + z3")
    points = RNG.standard_normal((7, 3))
    np.testing.assert_array_equal(section(points), section.link(points))
    assert section.m == 3


def test_a_turned_frame() -> None:
    Q = random_rotation(3, 2)
    section = whole("z1*z2 + z3").inside(Q)
    points = RNG.standard_normal((7, 3))
    np.testing.assert_allclose(section(points), section.link(points @ Q), atol=1e-14)


def test_fixing_directions_leaves_the_rest() -> None:
    frame = np.array([[1.0, 1.0, 0.0]]) / math.sqrt(2)
    section = whole("z1 - 2*z2 + z3**2").fix(frame, [0.7])
    assert section.m == 2
    rest = complement(frame, 3)
    s = RNG.standard_normal((5, 2))
    np.testing.assert_allclose(section(s), section.link(s @ rest + 0.7 * frame[0]), atol=1e-14)
    np.testing.assert_allclose(section.A.T @ section.b, 0, atol=1e-14)
    again = section.fix(np.array([[0.0, 1.0]]), [-1.1])
    assert again.m == 1
    t = RNG.standard_normal((5, 1))
    both = np.column_stack([t[:, 0], np.full(5, -1.1)])
    np.testing.assert_allclose(again(t), section(both), atol=1e-14)


def test_values_that_are_not_finite_end_in_a_sentence() -> None:
    with pytest.raises(LinkError, match=r"not finite at z = \[0\.0\].*nine standard deviations\.$"):
        whole("1/z")(np.zeros((1, 1)))


@pytest.mark.parametrize("r", [2, 3, 5])
def test_complements_are_orthonormal_and_complete(r: int) -> None:
    for k in range(r + 1):
        frame = random_rotation(r, r)[:k]
        rest = complement(frame, r)
        assert rest.shape == (r - k, r)
        both = np.vstack([frame, rest])
        np.testing.assert_allclose(both @ both.T, np.eye(r), atol=1e-13)


def test_axes_are_completed_by_axes() -> None:
    np.testing.assert_array_equal(complement(np.eye(4)[[2]], 4), np.eye(4)[[0, 1, 3]])
    np.testing.assert_array_equal(complement(np.zeros((0, 3)), 3), np.eye(3))


def test_a_basis_spans_its_projector() -> None:
    rows = random_rotation(4, 8)[:2]
    np.testing.assert_allclose(projector(basis_of(rows.T @ rows, 2)), rows.T @ rows, atol=1e-13)


@pytest.mark.parametrize("text", ["z**3 - z", "exp(-z**2/2)", "abs(z - 0.3)", "sin(2*z)*z"])
def test_the_slope_is_the_derivative(text: str) -> None:
    section = whole(text)
    t = np.array([-2.2, -0.4, 0.1, 1.7])
    h = 1e-6
    difference = (section((t + h)[:, None]) - section((t - h)[:, None])) / (2 * h)
    np.testing.assert_allclose(section.slope(t), difference, atol=1e-6)
    by_function = on_line(lambda x: np.asarray(Link(text)(x[..., None])))
    np.testing.assert_allclose(by_function.slope(t), difference, rtol=1e-6, atol=1e-6)


def test_the_slope_along_a_turned_line() -> None:
    line = whole("z1**2*z2").inside(np.array([[0.6, 0.8]]))
    t = np.array([-1.0, 0.5, 2.0])
    np.testing.assert_allclose(line.slope(t), 3 * t**2 * 0.36 * 0.8, rtol=1e-12)


# ---- breaks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("z**2", []),
        ("sign(z)", [0.0]),
        ("abs(z - 0.5) + relu(z + 2)", [-2.0, 0.5]),
        ("sign(z**2 - 2)", [-math.sqrt(2), math.sqrt(2)]),
        ("where(0.5 < abs(z) < 1.5, 1, 0)", [-1.5, -0.5, 0.0, 0.5, 1.5]),
        ("max(z, 1)", [1.0]),
        ("sign(z - 30)", []),
    ],
)
def test_break_points_of_a_formula(text: str, expected: list[float]) -> None:
    found = whole(text).breakpoints
    # Every jump and kink is found; a point more, where nothing breaks, does no harm.
    assert all(np.abs(found - x).min() < 1e-9 for x in expected)
    assert len(found) == len(expected)


def test_sign_of_cosine_breaks_at_every_odd_multiple() -> None:
    found = whole("sign(cos(z))").breakpoints
    np.testing.assert_allclose(found, (np.arange(-3, 3) + 0.5) * math.pi, atol=1e-10)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: np.sign(x - 0.3), [0.3]),
        (lambda x: np.abs(x + 0.7), [-0.7]),
        (lambda x: np.where(x > 1.25, x**2, 0.0), [1.25]),
        (lambda x: np.maximum(np.sin(x), 0.0), [k * math.pi for k in range(-3, 4)]),
        (lambda x: np.exp(-(x**2)), []),
        (lambda x: np.tanh(5 * x), []),
        (lambda x: x**3 - 3 * x, []),
    ],
    ids=["jump", "kink", "one-sided", "several kinks", "smooth", "steep", "polynomial"],
)
def test_breaks_that_nobody_declared_are_found(function, expected) -> None:  # type: ignore[no-untyped-def]
    found = on_line(function).breakpoints
    assert len(found) == len(expected)
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_declared_breaks_are_taken_as_they_are() -> None:
    assert on_line(np.abs, breaks=[0]).breakpoints == pytest.approx([0.0], abs=1e-12)
    assert len(on_line(np.abs, breaks=[]).breakpoints) == 0


def test_planes_of_a_formula() -> None:
    assert whole("z1*z2").planes == ()
    planes = whole("sign(z1) + abs(z2 - 1)*relu(z1 - 2)").planes
    assert planes is not None and len(planes) == 2
    by_axis = {int(np.argmax(direction)): positions for direction, positions in planes}
    np.testing.assert_allclose(by_axis[0], [0, 2], atol=1e-10)
    np.testing.assert_allclose(by_axis[1], [1], atol=1e-10)


def test_planes_of_a_turned_link() -> None:
    Q = turn(0.4)
    planes = Section.whole(Link("sign(z1*z2)").rotate(Q)).planes
    assert planes is not None
    directions = np.array([direction for direction, _ in planes])
    np.testing.assert_allclose(np.abs(directions @ Q.T), np.eye(2), atol=1e-8)


def test_curved_and_unknown_breaks_are_no_planes() -> None:
    assert whole("sign(z1**2 + z2**2 - 1)").planes is None
    assert Section.whole(Link(lambda z: np.sign((z**2).sum(-1) - 1), r=2)).planes is None


def test_a_function_shows_the_planes_that_nobody_declared() -> None:
    planes = Section.whole(Link(lambda z: np.sign(z[..., 0] * (z[..., 1] - 0.5)), r=2)).planes
    assert planes is not None
    found = {tuple(np.round(np.append(*plane), 12) + 0.0) for plane in planes}
    assert found == {(1.0, 0.0, 0.0), (0.0, 1.0, 0.5)}


def test_a_quadratic_form_that_vanishes_on_planes() -> None:
    planes = whole("sign(z1**2 - z2**2)").planes
    assert planes is not None
    for direction, positions in planes:
        np.testing.assert_allclose(np.abs(direction), np.sqrt(0.5), atol=1e-12)
        np.testing.assert_allclose(positions, [0.0], atol=1e-12)


def test_roots_on_lines() -> None:
    origins = np.array([[x, 0.0] for x in (-2.0, -0.5, 0.0, 0.9)])
    roots = roots_on_lines(lambda p: (p**2).sum(axis=-1) - 1, origins, np.array([0.0, 1.0]))
    assert roots.shape == (4, 2)
    for origin, found in zip(origins, roots, strict=True):
        height = 1 - origin[0] ** 2
        expected = [-math.sqrt(height), math.sqrt(height)] if height > 0 else [math.inf] * 2
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_lines_without_roots() -> None:
    roots = roots_on_lines(lambda p: p[..., 0] ** 2 + 1, np.zeros((3, 2)), np.array([1.0, 0.0]))
    assert roots.shape == (3, 0)
    far = roots_on_lines(lambda p: p[..., 0] - 2 * REACH, np.zeros((1, 1)), np.ones(1))
    assert far.shape == (1, 0)


def test_a_link_that_overflows_far_out_is_told_so() -> None:
    with pytest.raises(LinkError, match=r"not finite at z = \[-37.*tails are too heavy"):
        whole("exp(z1*z2)")(np.array([[-37.0, -37.0]]))
