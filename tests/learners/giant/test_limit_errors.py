"""The spiked random features: reference values and limits."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link, MultiIndex, RandomFeatures
from learnability.learners.giant._bulk import IndependentRows
from learnability.learners.giant._conditional import features_given, labels_given
from learnability.learners.giant._limit_errors import (
    Errors,
    Features,
    Labels,
    covariance_density,
    errors,
)
from learnability.learners.giant._network import Parameters
from learnability.learners.giant._parameters import one_step

TANH, ONE = Link("tanh(z)"), np.ones(1)
ALPHAS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
# Computed elsewhere by a self-consistent system for rows of one length; width 1, batch 2; checked
# by simulations of the model and of a true step.
REFERENCE = {
    ("tanh(z)", 1.0, 0.01): [0.17252, 0.16445, 0.12265, 0.09947, 0.0805, 0.07279],
    ("sign(z)", 3.0, 0.1): [0.65757, 0.65054, 0.62519, 0.5978, 0.55417, 0.52505],
}


def independent(
    inputs: Features, labels: Labels, alpha: float, beta: float, ridge: float
) -> Errors:
    rows = IndependentRows(inputs.bulk**2, 1 + len(labels.linear))
    return errors(inputs, labels, rows, alpha, beta, ridge)


@pytest.mark.parametrize(("link", "step", "ridge"), REFERENCE)
def test_reference_values(link: str, step: float, ridge: float) -> None:
    target = MultiIndex(link)
    parameters = one_step(target, TANH, "ones", step, 2.0)
    inputs = features_given(TANH, parameters)
    labels = labels_given(target, ONE, parameters.alignment, inputs.kappa)
    expected = REFERENCE[link, step, ridge]
    found = [independent(inputs, labels, alpha, 1.0, ridge).test for alpha in ALPHAS]
    np.testing.assert_allclose(found, expected, atol=2e-5)
    # Normal entries, whose rows differ in length, move it by less than 1e-4 of itself for tanh.
    normal = inputs._replace(spread=2.0)
    whole = [independent(normal, labels, alpha, 1.0, ridge).test for alpha in ALPHAS]
    np.testing.assert_allclose(whole, expected, rtol=1e-4)
    assert np.all(np.array(whole) < found)


@pytest.mark.parametrize("activation", ["tanh(z)", "relu(z)", "He2(z)", "z + z**2"])
@pytest.mark.parametrize("link", ["1 + z", "sign(z1) + z1*z2"])
def test_without_a_spike_it_is_random_features(activation: str, link: str) -> None:
    """Fluctuating lengths included: they are how He2 learns a constant."""
    target = MultiIndex(link, noise=0.1)
    inputs = features_given(Link(activation), Parameters(0.0, 0.0, 1.0, 2.0))
    labels = labels_given(target, np.eye(target.r)[0], 0.0, inputs.kappa)
    theory = RandomFeatures(1.4, activation, 0.1).predict(target, alpha=[0.6, 3.0])
    for k, alpha in enumerate((0.6, 3.0)):
        found = independent(inputs, labels, alpha, 1.4, 0.1)
        assert found.status == "converged"
        assert found.test == pytest.approx(float(theory.error[k]), rel=1e-6)
        assert found.train == pytest.approx(float(theory.train_error[k]), rel=1e-6)


def test_the_frame_of_the_target_does_not_matter() -> None:
    parameters = Parameters(0.8, 0.7, 1.1)
    inputs = features_given(TANH, parameters)
    found = []
    for link, direction in (("z1 + z1*z2", [1.0, 0.0]), ("z2 + z1*z2", [0.0, 1.0])):
        labels = labels_given(MultiIndex(link), np.array(direction), 0.7, inputs.kappa)
        found.append(independent(inputs, labels, 1.5, 1.0, 0.1)[:2])
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    # Turned by 45 degrees, where the linear part lies between the axes.
    turned = MultiIndex("(z1 + z2)/sqrt(2) + (z1 + z2)*(z2 - z1)/2")
    labels = labels_given(turned, np.array([1.0, 1.0]) / np.sqrt(2), 0.7, inputs.kappa)
    assert independent(inputs, labels, 1.5, 1.0, 0.1)[:2] == pytest.approx(found[0], rel=1e-7)


def test_small_ridges_near_the_interpolation_peak() -> None:
    target = MultiIndex("tanh(z)")
    parameters = one_step(target, TANH, "ones", 1.0, 2.0)
    inputs = features_given(TANH, parameters)
    labels = labels_given(target, ONE, parameters.alignment, inputs.kappa)
    found = [independent(inputs, labels, 1.0, 1.0, ridge) for ridge in (1e-2, 1e-4, 1e-6)]
    assert all(one.status == "converged" for one in found)
    assert found[0].test < found[1].test < found[2].test
    assert found[0].train > found[1].train > found[2].train


@pytest.mark.parametrize("spike", [0.0, 0.9])
def test_the_density_of_the_covariance(spike: float) -> None:
    """Against the eigenvalues of one draw, the outlier left out: quartiles and mass."""
    d, beta, alpha = 500, 0.5, 4.0
    inputs = features_given(TANH, Parameters(spike, 0.8, 1.1))
    rng = np.random.default_rng(1)
    W = 1.1 * rng.standard_normal((250, d)) / np.sqrt(d)
    W[:, 0] += spike
    F = np.tanh(rng.standard_normal((2000, d)) @ W.T)
    F -= F.mean(axis=0)
    eigenvalues = np.linalg.eigvalsh(F.T @ F / 2000)[: -1 if spike else None]
    x = np.linspace(1e-3, 1.3 * eigenvalues[-1], 400)
    density = covariance_density(inputs, alpha, beta, x, np.array([1.21]))
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(x))])
    assert mass[-1] == pytest.approx(1.0, abs=0.02)
    for share in (0.25, 0.5, 0.75, 0.95):
        assert np.interp(np.quantile(eigenvalues, share), x, mass) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(
    ("alpha", "activation"), [(0.1, "tanh(z)"), (0.6, "relu(z)"), (0.6, "He2(z)")]
)
def test_the_density_with_fewer_samples_than_neurons(alpha: float, activation: str) -> None:
    """Against the eigenvalues above zero of one draw: how many are above their quantiles."""
    d, beta, n = 500, 1.0, round(500 * alpha)
    inputs = features_given(Link(activation), Parameters(0.0, 0.8, 1.1))
    rng = np.random.default_rng(1)
    W = 1.1 * rng.standard_normal((500, d)) / np.sqrt(d)
    F = np.asarray(Link(activation)((rng.standard_normal((n, d)) @ W.T)[..., None]))
    F -= F.mean(axis=0)
    eigenvalues = np.linalg.eigvalsh(F @ F.T / n)[1:]
    x = np.linspace(1e-2, 1.5 * eigenvalues[-1], 1000)
    density = covariance_density(inputs, alpha, beta, x, np.array([1.21]))
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(x))])
    for share in (0.25, 0.5, 0.75, 0.95):
        above = mass[-1] - np.interp(np.quantile(eigenvalues, share), x, mass)
        assert above == pytest.approx(alpha * (1 - share), abs=0.03 * alpha + 0.003)
