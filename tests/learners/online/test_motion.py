"""Equations of motion: their averages against independent sampling, closed forms, identities."""

import math

import numpy as np
import pytest

from learnability import LearnabilityError, Link, MultiIndex, SpikedIndex
from learnability.inputs import Isotropic, Spiked
from learnability.learners.online import OnlineSGD, _equations
from learnability.learners.online._averages import node_averages
from learnability.learners.online._erf_kernels import (
    additive_weights,
    closed_averages,
    error_function,
)
from learnability.learners.online._motion import Point, Rates, drift_in
from learnability.learners.online._nodes import nodes_for
from learnability.learners.online._one_neuron import series_averages
from learnability.learners.online._termwise import linear_terms

from tests.learners.online.recipes import drift_of, recipe_of

RATES = Rates(0.5, 0.7, 0.3)


def recipe(link, activation, width, **options):
    return recipe_of(link, width=width, activation=activation, second_step=0.1, **options)


def point(p, r, seed=0):
    rng = np.random.default_rng(seed)
    B = 0.5 * rng.standard_normal((p, p))
    return Point(B @ B.T, 0.4 * rng.standard_normal((p, r)), rng.standard_normal(p))


def sampled(recipe, at, noise=0.0, count=400_000):
    """The drift as a mean over fields drawn at random, and its standard error."""
    from learnability.learners.online._reuse import directions, network_gradient

    rng = np.random.default_rng(1)
    p, r = at.overlap.shape
    h = rng.standard_normal((r, count))
    rho = np.linalg.cholesky(at.rest + 1e-12 * np.eye(p)) @ rng.standard_normal((p, count))
    y = np.asarray(recipe.link(h.T)) + math.sqrt(noise) * rng.standard_normal(count)
    slope = recipe.activation.derivative()
    gradient = network_gradient(at.second, y, recipe.activation, slope, recipe.loss)

    def power(square):  # SAM alone sees the rest of its batch, by the length of the gradient.
        if recipe.rule != "sam":
            return square.sum(axis=0)
        return np.repeat(square.sum(axis=0).reshape(-1, recipe.batch).sum(axis=1), recipe.batch)

    U, V = directions(
        recipe.rule, gradient, at.overlap @ h + rho, lambda u: u, power, RATES.inner,
        recipe.repetitions,
    )  # fmt: skip
    terms = RATES.step * (U[:, None] * rho + rho[:, None] * U)
    terms = terms + RATES.step**2 / recipe.batch * U[:, None] * U
    parts = (terms, RATES.step * U[:, None] * h, RATES.second_step * V)
    return [(x.mean(axis=-1), x.std(axis=-1) / math.sqrt(count)) for x in parts]


@pytest.mark.parametrize("rule", ["plain", "extragradient", "repetition", "sam", "lookahead"])
@pytest.mark.parametrize(
    ("link", "activation", "p", "noise"),
    [
        ("He3(z)/sqrt(6) + z", "relu(z)", 1, 0.3),
        ("sign(z1 - z2) + z1", "tanh(z)", 2, 0.0),
        ("relu(z1) + sign(z2)", "relu(z)", 3, 0.2),
    ],
)
def test_averages_agree_with_sampling(rule, link, activation, p, noise):
    own = recipe(link, activation, p, rule=rule, batch=2)
    at = point(p, own.link.r)
    rules = nodes_for(own.link, own.activation, p, noise, rule == "plain")
    found = drift_of(own, node_averages(own, rules[0]))(at, RATES)
    for value, (mean, error) in zip(found, sampled(own, at, noise), strict=True):
        assert np.all(np.abs(value - mean) < 5 * error + 0.003 * np.abs(mean).max())


@pytest.mark.parametrize("loss", ["squared", "correlation"])
def test_error_functions_in_closed_form(loss):
    own = recipe("0.7*2*erf(0.8*z1) - 0.3*2*erf(0.8*z2)", "2*erf(0.8*z)", 2, loss=loss, batch=3)
    at, noise = point(2, 2), 0.4
    exact = drift_of(own, closed_averages(own, noise))(at, RATES)
    for value, (mean, error) in zip(exact, sampled(own, at, noise), strict=True):
        assert np.all(np.abs(value - mean) < 4.5 * error)


def test_error_functions_are_recognised():
    assert error_function(Link("-3*erf(z/2)")) == pytest.approx((-3, 0.5))
    assert error_function(Link("tanh(z)")) is None and error_function(Link("relu(z)")) is None
    weights = additive_weights(Link("2*relu(z1) - relu(z3)/2"), Link("relu(z)"))
    np.testing.assert_allclose(weights, [2, 0, -0.5], atol=1e-12)
    assert additive_weights(Link("z1*z2"), Link("relu(z)")) is None


@pytest.mark.parametrize("loss", ["squared", "correlation"])
@pytest.mark.parametrize(
    ("link", "activation"),
    [("z1*z2 + sign(z1)", "tanh(z + 0.3)"), ("relu(z1) - z2", "1.5*relu(z)")],
)
def test_pairs_of_fields_agree_with_sampling(loss, link, activation):
    own, at = recipe(link, activation, 3, loss=loss), point(3, 2, seed=2)
    hidden, rest, second = linear_terms(own)(at)
    mean = sampled(own._replace(batch=10**9), at)  # Without the squared term.
    found = (RATES.step * (rest + rest.T), RATES.step * hidden, RATES.second_step * second)
    for value, (expected, error) in zip(found, mean, strict=True):
        assert np.all(np.abs(value - expected) < 4.5 * error)


def test_parallel_neurons_have_finite_pairs():
    M = np.array([[0.5, 0.2], [0.5, 0.2], [0.0, 0.0]])
    at = Point(np.zeros((3, 3)), M, np.ones(3))
    for activation in ("tanh(z)", "relu(z)"):
        assert all(np.isfinite(x).all() for x in linear_terms(recipe("z1*z2", activation, 3))(at))


@pytest.mark.parametrize(
    ("link", "activation"),
    [("He3(z)/sqrt(6)", "tanh(z)"), ("He2(z) + z", "relu(z)"), ("z", "z"), ("sin(z)", "He3(z)")],
)
def test_the_series_is_the_equation_of_one_neuron(link, activation, monkeypatch):
    learner = OnlineSGD(activation=activation, loss="correlation", spherical=True, step=0.2)
    target, options = MultiIndex(link, noise=0.3), {"time": [1.0, 4.0], "start": (1.0, 0.3)}
    series = learner.predict(target, **options)
    assert series.attrs["method"] == "Hermite series"
    monkeypatch.setattr(_equations, "series_averages", lambda *_: None)
    other = learner.predict(target, **options)
    assert other.attrs["method"] != "Hermite series"
    gap = np.abs(series.overlap_trace - other.overlap_trace)
    assert (gap < 2e-5 + 3 * other.overlap_trace_stderr).all()


def test_slow_series_are_left_to_averages():
    own = recipe("relu(z)", "relu(z)", 1, loss="correlation", spherical=True)
    assert series_averages(own, 0) is None


def test_the_student_that_is_its_target_stays():
    theory = OnlineSGD(activation="tanh(z)").predict("tanh(z)", time=[0.0, 5.0], start=(1.0, 1.0))
    np.testing.assert_allclose(theory.overlap_trace.squeeze(), 1, atol=1e-9)
    np.testing.assert_allclose(theory.error_trace, 0, atol=1e-9)


def test_divergence_of_the_equations_is_a_status():
    theory = OnlineSGD(step=50.0).predict("z", time=[0.0, 40.0], start=(1.0, 0.1))
    assert theory.status.item() == "diverged" and np.isnan(theory.overlap.item())
    assert "1 of 1 runs diverged" in theory.attrs["note"]


@pytest.mark.parametrize("target", [MultiIndex("z"), SpikedIndex("z", spike=2.0, alignment=0.1)])
def test_divergence_of_a_recovery_is_a_status(target):
    learner = OnlineSGD(activation="z + z**2", step=50.0)
    more = {"d": 500} if target.depends_on_dimension else {}
    theory = learner.predict(
        target, question="recovery", time=40.0, start=(1.0, 0.01), overlap=0.9, **more
    )
    assert theory.status.item() == "diverged" and np.isinf(theory.recovery_time.item())
    assert "1 of 1 runs diverged" in theory.attrs["note"]


def test_what_has_no_equations_ends_in_a_sentence():
    with pytest.raises(LearnabilityError, match="either `d`"):
        OnlineSGD().predict("z", time=1.0)
    with pytest.raises(LearnabilityError, match="not both"):
        OnlineSGD().predict("z", time=1.0, d=50, start=(1.0, 0.1))
    with pytest.raises(LearnabilityError, match="square-integrable"):
        OnlineSGD(activation="exp(z**2)").predict("z", time=1.0, start=(1.0, 0.1))


@pytest.mark.parametrize(
    ("link", "options", "scaling"),
    [
        ("z", {"activation": "relu(z)"}, "d"),
        ("He2(z)", {"activation": "relu(z)"}, "d log d"),
        ("He3(z)", {"activation": "tanh(z)"}, "d^2"),
        ("He3(z)", {"activation": "relu(z)"}, ""),
        ("He3(z)/sqrt(6)", {"rule": "extragradient", "look_ahead": 1.0}, "d"),
        (
            "He4(z)/sqrt(24)",
            {"rule": "extragradient", "look_ahead": 1.0, "activation": "exp(-z**2/2)"},
            "d log d",
        ),
    ],
)
def test_scalings_of_weak_recovery(link, options, scaling):
    learner = OnlineSGD(loss="correlation", spherical=True, step=0.3, **options)
    found = learner.predict(link, question="recovery", time=0.1, start=(1.0, 0.03))
    assert found.attrs["scaling"] == scaling


def test_recovery_times_grow_like_the_logarithm_for_he2():
    learner = OnlineSGD(activation="He2(z)/sqrt(2)", loss="correlation", spherical=True, step=0.01)
    asked = {"question": "recovery", "time": 1e4}
    times = [
        learner.predict("He2(z)/sqrt(2)", start=(1.0, d**-0.5), **asked).recovery_time
        for d in (10**3, 10**5)
    ]
    # dm/dt = 2 step m (1 - m^2) to first order in the step: t = log(100) / 2 / (2 step) apart.
    assert float(times[1] - times[0]) == pytest.approx(math.log(100) / 2 / 0.02, rel=0.12)


# ---- inputs with spikes

LINK, SIGMA = Link("sign(z) + z/2"), Link("tanh(z)")
AT = Point(
    np.array([[0.7, 0.1], [0.1, 0.9]]),
    np.array([[0.4, -0.3], [0.1, 0.5]]),
    np.array([0.8, -0.5]),
)
SPIKED_RATES = Rates(0.4, 0.0, 0.2)


def drift_on(frame, normalisation="none"):
    own = recipe("sign(z) + z/2", "tanh(z)", 2, normalisation=normalisation)
    return drift_in(frame, own, node_averages(own, nodes_for(LINK, SIGMA, 2, 0.0, True)[0]))


def test_without_a_spike_it_is_the_isotropic_drift():
    """Of the overlap with the label, whatever the frame; the rest is that of the other overlap."""
    # The label is e2 at alignment 0.
    found = drift_on(Spiked(0.0, 0.0).frame(1, 100))(AT, SPIKED_RATES)
    along = Point(
        AT.rest + np.outer(AT.overlap[:, 0], AT.overlap[:, 0]), AT.overlap[:, 1:], AT.second
    )
    plain = drift_on(Isotropic().frame(1, 100))(along, SPIKED_RATES)
    np.testing.assert_allclose(found.overlap[:, 1:], plain.overlap, atol=1e-9)
    np.testing.assert_allclose(found.second, plain.second, atol=1e-9)
    s, moved = AT.overlap[:, 0], found.overlap[:, 0]
    whole = found.rest + np.outer(s, moved) + np.outer(moved, s)
    np.testing.assert_allclose(whole, plain.rest, atol=1e-9)


@pytest.mark.parametrize("normalisation", ["none", "normalised", "whitened"])
def test_it_is_the_mean_of_many_steps(normalisation):
    """Against 400000 samples along the frame and two directions outside it, |z| < 4.5."""
    frame, rng = Spiked(6.0, 0.5).frame(1, 100), np.random.default_rng(3)
    stretch = math.sqrt(7.0)
    g = rng.standard_normal((400_000, 4))
    X = g * np.array([stretch, 1.0, 1.0, 1.0])
    W = np.hstack([AT.overlap, np.linalg.cholesky(AT.rest)])
    covered = W * np.array([7.0, 1.0, 1.0, 1.0])
    tau = np.sqrt(np.sum(W * covered, axis=1))
    tau = np.ones(2) if normalisation == "none" else tau
    v = X @ W.T / tau
    y = LINK(g[:, :2] @ frame.to_label.T)
    value = np.tanh(v)
    U = AT.second * (1 - value**2) * (y - value @ AT.second)[:, None]
    along = X / np.array([7.0, 1.0, 1.0, 1.0]) if normalisation == "whitened" else X
    own = {"none": 0.0 * W, "normalised": covered, "whitened": W}[normalisation]
    each = (tau * U)[:, :, None] * along[:, None] - (U * v)[:, :, None] * own
    drift = drift_on(frame, normalisation)
    linear = drift(AT, Rates(1e-8, 0.0, 0.0))  # Without the squared term.
    moves = each[:, :, :2]
    error = moves.std(axis=0) / math.sqrt(len(g))
    assert (np.abs(moves.mean(axis=0) - linear.overlap / 1e-8) < 4.5 * error).all()
    grown = np.einsum("njk,lk->njl", each[:, :, 2:], W[:, 2:])
    grown = grown + np.swapaxes(grown, 1, 2)
    error = grown.std(axis=0) / math.sqrt(len(g))
    assert (np.abs(grown.mean(axis=0) - linear.rest / 1e-8) < 4.5 * error).all()
    squared = drift(AT, SPIKED_RATES).rest - SPIKED_RATES.step * linear.rest / 1e-8
    pairs = np.einsum("nj,nk->njk", tau * U, tau * U)
    error = pairs.std(axis=0) / math.sqrt(len(g))
    assert (np.abs(pairs.mean(axis=0) - squared / SPIKED_RATES.step**2) < 4.5 * error).all()


def test_weights_in_the_span_of_the_axes_have_finite_drifts():
    """No part outside, and two equal neurons: the covariance given z is singular."""
    frame = Spiked((3.0, 8.0), ((0.6, 0.3), (-0.2, 0.5))).frame(2, 100)
    own = recipe("z1*z2 + z1", "tanh(z)", 2)
    nodes = nodes_for(own.link, own.activation, 2, 0.0, True)[0]
    drift = drift_in(frame, own, node_averages(own, nodes))
    row = np.array([0.4, -0.3, 0.2, 0.5])
    found = drift(Point(np.zeros((2, 2)), np.array([row, row]), np.ones(2)), RATES)
    near = drift(Point(1e-9 * np.eye(2), np.array([row, row]), np.ones(2)), RATES)
    np.testing.assert_allclose(found.overlap, near.overlap, atol=1e-4)
    assert np.isfinite(found.rest).all()
