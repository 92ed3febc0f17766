"""The chain of SGD on spiked inputs."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import OnlineSGD, SpikedIndex


def test_without_a_spike_it_is_the_isotropic_chain() -> None:
    """Means of the overlap of 3000 runs each, |z| < 4."""
    learner = OnlineSGD(activation="tanh(z)", step=0.5, spherical=True)
    plain = learner.simulate("tanh(2*z)", d=40, time=2.0, seeds=3000, start=(1.0, 0.3))
    spiked = learner.simulate(
        SpikedIndex("tanh(2*z)", spike=0.0, alignment=0.2), d=40, time=2.0, seeds=3000,
        start=(1.0, 0.3, 0.1),
    )  # fmt: skip
    x, y = plain.overlap.values.ravel(), spiked.overlap.values.ravel()
    assert abs(x.mean() - y.mean()) < 4 * np.sqrt((x.var() + y.var()) / 3000)
    np.testing.assert_allclose(spiked.correlation.values.ravel(), y, atol=1e-9)


def test_whitened_steps_follow_the_equation_of_the_correlation() -> None:
    """Small steps: d rho / dt = step zeta'(rho) (1 - rho^2), here with zeta = rho."""
    target = SpikedIndex("z", spike=20.0, alignment=0.5)
    learner = OnlineSGD(activation="z", loss="correlation", step=0.02, normalisation="whitened")
    time = np.array([0.0, 10.0, 30.0])
    runs = learner.simulate(target, d=4000, time=time, seeds=30, start=(1.0, 0.1, 0.05))
    first = runs.correlation_trace.values[0, 0, 0]
    rho = np.tanh(np.arctanh(first) + 0.02 * time)
    np.testing.assert_allclose(runs.correlation_trace.mean("seed")[:, 0], rho, atol=0.012)


def test_several_neurons_noise_batches_and_layers() -> None:
    target = SpikedIndex("He2(z)", spike_exponent=0.5, alignment_exponent=0.2, noise=0.1)
    for normalisation in ("none", "normalised"):
        learner = OnlineSGD(
            width=2, step=0.2, batch=3, second_layer=(0.5, -0.5), second_step=0.1,
            schedule="1/(1 + z)", normalisation=normalisation,
        )  # fmt: skip
        runs = learner.simulate(target, d=50, time=[0.5, 1.0], seeds=4)
        assert np.isfinite(runs.gram_trace).all() and runs.overlap_trace.shape == (4, 2, 2, 1)
        gram = runs.gram.values
        assert (np.linalg.eigvalsh(gram) > 0).all()
        again = learner.simulate(target, d=50, time=1.0, seeds=[3, 2, 1, 0])
        np.testing.assert_allclose(again.gram.values[1], gram[2], rtol=1e-9)


@pytest.mark.parametrize("rule", ["repetition", "sam"])
def test_rules_that_use_a_sample_again(rule: str) -> None:
    target = SpikedIndex("He3(z)", spike=3.0)
    learner = OnlineSGD(activation="tanh(z)", rule=rule, look_ahead=0.2, step=0.05, spherical=True)
    runs = learner.simulate(target, d=60, time=1.0, seeds=3)
    assert np.isfinite(runs.correlation).all() and (np.abs(runs.correlation) <= 1).all()
