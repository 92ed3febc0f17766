"""What the label tells about the coordinates: exact cases, methods against each other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.gaussian.hermite_products import multi_indices
from learnability.gaussian.sections import Section
from learnability.labels import Channel, ConditionalMoments, Link
from learnability.labels._regressed_moments import regressed_moments
from learnability.labels.conditional import (
    _invariant_basis,
    conditional_moments,
    product_rotation,
    unconditional_moments,
)
from learnability.theory.subspaces import threshold

from tests.geometry import random_rotation, turn
from tests.reference_values import BUMP, WINDOW


def moments(
    text: str, orders: list[int], noise: float = 0.0, known: object = None
) -> dict[int, ConditionalMoments]:
    return Channel(Link(text), noise).conditional_moments(orders, known)  # type: ignore[arg-type]


# ---- exact cases


@pytest.mark.parametrize(
    ("text", "method", "first", "second"),
    [
        ("z", "level sets", 1.0, 1.0),
        ("sign(z)", "level sets", 2 / math.pi, 0.0),
        ("abs(z)", "level sets", 0.0, 1.0),
        ("relu(z)", "level sets", 0.5 + 1 / math.pi, 0.5),
    ],
)
def test_one_variable(text: str, method: str, first: float, second: float) -> None:
    found = moments(text, [1, 2])
    for k, exact in ((1, first), (2, second)):
        assert found[k].order == k
        assert float(found[k].matrix[0, 0]) == pytest.approx(exact, abs=1e-10)
        assert found[k].method in (method, "symmetry")
        assert found[k].power[0] == pytest.approx(math.factorial(k) * exact, abs=1e-9)
        assert found[k].power[1] < 1e-8


def entry(matrix: np.ndarray, m: int, a: tuple[int, ...], b: tuple[int, ...]) -> float:
    place = {tuple(beta): j for j, beta in enumerate(multi_indices(m, sum(a)).tolist())}
    return float(matrix[place[a], place[b]])


def test_two_labels_of_two_variables() -> None:
    found = moments("sign(z1*z2)", [1, 2, 3, 4])
    assert found[1].method == found[3].method == "symmetry"
    assert found[2].method == found[4].method == "cells"
    exact = np.zeros((3, 3))
    exact[1, 1] = 4 / math.pi**2  # z1 z2, the middle one
    np.testing.assert_allclose(found[2].matrix, exact, atol=1e-12)
    # He3(z1) z2 / sqrt(6): E[s He3(z1) z2] = -2/pi.
    assert entry(found[4].matrix, 2, (3, 1), (1, 3)) == pytest.approx(4 / math.pi**2 / 6, abs=1e-12)


def test_a_parity_shows_at_its_own_order() -> None:
    found = moments("sign(z1*z2*z3)", [1, 2, 3])
    for k in (1, 2):
        assert found[k].power == pytest.approx((0.0, 0.0), abs=1e-12)
    value, error = found[3].power
    assert value == pytest.approx(math.factorial(3) * (2 / math.pi) ** 3, abs=1e-9)
    assert error < 1e-9
    assert found[3].method == "cells"


def test_a_step_of_two_directions() -> None:
    # 1[z1 > 0, z2 > 0]: E[z; y = 1] = phi(0) / 2 (1, 1), mass 1/4.
    found = moments("step(z1)*step(z2)", [1])[1]
    size = (1 / math.sqrt(2 * math.pi) / 2) ** 2 / (0.25 * 0.75)
    np.testing.assert_allclose(found.matrix, np.full((2, 2), size), atol=1e-10)
    assert found.method == "cells"


def test_curved_cells() -> None:
    found = moments("sign(z1**2 + z2**2 - 1)", [2])[2]
    p = math.exp(-0.5)
    a = (0.5 * p) ** 2 / (p * (1 - p)) / 2  # of (z1^2 - 1) / sqrt(2)
    np.testing.assert_allclose(found.matrix, a * np.outer([1, 0, 1], [1, 0, 1]), atol=1e-9)


@pytest.mark.parametrize("noise", [0.05, 0.5, 5.0])
def test_noise_on_two_labels(noise: float) -> None:
    # Given y the sign is +1 with mean tanh(y / noise).
    x, w = np.polynomial.hermite_e.hermegauss(180)
    y = 1 + math.sqrt(noise) * x
    known = float(w @ np.tanh(y / noise) ** 2 / w.sum())
    found = moments("sign(z1*z2)", [2], noise)[2]
    assert found.method == "cells"
    assert found.matrix[1, 1] == pytest.approx(4 / math.pi**2 * known, rel=1e-6)


@pytest.mark.parametrize(("text", "r"), [("sign(z1*z2)", 2), ("sign(z1) + sign(z2)", 2)])
def test_turning_a_link_turns_its_moments(text: str, r: int) -> None:
    Q = turn(0.6)
    link = Link(text)
    for k in (1, 2):
        base = Channel(link).conditional_moments([k])[k].matrix
        turned = Channel(link.rotate(Q)).conditional_moments([k])[k].matrix
        R = product_rotation(Q.T, k)
        np.testing.assert_allclose(turned, R @ base @ R.T, atol=1e-8)


# ---- given known directions


@pytest.mark.parametrize(
    ("text", "known", "first", "second", "method"),
    [
        ("z1*z2", [[1, 0]], 1.0, 1.0, "level sets"),
        ("z1 + abs(z2)", [[1, 0]], 0.0, 1.0, "level sets"),
        ("z1 + abs(z2)", [[0, 1]], 1.0, 1.0, "level sets"),
        ("abs(z1) + sign(z2)", [[1, 0]], 2 / math.pi, 0.0, "level sets"),
    ],
)
def test_one_variable_left(
    text: str, known: list[list[float]], first: float, second: float, method: str
) -> None:
    found = moments(text, [1, 2], known=known)
    for k, exact in ((1, first), (2, second)):
        assert found[k].matrix.shape == (1, 1)
        assert float(found[k].matrix[0, 0]) == pytest.approx(exact, abs=1e-8)
        assert found[k].method in (method, "symmetry")


def test_a_parity_given_one_of_its_directions_is_a_parity() -> None:
    found = moments("sign(z1*z2*z3)", [1, 2], known=[[0, 1, 0]])
    assert found[1].power[0] == pytest.approx(0, abs=1e-12)
    assert entry(found[2].matrix, 2, (1, 1), (1, 1)) == pytest.approx(4 / math.pi**2, abs=1e-10)
    two = moments("sign(z1*z2*z3)", [1], known=[[0, 1, 0], [0, 0, 1]])
    assert float(two[1].matrix[0, 0]) == pytest.approx(2 / math.pi, abs=1e-10)


def test_rounding_is_not_information() -> None:
    # Given z1, two labels are left; in a turned frame each is a handful of neighbouring floats.
    Q = random_rotation(3, 0)
    channel = Channel(Link("z1**2 + sign(z1*z2*z3)").rotate(Q))
    found = channel.conditional_moments([1, 2], known=Q[:1])
    assert found[1].power[0] == pytest.approx(0, abs=1e-6)
    assert np.linalg.eigvalsh(found[2].matrix) == pytest.approx([0, 0, 4 / math.pi**2], abs=1e-4)


def test_given_a_slanted_direction() -> None:
    # z1 + z2 is known: the label z1^2 - z2^2 is its product with z1 - z2, which it then tells.
    found = moments("z1**2 - z2**2", [1, 2], known=np.array([[1.0, 1.0]]) / math.sqrt(2))
    assert float(found[1].matrix[0, 0]) == pytest.approx(1.0, abs=1e-6)
    assert float(found[2].matrix[0, 0]) == pytest.approx(1.0, abs=1e-6)


def test_a_threshold_given_a_direction_is_within_its_error() -> None:
    # sign(z1 + z2^2): for z1 = -u < 0 the label is |z2| > sqrt(u).
    from scipy.integrate import quad
    from scipy.stats import norm

    def integrand(u: float) -> float:
        c = math.sqrt(u)
        p = 2 * norm.sf(c)
        return float((2 * c * norm.pdf(c)) ** 2 / (p * (1 - p)) * norm.pdf(u)) if u else 0.0

    exact = quad(integrand, 0, 12, epsabs=1e-12, limit=200)[0] / 2
    found = moments("sign(z1 + z2**2)", [2], known=[[1, 0]])[2]
    value, error = found.functional(lambda m: float(m[0, 0]))
    assert abs(value - exact) <= 3 * error


@pytest.mark.parametrize("count", [4, 5])
def test_at_most_three_known_directions(count: int) -> None:
    with pytest.raises(LearnabilityError, match="at most 3"):
        moments("z1 + z6", [1], known=np.eye(6)[:count])


# ---- the sampling method against the exact ones


@pytest.mark.parametrize(
    ("text", "noise"),
    [
        ("abs(z)", 0.0), ("He4(z)", 0.0), ("relu(z)", 0.0), ("He3(z)", 0.0), ("abs(z)", 0.1),
        ("sign(abs(z) - 1)", 0.0), (BUMP, 0.0), (WINDOW, 0.0), ("cos(2*z)", 0.0),
        ("sign(z1*z2)", 0.0), ("sign(z1*z2)", 0.5), ("step(z1)*step(z2)", 0.0),
        ("sign(z1**2 + z2**2 - 1)", 0.0),
    ],
)  # fmt: skip
def test_regression_agrees_with_level_sets_and_cells(text: str, noise: float) -> None:
    section = Section.whole(Link(text))
    exact = conditional_moments(section, noise, [1, 2])
    orders = [k for k in (1, 2) if exact[k].method != "symmetry"]
    invariant = {k: _invariant_basis(section, k) for k in orders}
    sampled = regressed_moments(section, noise, orders, invariant, 18)
    for k in orders:
        assert sampled[k].method == "regression" and exact[k].method in ("level sets", "cells")
        value, error = sampled[k].power
        target = exact[k].power[0]
        bias = 1e-3 * math.factorial(k)  # With few samples a fold is seen through wide segments.
        assert abs(value - target) <= 4 * error + bias, (value, target, error)
        if target < 1e-9:  # Nothing there: the sampled value is centred at zero.
            assert abs(value) <= 5 * error


# ---- structure


@pytest.mark.parametrize(("m", "order"), [(1, 3), (2, 2), (3, 2), (3, 3), (4, 2)])
def test_products_turn_orthogonally(m: int, order: int) -> None:
    from learnability.gaussian.hermite_products import hermite_products

    Q = random_rotation(m, m + order)
    R = product_rotation(Q, order)
    np.testing.assert_allclose(R @ R.T, np.eye(len(R)), atol=1e-12)
    z = np.random.default_rng(0).standard_normal((6, m))
    np.testing.assert_allclose(
        hermite_products(z @ Q.T, order), R @ hermite_products(z, order), atol=1e-11
    )


@pytest.mark.parametrize(
    ("text", "order", "count"),
    [("z1*z2", 1, 0), ("z1*z2", 2, 2), ("z1 + z2", 1, 1), ("abs(z1) + z2", 1, 1), ("z1", 1, 1)],
)
def test_symmetries_leave_few_products(text: str, order: int, count: int) -> None:
    basis = _invariant_basis(Section.whole(Link(text)), order)
    assert basis.shape[1] == count
    np.testing.assert_allclose(basis.T @ basis, np.eye(count), atol=1e-12)


def test_functionals_carry_errors() -> None:
    matrix = np.diag([1.0, 2.0])
    step = moments("step(z1)*step(z2)", [1])[1]
    exact = replace(step, matrix=matrix, rules=(1.01 * matrix,))
    value, error = exact.functional(lambda m: float(np.trace(m)))
    assert value == 3.0 and error == pytest.approx(0.03)
    assert exact.power == (value, error)
    assert exact.entry_error == pytest.approx(0.02)
    by_symmetry = moments("sign(z1*z2)", [1])[1]
    assert by_symmetry.power == (0.0, 0.0) and by_symmetry.entry_error == 0.0


def test_a_quadric_in_four_directions_has_an_honest_error() -> None:
    # u = z1^2 + z2^2 and v = z3^2 + z4^2 are exponential: given u - v > 1, E u = 4 and E v = 1.
    p = 0.5 * math.exp(-0.5)
    link = Link("sign(z1**2 + z2**2 - z3**2 - z4**2 - 1)")
    found = conditional_moments(Section.whole(link), 0.0, [2], samples=19)[2]
    value, error, opened = threshold(found, 4)
    assert abs(value - p / (1 - p)) < 4 * error < 0.05
    assert len(opened) == 2


@pytest.mark.parametrize("b", [0.6, -0.6])
def test_labels_that_are_equal_but_for_rounding_tell_nothing(b: float) -> None:
    """Given z1 + z3 and z2 + z4 the label is z1, z3, their sum, whose rounding knows both, or 0."""
    s = math.sqrt(0.5)
    known = np.array([[s, 0, s, 0], [0, s, 0, s]])
    link = Link("z1*step(z2) + z3*step(z4)")
    section = Section.whole(link).fix(known, np.array([0.5, b]))
    found = unconditional_moments(section, 0.0, [2], 16, place=0)[2]
    assert found.method == "regression"
    # The square of z1 - z3 is known unless |z2 - z4| is below |z2 + z4|.
    assert found.matrix[0, 0] == pytest.approx(math.erfc(0.6 * s), abs=5e-3)
