"""Averages of correlated normal fields in closed form, against products of Gauss rules."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erf

from learnability import Link
from learnability.gaussian.rules import gauss_normal, product_grid
from learnability.learners.online._erf_kernels import (
    ErrorFunction,
    _fourth,
    _second,
    _slopes,
    _third,
    additive_weights,
    error_function,
)
from learnability.learners.online._motion import Point
from learnability.learners.online._termwise import _relu_scale, linear_terms

from tests.learners.online.recipes import recipe_of

ROOT = np.array(
    [[0.9, 0.0, 0.0, 0.0], [0.3, 0.7, 0.0, 0.0], [-0.2, 0.4, 0.6, 0.0], [0.5, -0.3, 0.2, 0.8]]
)
C = ROOT @ ROOT.T


def fields(nodes: int = 26) -> tuple[np.ndarray, np.ndarray]:
    z, w = product_grid([gauss_normal(np.zeros(0), nodes)] * 4)
    return z @ ROOT.T, w


def g(x: np.ndarray) -> np.ndarray:
    return np.asarray(erf(x / np.sqrt(2)))


def slope(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(2 / np.pi) * np.exp(-0.5 * x**2))


def test_averages_of_error_functions() -> None:
    """All four families, for two neurons and two hidden fields."""
    x, w = fields()
    p = 2
    values, slopes = g(x), slope(x)
    np.testing.assert_allclose(_second(C), (values.T * w) @ values, atol=1e-6)
    np.testing.assert_allclose(_slopes(C, p), (slopes[:, :p].T * w) @ slopes[:, :p], atol=1e-6)
    third = np.einsum("n,nj,nv,nm->jvm", w, slopes[:, :p], x, values, optimize=True)
    np.testing.assert_allclose(_third(C, p), third, atol=1e-6)
    v = np.array([0.4, -0.7, 1.1, 0.2])
    fourth = np.einsum("n,nj,nl->jl", w * (values @ v) ** 2, slopes[:, :p], slopes[:, :p])
    np.testing.assert_allclose(_fourth(C, p, v), fourth, atol=1e-6)


@pytest.mark.parametrize(("amplitude", "rate"), [(2.0, 0.8), (-1.0, 1.5), (0.5, -0.3)])
def test_error_functions_are_told_from_others(amplitude: float, rate: float) -> None:
    found = error_function(Link(f"{amplitude}*erf({rate}*z)"))
    assert found is not None
    product = found.amplitude * found.slope
    assert product == pytest.approx(amplitude * rate)
    assert abs(found.amplitude) == pytest.approx(abs(amplitude))
    assert isinstance(found, ErrorFunction)


@pytest.mark.parametrize("text", ["tanh(z)", "relu(z)", "erf(0.05*z)", "erf(z) + 0.001*z", "0*z"])
def test_other_activations_are_no_error_functions(text: str) -> None:
    assert error_function(Link(text)) is None


def test_targets_that_are_sums_of_neurons() -> None:
    sigma = Link("erf(z)")
    found = additive_weights(Link("2*erf(z1) - 0.5*erf(z2)"), sigma)
    np.testing.assert_allclose(found, [2.0, -0.5], atol=1e-9)
    assert additive_weights(Link("erf(z1)*erf(z2)"), sigma) is None
    assert additive_weights(Link("erf(z1) + 0.001*z1"), sigma) is None


@pytest.mark.parametrize("activation", ["tanh(z)", "erf(z)", "3*relu(z)"])
@pytest.mark.parametrize("loss", ["squared", "correlation"])
def test_linear_terms_are_integrals_over_all_fields(activation: str, loss: str) -> None:
    """Two neurons and one hidden coordinate: a product rule in three dimensions."""
    L = np.array([[0.8, 0.0], [-0.3, 0.6]])
    at = Point(L @ L.T, np.array([[0.4], [-0.7]]), np.array([0.9, -1.3]))
    terms = linear_terms(recipe_of("z**2 + z", width=2, activation=activation, loss=loss))
    assert terms is not None
    relu = activation.endswith("relu(z)")
    nodes = 200 if relu else 48
    z, w = product_grid([gauss_normal(np.zeros(0), 24)] + [gauss_normal(np.zeros(0), nodes)] * 2)
    h, rest = z[:, :1].T, L @ z[:, 1:].T
    link = Link(activation)
    field = at.overlap @ h + rest
    value = np.asarray(link(field[..., None]))
    slopes = np.asarray(link.derivative()(field[..., None]))
    y = h[0] ** 2 + h[0]
    pull = y - at.second @ value if loss == "squared" else y
    U = at.second[:, None] * slopes * pull * w
    found = terms(at)
    digits = 1e-2 if relu else 2e-5  # A Gauss rule is coarse where the slope jumps.
    np.testing.assert_allclose(found.hidden, U @ h.T, atol=digits)
    np.testing.assert_allclose(found.rest, U @ rest.T, atol=digits)
    np.testing.assert_allclose(found.second, value * pull @ w, atol=digits)


def test_multiples_of_relu() -> None:
    assert _relu_scale(Link("2.5*relu(z)")) == pytest.approx(2.5)
    assert _relu_scale(Link("-relu(z)")) == pytest.approx(-1.0)
    for text in ("tanh(z)", "relu(z) + 0.01*z", "0*z", "abs(z)"):
        assert _relu_scale(Link(text)) is None
