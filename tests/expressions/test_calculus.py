"""The table of operations: NumPy against JAX, derivatives against differences."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from learnability.expressions.calculus import differentiate, evaluate
from learnability.expressions.operations import FUNCTIONS, OPERATIONS
from learnability.expressions.parse import parse
from learnability.expressions.tree import Call, walk

ARGUMENT = "(0.7*z1 - 0.4*z2 + 0.1)"
SPECIAL = {
    "log": "log(z1**2 + 0.3*z2**2)",
    "sqrt": "sqrt(z1**2 + 0.3*z2**2)",
    "max": "max(z1, z2, 0.3*z1*z2)",
    "mod": "mod(z1 - z2, 0.7 + z2**2)",
    "min": "min(z1, z2, 0.3*z1*z2)",
    "where": "where(-0.5 < z1 - z2 <= 0.8, z1**2, z2*z1)",
    "+": "z1 + z2 - 3*z1",
    "*": "z1*z2*(z1 + 1)",
    "/": "z1/(z2**2 + 0.2)",
    "**": "(z1**2 + 0.1)**(1/3) + z2**-2 + z1**5 + (z1**2 + 1)**-0.5",
    "neg": "-(z1*z2)",
    "pi": "pi*z1",
    "chain": "where(0.5 < abs(z1) < 2, z2, z1)",
    "<": "where(z1 < z2, z1, 2*z2)",
    "<=": "where(z1 <= z2, z1, 2*z2)",
    ">": "where(z1 > z2, z1, 2*z2)",
    ">=": "where(z1 >= z2, z1, 2*z2)",
}
TEXTS = {name: SPECIAL.get(name, f"{name}({ARGUMENT}) * z2") for name in OPERATIONS}
POINTS = np.random.default_rng(0).standard_normal((200, 2))


@pytest.mark.parametrize("name", TEXTS)
def test_numpy_and_jax_agree(name: str) -> None:
    tree = parse(TEXTS[name])
    assert any(isinstance(node, Call) and node.name == name for node in walk(tree))
    with jax.enable_x64(True):
        other = np.asarray(evaluate(tree, jnp.asarray(POINTS), jnp))
        compiled = np.asarray(jax.jit(lambda z: evaluate(tree, z, jnp))(jnp.asarray(POINTS)))
    value = evaluate(tree, POINTS, np)
    assert value.dtype == np.float64
    np.testing.assert_allclose(other, value, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(compiled, value, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", TEXTS)
def test_single_precision_is_kept(name: str) -> None:
    tree = parse(TEXTS[name])
    z = POINTS.astype(np.float32)
    value = evaluate(tree, z, np)
    assert value.dtype == np.float32
    other = evaluate(tree, jnp.asarray(z), jnp)
    assert other.dtype == jnp.float32
    exact = evaluate(tree, z.astype(float), np)
    np.testing.assert_allclose(value, exact, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("index", [0, 1])
def test_derivative_is_the_limit_of_differences(name: str, index: int) -> None:
    tree = parse(TEXTS[name])
    h = 1e-5 * np.eye(2)[index]
    difference = (evaluate(tree, POINTS + h, np) - evaluate(tree, POINTS - h, np)) / 2e-5
    value = np.broadcast_to(evaluate(differentiate(tree, index), POINTS, np), (200,))
    close = np.isclose(value, difference, rtol=1e-6, atol=1e-6)
    # A difference across a jump or kink is no derivative; these are at most a handful of points.
    assert np.mean(close) > 0.98 if name in FUNCTIONS or "where" in TEXTS[name] else np.all(close)


@pytest.mark.parametrize(
    "name", ["tanh", "exp", "sigmoid", "softplus", "erf", "sin", "He4", "sqrt"]
)
def test_derivative_agrees_with_jax(name: str) -> None:
    tree = parse(TEXTS[name])
    with jax.enable_x64(True):
        gradient = jax.vmap(jax.grad(lambda z: evaluate(tree, z, jnp)))(jnp.asarray(POINTS))
    for index in range(2):
        value = evaluate(differentiate(tree, index), POINTS, np)
        np.testing.assert_allclose(np.asarray(gradient)[:, index], value, rtol=1e-9, atol=1e-10)


def value_at(text: str, *z: float) -> float:
    return float(evaluate(parse(text), np.array(z), np))


def test_conventions_at_zero_and_far_out() -> None:
    assert value_at("sign(z)", 0.0) == 0.0
    assert value_at("step(z)", 0.0) == 0.0
    assert value_at("sigmoid(z)", -800.0) == 0.0 and value_at("sigmoid(z)", 800.0) == 1.0
    assert value_at("softplus(z)", 800.0) == 800.0
    assert value_at("sigmoid(z)", -30.0) == pytest.approx(special.expit(-30.0), rel=1e-13)
    assert value_at("softplus(z)", -30.0) == pytest.approx(np.log1p(np.exp(-30.0)), rel=1e-13)


@pytest.mark.parametrize("order", range(10))
def test_hermite_polynomials(order: int) -> None:
    z = np.linspace(-3, 3, 13)
    expected = special.eval_hermitenorm(order, z)
    value = evaluate(parse(f"He{order}(z)"), z[:, None], np)
    np.testing.assert_allclose(value, expected, rtol=1e-11, atol=1e-10)


def test_no_warning_leaves_the_evaluation() -> None:
    with np.errstate(all="raise"):
        evaluate(
            parse("log(z) + 1/z + sqrt(z) + exp(1000*z)"), np.array([[0.0], [-1.0], [5.0]]), np
        )


def test_untaken_branch_does_not_spoil_the_derivative() -> None:
    derivative = differentiate(parse("where(z > 0, sqrt(z), 0) + max(sqrt(z), z)"), 0)
    tree = differentiate(parse("where(z > 0, sqrt(z), 0)"), 0)
    assert float(evaluate(tree, np.array([-1.0]), np)) == 0.0
    assert np.isfinite(evaluate(derivative, np.array([0.25]), np))
