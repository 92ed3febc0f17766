"""Networks with a fixed second layer and the forces on their fields."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from learnability import Link
from learnability.learners.batch._network import Network

FIELDS = np.array([[0.3, -1.2, 0.8], [1.1, 0.4, -0.7]])
LABELS = np.array([0.5, -1.0, 2.0])


def losses(network: Network, fields: np.ndarray) -> np.ndarray:
    output = network.output(fields)
    return (output - LABELS) ** 2 / 2 if network.loss == "squared" else -output * LABELS


def test_the_output() -> None:
    network = Network(Link("relu(z)"), (2.0, -3.0), "squared")
    assert network.width == 2
    np.testing.assert_allclose(network.output(FIELDS), [0.6 - 3.3, -1.2, 1.6])


@pytest.mark.parametrize("loss", ["squared", "correlation"])
@pytest.mark.parametrize("activation", ["tanh(z)", "relu(z)", "He3(z)"])
def test_the_force_is_the_derivative_of_the_loss(activation: str, loss: str) -> None:
    network = Network(Link(activation), (2.0, -0.5), loss)
    force = network.force(FIELDS, network.output(FIELDS), LABELS)
    for j in range(2):
        shift = np.zeros_like(FIELDS)
        shift[j] = 1e-6
        change = losses(network, FIELDS + shift) - losses(network, FIELDS - shift)
        np.testing.assert_allclose(force[j], change / 2e-6, atol=1e-7)


def test_one_sample_and_both_libraries() -> None:
    network = Network(Link("tanh(z)"), (1.0, 1.0), "squared")
    one = FIELDS[:, :1]
    whole = network.output(FIELDS)
    np.testing.assert_allclose(network.output(one), whole[:1])
    single = network.output(jnp.asarray(FIELDS, dtype=jnp.float32))
    assert single.dtype == jnp.float32
    np.testing.assert_allclose(single, whole, atol=1e-6)
