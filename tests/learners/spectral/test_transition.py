"""Edge, outliers and eigenvectors in the limit of large dimension."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.labels.channel import Channel
from learnability.learners.linear_algebra.eigenvectors import preprocessing
from learnability.learners.spectral._label_law import label_law
from learnability.learners.spectral._transition import (
    Transition,
    linearised_transition,
    symmetric_transition,
)

# From the project's table of reference values: the formula of Lu and Li for |z|, checked there
# against dense eigenvectors at d = 2000.
MODULUS = {0.6: 0.04233, 0.8: 0.13490, 1.0: 0.23070, 2.0: 0.63888}


def of_link(text: str, alpha: float, floor: float = -1e6) -> Transition:
    law = label_law(Channel(text), False)
    return symmetric_transition(law.weights, law.G, preprocessing(law.G, floor), alpha)


@pytest.mark.parametrize(("alpha", "value"), MODULUS.items())
def test_the_squared_overlap_of_phase_retrieval(alpha: float, value: float) -> None:
    found = of_link("abs(z)", alpha)
    np.testing.assert_allclose(found.weights, [value], atol=2e-5)
    np.testing.assert_allclose(found.values, [1 / alpha], rtol=1e-5)
    assert found.edge < found.values[0]


@pytest.mark.parametrize(
    ("text", "alpha", "multiplicity"),
    [("He4(z)", 2.0, 1), ("sign(abs(z) - 1)", 3.0, 1), ("sign(z1*z2)", 4.0, 2)],
)
def test_an_outlier_sits_at_one_over_alpha(text: str, alpha: float, multiplicity: int) -> None:
    found = of_link(text, alpha)
    np.testing.assert_allclose(found.values, [1 / alpha] * multiplicity, rtol=1e-5)


@pytest.mark.parametrize(("text", "alpha_c"), [("abs(z)", 0.5), ("sign(z1*z2)", math.pi**2 / 4)])
def test_nothing_stands_out_below_the_threshold(text: str, alpha_c: float) -> None:
    law = label_law(Channel(text), False)
    for factor, some in ((0.98, False), (1.02, True)):
        assert bool(len(of_link(text, factor * alpha_c).values)) is some
        assert bool(len(linearised_transition(law.weights, law.G, factor * alpha_c).values)) is some


@pytest.mark.parametrize("alpha", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("r", [1, 2])
def test_the_edge_of_a_sample_covariance(alpha: float, r: int) -> None:
    """T = I gives the law of Marchenko and Pastur, and no signal."""
    one = np.ones(1)
    found = symmetric_transition(one, np.zeros((1, r, r)), np.eye(r)[None], alpha)
    assert found.edge == pytest.approx((1 + alpha**-0.5) ** 2, rel=1e-7)
    assert len(found.values) == 0


def test_blocks_have_the_edge_of_the_wider_one() -> None:
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(6))
    first, second = rng.uniform(-2, 0.9, (2, 6))
    T = np.array([np.diag(pair) for pair in zip(first, second, strict=True)])
    nothing = np.zeros((6, 1, 1))
    edges = [
        symmetric_transition(weights, nothing, t[:, None, None], 3.0).edge for t in (first, second)
    ]
    # A rotation of the rows changes nothing.
    turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    both = symmetric_transition(weights, np.zeros((6, 2, 2)), turn @ T @ turn.T, 3.0).edge
    assert both == pytest.approx(max(edges), rel=1e-6)


@pytest.mark.parametrize("alpha", [3.0, 6.0])
def test_a_parity_is_two_problems_of_one_index(alpha: float) -> None:
    """Along (1, +-1) / sqrt(2) the label s has E[z^2 | s] = 1 +- 2 s / pi."""
    signal = np.array([2 / math.pi, -2 / math.pi])[:, None, None]
    half = np.array([0.5, 0.5])
    one = symmetric_transition(half, signal, preprocessing(signal, -10.0), alpha)
    two = of_link("sign(z1*z2)", alpha)
    np.testing.assert_allclose(two.weights, np.repeat(one.weights, 2), rtol=1e-5)
    assert two.edge == pytest.approx(one.edge, rel=1e-6)
    linear = linearised_transition(half, signal, alpha)
    law = label_law(Channel("sign(z1*z2)"), False)
    both = linearised_transition(law.weights, law.G, alpha)
    np.testing.assert_allclose(both.weights, np.repeat(linear.weights, 2), rtol=1e-5)


@pytest.mark.parametrize("alpha", [0.7, 2.0, 10.0])
def test_the_asymmetric_matrix_in_closed_form(alpha: float) -> None:
    """(alpha - alpha_c) / (alpha + alpha_c^2 E[G^3]), and E[(z^2 - 1)^3] = 8."""
    law = label_law(Channel("abs(z)"), False)
    found = linearised_transition(law.weights, law.G, alpha)
    np.testing.assert_allclose(found.values, [2 * alpha], rtol=1e-8)
    assert found.edge == pytest.approx(math.sqrt(2 * alpha))
    np.testing.assert_allclose(found.weights, [(alpha - 0.5) / (alpha + 2)], rtol=1e-7)
    assert found.weights[0] < of_link("abs(z)", alpha).weights[0]


def test_signal_and_noise_make_a_unit_vector() -> None:
    for found in (of_link("sign(z1*z2)", 5.0), of_link("abs(z)", 1.0)):
        k, r, _ = found.shapes.shape
        own = np.einsum("iaia->i", found.gram.reshape(k, r, k, r))
        np.testing.assert_allclose(own, 1, rtol=1e-9)
        assert np.linalg.eigvalsh(found.noise).min() > -1e-9


def test_other_preprocessing_finds_less() -> None:
    law = label_law(Channel("abs(z)"), False)
    best = of_link("abs(z)", 2.0).weights[0]
    for T in (preprocessing(law.G, -2.0), np.minimum(law.G, 3.0), law.G / (law.G + 1.5)):
        other = symmetric_transition(law.weights, law.G, T, 2.0)
        assert 0 < other.weights[0] < best
