"""Averages over a coordinate that the label knows only by its side of a break."""

import numpy as np
import pytest

from learnability import Link
from learnability.learners.online._flat_axis import flat_axes, flat_axis_averages
from learnability.learners.online._motion import Point, Rates

from tests.learners.online.recipes import drift_of, recipe_of

RATES = Rates(0.5, 0.7, 0.3)
SOFT = {"activation": "tanh(z)"}


def recipe(link, **options):
    return recipe_of(link, second_step=0.1, **options)


def sampled(own, at, noise, count=1_000_000):
    """The drift as a mean over weights' fields drawn at random, and its standard error."""
    rng = np.random.default_rng(1)
    h = rng.standard_normal((count, own.link.r))
    u = np.sqrt(at.rest[0, 0]) * rng.standard_normal(count)
    y = own.link(h) + np.sqrt(noise) * rng.standard_normal(count)
    field, a, slope = h @ at.overlap[0] + u, at.second[0], own.activation.derivative()

    def gradient(x):
        pull = y - a * own.activation(x[:, None]) if own.loss == "squared" else y
        return a * slope(x[:, None]) * pull, own.activation(x[:, None]) * pull

    U, V = gradient(field)
    if own.rule == "extragradient":
        U, V = gradient(field + RATES.inner * U)
    parts = (
        2 * RATES.step * U * u + RATES.step**2 / own.batch * U**2,
        RATES.step * U[:, None] * h,
        RATES.second_step * V,
    )
    return [(x.mean(axis=0), x.std(axis=0) / np.sqrt(count)) for x in parts]


@pytest.mark.parametrize(
    ("link", "noise", "options"),
    [
        ("He2(z1) + sign(z1*z2*z3)", 0.0, {"activation": "tanh(z + 0.3)", "batch": 3}),
        ("sign(z1*z2) + z1", 0.4, {**SOFT, "rule": "extragradient", "loss": "correlation"}),
        ("step(z2 - 1)*z1 + sign(z2)", 0.0, {"activation": "exp(-z**2/2)"}),
    ],
)
def test_averages_agree_with_sampling(link, noise, options):
    own = recipe(link, **options)
    M = np.array([[0.6, -0.4, 0.5]])[:, : own.link.r]
    at = Point(np.array([[0.3]]), M, np.array([0.8]))
    found = [drift_of(own, one)(at, RATES) for one in flat_axis_averages(own, noise)]
    assert len(found) == 2
    for one, other, (mean, error) in zip(*found, sampled(own, at, noise), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-3 * np.abs(mean).max() + 1e-9)
        assert np.all(np.abs(np.squeeze(one) - mean) < 4.5 * error + 1e-9)


def test_weights_inside_the_hidden_space_have_averages_too():
    own = recipe("sign(z1*z2)", **SOFT)
    for M in ([[0.8, 0.6]], [[1.0, 0.0]]):
        at = Point(np.zeros((1, 1)), np.array(M), np.ones(1))
        found = flat_axis_averages(own, 0.0)[0](at, RATES)
        assert all(np.isfinite(part).all() for part in found)


def test_which_coordinates_are_flat():
    at_zero, none = np.zeros(1), np.zeros(0)
    assert flat_axes(Link("He4(z1) + sign(z1*z2*z3)"), [at_zero] * 3) == [1, 2]
    assert flat_axes(Link("abs(z1)*z2"), [at_zero, none]) == []


def test_other_links_and_networks_are_left_to_other_rules():
    assert flat_axis_averages(recipe("sign(z1*z2)", **SOFT, width=2), 0.0) == []
    assert flat_axis_averages(recipe("z1*z2", **SOFT), 0.0) == []
    assert flat_axis_averages(recipe("sign(z1 - z2)", **SOFT), 0.0) == []
    assert flat_axis_averages(recipe("sign(z1*z2)", **SOFT, rule="sam", batch=2), 0.0) == []
    assert flat_axis_averages(recipe("sign(z1*z2)", activation="relu(z)"), 0.0) == []
