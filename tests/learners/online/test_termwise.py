"""Linear terms pair by pair, against sampling of all fields."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.learners.online._motion import Point
from learnability.learners.online._termwise import linear_terms

from tests.learners.online.recipes import recipe_of


@pytest.mark.parametrize("activation", ["relu(z)", "tanh(z)"])
@pytest.mark.parametrize("loss", ["squared", "correlation"])
def test_three_neurons(activation: str, loss: str) -> None:
    """E[u h], E[u (l - M h)] and E[v] within 4.5 standard errors of 300000 samples."""
    rng = np.random.default_rng(2)
    L = np.tril(0.4 * rng.standard_normal((3, 3))) + 0.6 * np.eye(3)
    at = Point(L @ L.T, 0.4 * rng.standard_normal((3, 1)), rng.standard_normal(3))
    own = recipe_of("sign(z) + z**2/2", width=3, activation=activation, loss=loss)
    terms = linear_terms(own)
    assert terms is not None
    h = rng.standard_normal((1, 300_000))
    rest = L @ rng.standard_normal((3, 300_000))
    field = at.overlap @ h + rest
    y = np.sign(h[0]) + h[0] ** 2 / 2
    relu = activation.startswith("relu")
    value = np.maximum(field, 0) if relu else np.tanh(field)
    slope = (field > 0) * 1.0 if relu else 1 - np.tanh(field) ** 2
    pull = y - at.second @ value if loss == "squared" else y
    U = at.second[:, None] * slope * pull
    found = terms(at)
    for one, each in (
        (found.hidden, U[:, None] * h),
        (found.rest, U[:, None] * rest),
        (found.second, value * pull),
    ):
        error = each.std(axis=-1) / np.sqrt(h.size)
        assert (np.abs(each.mean(axis=-1) - one) < 4.5 * error).all()
