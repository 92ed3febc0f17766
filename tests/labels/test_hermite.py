"""Hermite tensors: closed forms, identities, zeros, visible subspaces."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnability import LearnabilityError
from learnability.labels import Link, expand
from learnability.labels.hermite import eigenspaces, rotate_tensor, symmetric_tensor

from tests.geometry import projector, random_rotation, spanned_by, turn

ROOT = math.sqrt(2 / math.pi)


# ---- closed forms


@pytest.mark.parametrize(
    ("text", "coefficients"),
    [
        ("sign(z)", [0, ROOT, 0, -ROOT, 0, 3 * ROOT, 0, -15 * ROOT]),
        ("relu(z)", [ROOT / 2, 0.5, ROOT / 2, 0, -ROOT / 2, 0, 1.5 * ROOT]),
        ("abs(z)", [ROOT, 0, ROOT, 0, -ROOT, 0, 3 * ROOT]),
        ("exp(z)", [math.exp(0.5)] * 7),
        ("exp(-z**2)", [3 ** (-0.5) * c for c in (1, 0, -2 / 3, 0, 4 / 3, 0, -40 / 9)]),
        ("sin(z)", [0, math.exp(-0.5), 0, -math.exp(-0.5), 0, math.exp(-0.5)]),
        ("cos(2*z)", [math.exp(-2) * c for c in (1, 0, -4, 0, 16, 0, -64)]),
        ("erf(z/sqrt(2))", [0, 1 / math.sqrt(math.pi), 0, -1 / (2 * math.sqrt(math.pi))]),
        ("He5(z) + 2*He2(z)", [0, 0, 4, 0, 0, 120, 0]),
        ("z**6", [15, 0, 90, 0, 360, 0, 720]),
        ("step(z - 1)", [0.15865525393145707, *[0.24197072451914337 * h for h in (1, 1, 0, -2)]]),
    ],
)
def test_closed_forms_in_one_variable(text: str, coefficients: list[float]) -> None:
    link = Link(text)
    for k, exact in enumerate(coefficients):
        scale = math.sqrt(math.factorial(k))
        assert float(link.hermite(k)) == pytest.approx(exact, abs=1e-11 * scale)


def test_tanh() -> None:
    assert float(Link("tanh(z)").hermite(1)) == pytest.approx(0.605706, abs=5e-7)


@pytest.mark.parametrize(
    ("text", "order", "entries"),
    [
        ("sign(z1*z2)", 2, {(0, 1): 2 / math.pi}),
        ("sign(z1*z2*z3)", 3, {(0, 1, 2): ROOT**3}),
        ("sign(z1*z2)", 4, {(0, 0, 0, 1): -2 / math.pi, (0, 1, 1, 1): -2 / math.pi}),
        ("z1 + abs(z2)", 2, {(1, 1): ROOT}),
        ("He2(z1)*z2", 3, {(0, 0, 1): 2.0}),
        ("max(z1, z2)", 1, {(0,): 0.5, (1,): 0.5}),
        ("abs(z1 + z2)", 2, dict.fromkeys([(0, 0), (0, 1), (1, 1)], 1 / math.sqrt(math.pi))),
        ("step(z1**2 + z2**2 - 1)", 2, dict.fromkeys([(0, 0), (1, 1)], 0.5 * math.exp(-0.5))),
        ("z1*z2*z3*z4", 4, {(0, 1, 2, 3): 1.0}),
        ("exp(z1 - z2)", 3, {i: math.e * (-1) ** sum(i) for i in np.ndindex(2, 2, 2)}),
    ],
)  # fmt: skip
def test_closed_forms_of_tensors(
    text: str, order: int, entries: dict[tuple[int, ...], float]
) -> None:
    found = np.asarray(Link(text).hermite(order))
    exact = np.zeros_like(found)
    for index in np.ndindex(*found.shape):
        exact[index] = entries.get(tuple(sorted(index)), 0.0)
    np.testing.assert_allclose(found, exact, atol=1e-9)


def test_normalisations() -> None:
    for text, k in (("exp(z)", 4), ("exp(z1*z2/4)", 4)):
        raw = np.asarray(Link(text).hermite(k))
        np.testing.assert_allclose(Link(text).hermite(k, "taylor"), raw / 24, rtol=1e-14)
        np.testing.assert_allclose(
            Link(text).hermite(k, normalisation="orthonormal"), raw / math.sqrt(24), rtol=1e-14
        )
    assert np.ndim(Link("z").hermite(1)) == 0
    assert np.shape(Link("z1*z2").hermite(0)) == ()
    assert np.shape(Link("z1*z2").hermite(3)) == (2, 2, 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, "physicist"), "raw, taylor, orthonormal"),
        ((-1,), "from 0"),
        ((1.0,), "from 0"),
        ((True,), "from 0"),
        ((40,), "entries"),
        ((200,), "at most order"),
    ],
)
def test_refusals(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(LearnabilityError) as caught:
        Link("z1*z2").hermite(*arguments)  # type: ignore[arg-type]
    message = str(caught.value)
    assert words in message and "\n" not in message and message.endswith(".")


def test_a_link_that_is_not_square_integrable_is_refused() -> None:
    with pytest.raises(LearnabilityError, match="square-integrable"):
        expand(Link("exp(z**2/3)"), 2)


# ---- identities

LINKS = (
    "tanh(z1) + z1*z2",
    "abs(z1)*z2",
    "sign(z1*z2) + relu(z1)",
    "exp(-z1**2 - z2**2/2)",
    "z1**3*z2 - z2**2",
)


@settings(max_examples=12)
@given(st.sampled_from(LINKS), st.floats(-3.1, 3.1), st.integers(1, 4))
def test_rotation_covariance(text: str, angle: float, order: int) -> None:
    Q = turn(angle)
    link = Link(text)
    turned = np.asarray(link.rotate(Q).hermite(order))
    # C_k of z -> g(Q z) is C_k of g with every index turned by the transpose of Q.
    np.testing.assert_allclose(
        turned, rotate_tensor(np.asarray(link.hermite(order)), Q.T), atol=2e-7
    )


@pytest.mark.parametrize("text", ["z1*z2*z3 + z1**2", "exp((z1 + z2)/4)*z3"])
def test_rotation_covariance_in_three_variables(text: str) -> None:
    Q = random_rotation(3, 5)
    link = Link(text)
    for k in (1, 2, 3):
        expected = rotate_tensor(np.asarray(link.hermite(k)), Q.T)
        np.testing.assert_allclose(link.rotate(Q).hermite(k), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "order", "tolerance"),
    [
        ("z1**3*z2 - z2**2", 4, 1e-12),
        ("He4(z) - 2*z", 4, 1e-12),
        ("exp(z/2)", 12, 1e-9),
        ("tanh(z)", 30, 1e-6),
        ("exp(-(z1**2 + z2**2)/4)", 16, 1e-6),
        ("sin(z1 + z2)", 14, 1e-3),
    ],
)
def test_parseval(text: str, order: int, tolerance: float) -> None:
    expansion = expand(Link(text), order)
    parts = sum(expansion.power(k) for k in range(order + 1))
    assert expansion.remainder == pytest.approx(expansion.energy - parts, abs=1e-12)
    assert 0 <= expansion.remainder <= tolerance * expansion.energy


@pytest.mark.parametrize("text", ["sign(z)", "abs(z1)*sign(z2)", "relu(z1 + z2)"])
def test_the_remainder_falls_and_stays_positive(text: str) -> None:
    left = [expand(Link(text), k).remainder for k in (2, 6, 10)]
    assert left[0] > left[1] > left[2] > 0
    assert expand(Link(text), 0).energy == pytest.approx({"sign(z)": 1}.get(text, 1.0), abs=1e-9)


def test_mean_and_variance() -> None:
    expansion = expand(Link("abs(z) + 3"), 0)
    assert expansion.mean == pytest.approx(3 + ROOT, abs=1e-12)
    assert expansion.variance == pytest.approx(1 - ROOT**2, abs=1e-11)
    assert expand(Link("5"), 2).variance == 0.0


@pytest.mark.parametrize("text", ["exp(z1)*z2", "tanh(z1 + z2)", "z1**3 - z1*z2**2"])
def test_stein(text: str) -> None:
    link = Link(text)
    gradient = [float(expand(g, 0).mean) for g in link.gradient()]
    np.testing.assert_allclose(link.hermite(1), gradient, atol=1e-9)


def test_linearity() -> None:
    a, b = Link("tanh(z1)*z2"), Link("abs(z1)")
    both = Link("2*tanh(z1)*z2 - 3*abs(z1)")
    for k in range(4):
        left = np.asarray(both.hermite(k))
        right = 2 * np.asarray(a.hermite(k)) - 3 * np.asarray(Link(b, r=2).hermite(k))
        np.testing.assert_allclose(left, right, atol=1e-10)


def test_functions_agree_with_formulas() -> None:
    pairs = [
        (Link(lambda z: np.abs(z[..., 0] - 0.3), r=1), "abs(z - 0.3)", 1e-9),
        (Link(lambda z: np.sign(z[..., 0]) * z[..., 1], r=2, breaks=[0]), "sign(z1)*z2", 1e-11),
    ]
    for function, text, tolerance in pairs:
        for k in range(4):
            np.testing.assert_allclose(
                function.hermite(k), Link(text).hermite(k), atol=tolerance, rtol=1e-7
            )


def test_a_sampled_expansion_tells_its_error() -> None:
    link = Link(lambda z: np.sign(z[..., 1] - z[..., 0] ** 2), r=2)
    expansion, exact = expand(link, 2), expand(Link("sign(z2 - z1**2)"), 2)
    assert expansion.method == "sobol"
    error = expansion.errors[2]
    assert 0 < error < 2e-3
    assert abs(expansion.tensors[2][0, 0] - exact.tensors[2][0, 0]) < 5 * error


# ---- what is zero, and what is seen


@pytest.mark.parametrize(
    ("text", "exponent"),
    [
        ("z", 1), ("He2(z)", 2), ("He9(z)", 9), ("He4(z)**3", 2), ("He3(z)**3", 1),
        ("abs(z) - z**2/2", 2), ("tanh(z) - 0.6057055140", 1), ("z**2*exp(-z**2)", 4),
        ("z1*z2", 2), ("sign(z1*z2*z3*z4)", 4), ("z1*z2*z3 + He5(z1)", 3), ("cos(z1 + z2)", 2),
        ("z**3 - 3*z", 3), ("abs(z1) - abs(z2)", 2), ("He2(z1)*He3(z2)", 5),
    ],
)  # fmt: skip
def test_information_exponent(text: str, exponent: int) -> None:
    expansion = expand(Link(text), 9 if Link(text).r < 4 else 4)
    assert expansion.information_exponent == exponent
    assert all(expansion.is_zero(k) is True for k in range(1, exponent))
    assert all(k > exponent for k in expansion.undecided)


def test_zeros_by_symmetry_and_algebra_are_exact() -> None:
    assert not np.any(expand(Link("sign(z1*z2*z3)"), 4).tensors[2])
    assert not np.any(expand(Link("sign(z1*z2*z3)"), 4).tensors[4])
    assert not np.any(expand(Link("tanh(z)"), 4).tensors[2])
    polynomial = expand(Link("(z - 1)**3 - z**3 + 3*z**2"), 3)
    assert polynomial.method == "exact" and not np.any(polynomial.tensors[2])


def test_a_constant_has_no_exponent() -> None:
    assert expand(Link("2"), 5).information_exponent is None
    assert expand(Link("z1 - z1", r=2), 5).information_exponent is None


def test_too_small_to_tell_is_undecided() -> None:
    link = Link(lambda z: np.sign(1.2 - (z**2).sum(axis=-1)) + 1e-5 * z[..., 0], r=2)
    expansion = expand(link, 2)
    assert expansion.is_zero(1) is None
    assert expansion.information_exponent is None
    assert 1 in expansion.undecided


@pytest.mark.parametrize(
    ("text", "order", "spans"),
    [
        ("z1 + z2", 1, [spanned_by((1, 1))]),
        ("z1**2 + z2**2", 2, [np.eye(2)]),
        ("z1**2 + 2*z2**2", 2, [spanned_by((0, 1)), spanned_by((1, 0))]),
        ("sign(z1*z2)", 2, [np.eye(2)]),
        ("z1*z2*z3", 3, [np.eye(3)]),
        ("z1 + 2*z2 + z3**2", 2, [spanned_by((0, 0, 1))]),
        ("z1*z2 + z1*z3", 2, [np.eye(3) - spanned_by((0, 1, -1))]),
        ("tanh(z1)", 2, []),
    ],
)
def test_visible_eigenspaces(text: str, order: int, spans: list[np.ndarray]) -> None:
    found = expand(Link(text), order).visible(order)
    assert [e.eigenvalue for e in found] == sorted((e.eigenvalue for e in found), reverse=True)
    assert len(found) == len(spans)
    for eigenspace, span in zip(found, spans, strict=True):
        np.testing.assert_allclose(projector(eigenspace.basis), span, atol=1e-8)


def test_equal_eigenvalues_stay_together() -> None:
    Q = random_rotation(4, 9)
    matrix = Q.T @ np.diag([3.0, 3.0, 1.0, 0.0]) @ Q
    first, second = eigenspaces(matrix, 1e-9)
    assert (first.eigenvalue, second.eigenvalue) == (pytest.approx(3), pytest.approx(1))
    np.testing.assert_allclose(projector(first.basis), Q[:2].T @ Q[:2], atol=1e-10)
    np.testing.assert_allclose(projector(second.basis), np.outer(Q[2], Q[2]), atol=1e-10)
    assert eigenspaces(np.zeros((2, 2)), 1e-9) == ()


def test_tensors_from_multi_indices() -> None:
    value = symmetric_tensor(np.array([1.0, 2.0, 3.0]), 2, 2)
    np.testing.assert_array_equal(value, [[1, 2], [2, 3]])
    Q = random_rotation(2, 1)
    np.testing.assert_allclose(rotate_tensor(value, Q), Q @ value @ Q.T, atol=1e-14)
    assert float(symmetric_tensor(np.array([4.0]), 3, 0)) == 4.0


def test_a_bounded_link_is_square_integrable() -> None:
    expansion = expand(Link("where(z1*z1 + z2*z2 + z3*z3 < 2, 1, 0)"), 2)
    assert abs(expansion.energy - 0.4275932955291203) <= 3 * expansion.energy_error
    assert expansion.energy_error < 0.02
