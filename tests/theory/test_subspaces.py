"""Which subspaces carry a signal."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from learnability.gaussian.hermite_products import multi_indices
from learnability.labels import Channel, ConditionalMoments, Link
from learnability.theory.subspaces import (
    bayes_operator,
    hermite_orders,
    open_range,
    relevant_subspace,
    symmetric_basis,
    threshold,
    whole_section,
)

from tests.geometry import axes, projector, random_rotation, spanned_by


@pytest.mark.parametrize(
    ("text", "r", "span"),
    [
        ("z1*z2", 2, np.eye(2)),
        ("z1*z2", 4, axes(4, 1, 2)),
        ("tanh(z1 + 2*z2)", 2, spanned_by((1, 2))),
        ("z1 + z1*z2 + z1*z3", 3, spanned_by((1, 0, 0), (0, 1, 1))),
        ("sign(z1 - z2)*abs(z3)", 3, spanned_by((1, -1, 0), (0, 0, 1))),
        ("He6(z2)", 2, axes(2, 2)),
        ("z1**2*exp(-z1**2)", 2, axes(2, 1)),
        ("(z1 - z2)**2 + 4*z1*z2", 2, spanned_by((1, 1))),
        ("sign(z1*z2*z3)", 3, np.eye(3)),
        ("abs(z5)", 5, axes(5, 5)),
    ],
)
def test_the_directions_that_a_link_depends_on(text: str, r: int, span: np.ndarray) -> None:
    basis, note = relevant_subspace(Link(text, r=r))
    assert note is None
    np.testing.assert_allclose(projector(basis), span, atol=1e-7)


@pytest.mark.parametrize("text", ["5", "z1 - z1", "0*z1*z2", "sign(z1)**2"])
def test_a_constant_depends_on_none(text: str) -> None:
    basis, note = relevant_subspace(Link(text, r=2))
    assert basis.shape == (0, 2) and note is None


@pytest.mark.parametrize("text", ["tanh(3*z**7)", "exp(-z**2)*sin(5*z)", "sign(cos(3*z))"])
def test_links_without_low_orders_to_hold_on_to(text: str) -> None:
    basis, _ = relevant_subspace(Link(text))
    np.testing.assert_array_equal(basis, [[1.0]])


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("abs(z1 + z2 + xi)", spanned_by((1, 1))),
        ("relu(z1 + xi)*relu(z2 - xi) + z3", np.eye(3)),
        ("abs(z1 + xi1) + abs(z1 - 2*z2 + xi2)", np.eye(2)),
        ("sign(z1)*abs(z2 + xi)", np.eye(2)),  # Along z1 slopes vanish, and the label changes.
        ("tanh(z1 - z2 + xi)*(z1 - z2) + abs(xi)*(2*z1 - 2*z2)", spanned_by((1, -1))),
    ],
)
def test_the_visible_directions_of_a_label_with_latent_variables(
    text: str, span: np.ndarray
) -> None:
    basis, note = relevant_subspace(Link(text))
    assert note is None
    assert projector(basis) == pytest.approx(span, abs=1e-9)


def test_a_label_with_latent_variables_and_no_variance_says_so() -> None:
    basis, note = relevant_subspace(Link("exp(z1**2)*abs(z2 + xi)"))
    assert len(basis) == 2
    assert note is not None and "no Hermite expansion" in note


def test_what_the_orders_do_not_show_still_counts() -> None:
    # He_k of degree 12 in each variable: beyond the highest order looked at in two variables.
    link = Link("He9(z1)*He9(z2) + z1")
    basis, note = relevant_subspace(link)
    np.testing.assert_array_equal(basis, np.eye(2))
    assert note is not None and note.endswith(".") and str(hermite_orders(2)[-1]) in note


def test_the_range_of_a_matrix_with_errors() -> None:
    Q = random_rotation(3, 4)
    matrix = Q.T @ np.diag([1.0, 0.3, 0.0]) @ Q
    clear = open_range(matrix, 1e-8, 1.0)
    np.testing.assert_allclose(projector(clear.basis), Q[:2].T @ Q[:2], atol=1e-6)
    assert not clear.doubt
    unclear = open_range(np.diag([1.0, 7e-4]), 1e-4, 1.0)
    assert len(unclear.basis) == 1 and unclear.doubt
    nothing = open_range(np.zeros((2, 2)), 1e-12, 1.0)
    assert nothing.basis.shape[0] == 0 and not nothing.doubt
    useless = open_range(np.zeros((2, 2)), 0.1, 1.0)
    assert useless.basis.shape[0] == 0 and useless.doubt
    assert open_range(np.zeros((0, 0)), 0.0, 1.0).basis.shape == (0, 0)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_basis_of_symmetric_matrices(m: int) -> None:
    basis = symmetric_basis(m)
    assert len(basis) == len(multi_indices(m, 2)) == m * (m + 1) // 2
    np.testing.assert_allclose(basis, basis.transpose(0, 2, 1))
    np.testing.assert_allclose(
        np.einsum("aij,bij->ab", basis, basis), np.eye(len(basis)), atol=1e-14
    )


def test_the_operator_is_the_conjugation_by_g() -> None:
    # One label with a fixed G: M -> G M G.
    rng = np.random.default_rng(3)
    m = 3
    basis = symmetric_basis(m)
    G = rng.standard_normal((m, m))
    G = G + G.T
    zeta = np.einsum("qij,ij->q", basis, G) / math.sqrt(2)
    operator = bayes_operator(np.outer(zeta, zeta), m)
    M = rng.standard_normal((m, m))
    M = M + M.T
    image = np.einsum("q,qij->ij", operator @ np.einsum("qij,ij->q", basis, M), basis)
    np.testing.assert_allclose(image, G @ M @ G, atol=1e-12)


def test_the_operator_of_a_parity() -> None:
    moments = Channel(Link("sign(z1*z2)")).conditional_moments([2])[2]
    operator = bayes_operator(moments.matrix, 2)
    size = 4 / math.pi**2
    # The eigenvalue of largest modulus is not the answer: one of the three is negative.
    np.testing.assert_allclose(np.linalg.eigvalsh(operator), [-size, size, size], atol=1e-10)
    value, error, opened = threshold(moments, 2)
    assert value == pytest.approx(size, abs=1e-10) and error < 1e-9
    np.testing.assert_allclose(projector(opened), np.eye(2), atol=1e-12)


def moments_of(*diagonals: tuple[float, float]) -> ConditionalMoments:
    """K_2 of labels with equal mass and diagonal G in two variables."""
    zeta = np.array([[a, 0.0, b] for a, b in diagonals]) / math.sqrt(2)
    parity = Channel(Link("sign(z1*z2)")).conditional_moments([2])[2]
    return replace(parity, matrix=zeta.T @ zeta / len(zeta), rules=())


def test_the_subspace_that_opens_first() -> None:
    value, _, opened = threshold(moments_of((1.0, 0.2), (-1.0, 0.2)), 2)
    assert value == pytest.approx(1.0)
    np.testing.assert_allclose(projector(opened), axes(2, 1), atol=1e-9)
    value, _, opened = threshold(moments_of((0.5, -0.5), (-0.5, 0.5)), 2)
    assert value == pytest.approx(0.25)
    np.testing.assert_allclose(projector(opened), np.eye(2), atol=1e-9)


def test_the_section_on_relevant_directions() -> None:
    link = Link("tanh(z1 + z2) + z3", r=4)
    basis, _ = relevant_subspace(link)
    section = whole_section(link, basis)
    assert section.m == 2
    s = np.random.default_rng(0).standard_normal((6, 2))
    np.testing.assert_allclose(section(s), link(s @ basis), atol=1e-12)


def test_the_highest_order_falls_with_the_number_of_variables() -> None:
    orders = [hermite_orders(r)[-1] for r in range(1, 10)]
    assert orders == sorted(orders, reverse=True) and orders[-1] >= 6
