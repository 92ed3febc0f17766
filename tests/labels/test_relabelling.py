"""The simplest label with the same level sets."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import BayesAMP, MultiIndex
from learnability.labels import Channel, Link
from learnability.labels.relabelling import plain_channel, plain_label
from learnability.theory.state_evolution import state_evolution

from tests.random_links import random_formula


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("3 - z**2*exp(-z**2)", "z**2*exp(-z**2)"),
        ("tanh(z**2 - 1)", "z**2"),
        ("exp(z**2/5)", "z**2"),
        ("1/(1 + z**2)", "z**2"),
        ("tanh(5*z)**2", "z**2"),
        ("abs(z1*z2)**3", "abs(z1*z2)"),
        ("sqrt(2)*sign(z1*z2) + 1", "sign(z1*z2)"),
        ("(z1*z2)**4", "(z1*z2)**2"),
    ],
)
def test_outer_functions_that_are_one_to_one_go(text: str, plain: str) -> None:
    assert plain_label(Link(text)) == Link(plain)


@pytest.mark.parametrize("text", ["z**2", "cos(z)", "relu(z - 1)", "z1 + z2**2", "0*z", "sign(z)"])
def test_others_stay(text: str) -> None:
    assert plain_label(Link(text)) == Link(text)


def test_functions_and_probabilities_stay() -> None:
    function = Link(lambda z: 3 + z[..., 0], r=1)
    assert plain_label(function) is function
    random = Link("bernoulli(sigmoid(z))")
    assert plain_label(random) is random


@pytest.mark.parametrize(
    ("text", "plain", "added"),
    [
        ("3*tanh((z1*z2 + 0.5*xi)**3) - 1", "z1*z2 + 0.5*xi", 0.25),
        ("exp(abs(z1 + xi))", "abs(z1 + xi)", None),
        ("tanh(z1*xi1 + z2*xi2)", "z1*xi1 + z2*xi2", None),
        ("max(z1, xi)", "max(z1, xi)", None),
    ],
)
def test_latent_variables_may_become_plain_noise(
    text: str, plain: str, added: float | None
) -> None:
    found = plain_label(Link(text))
    assert found == Link(plain)
    assert found.law is not None
    assert found.law.added == (None if added is None else pytest.approx(added, rel=1e-12))


def test_state_evolution_is_that_of_the_noise_inside() -> None:
    outside = Channel("tanh(z1*z2 + 0.5*xi)")
    inside = plain_channel(outside)
    assert inside == Channel("z1*z2", 0.25)
    assert state_evolution(outside).channel == inside
    for kept in (Channel("max(z, xi)"), Channel("z**2"), Channel("tanh(z + xi)", 0.1)):
        assert plain_channel(kept) is kept


def test_state_evolution_is_that_of_the_argument() -> None:
    """erf(3*z1*z2) had errors of 0.13 to 0.19 of overlaps, which are those of z1*z2."""
    assert plain_channel(Channel("tanh(6*z**2)")) == Channel("z**2")
    assert state_evolution(Channel("erf(3*z1*z2)")).channel == Channel("z1*z2")


def test_constants_added_to_a_noisy_label_go_and_nothing_else() -> None:
    """A run in single precision on abs(z) + 1e7 with noise 0.1 found nothing."""
    for text, noise, plain in (
        ("abs(z) + 10000000", 0.1, "abs(z)"),
        ("3 + 2*abs(z)", 0.1, "2*abs(z)"),
        ("5 + max(z, xi)", 0.2, "max(z, xi)"),
        ("tanh(z) + 1", 0.1, "tanh(z)"),
        ("2", 0.1, "2"),
    ):
        assert plain_channel(Channel(text, noise)) == Channel(plain, noise)
    runs, far = (
        BayesAMP().simulate(MultiIndex(text, noise=0.1), d=150, alpha=2.0, seeds=2)
        for text in ("abs(z)", "abs(z) + 10000000")
    )
    np.testing.assert_allclose(runs.overlap, far.overlap, rtol=1e-6)


OUTER = (
    "tanh({g})", "exp(({g})/9)", "3 - 2*({g})", "({g})**3", "sigmoid({g})", "erf({g}) + 5",
    "tanh(2*({g}) + 1)", "softplus({g})",
)  # fmt: skip


@pytest.mark.parametrize("number", range(40))
def test_runs_of_any_link_draw_what_outer_functions_leave(number: int) -> None:
    """Random links and outer functions: the same samples, so the same runs, as without them."""
    link = random_formula(number)
    outer = str(np.random.default_rng([2026, number]).choice(OUTER)).format(g=link)
    plain, drawn = MultiIndex(link).unrounded(), MultiIndex(outer).unrounded()
    assert plain == drawn
    np.testing.assert_array_equal(plain.sample(3, n=50, d=8).y, drawn.sample(3, n=50, d=8).y)
