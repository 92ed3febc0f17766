"""Which theory answers, and what random features and kernels share."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import KernelRidge, LearnabilityError, MultiIndex, RandomFeatures, SpikedIndex
from learnability.inputs import Isotropic, Spiked

LEARNERS = (RandomFeatures(), RandomFeatures(math.inf, "tanh(z)", 0.1), KernelRidge("exp(z)", 0.1))


def test_runs_are_laid_out_by_alpha_seed_and_ridge() -> None:
    learner = KernelRidge("exp(z)", (0.5, 2.0))
    runs = learner.simulate("z", d=10, alpha=[1.0, 2.0], seeds=[7, 3])
    assert runs.status.dims == runs.error.dims == ("alpha", "seed", "ridge")
    for alpha, seed, ridge in ((2.0, 3, 2.0), (1.0, 7, 0.5)):
        alone = KernelRidge("exp(z)", ridge).simulate("z", d=10, alpha=alpha, seeds=[seed])
        at = runs.sel(alpha=alpha, seed=seed, ridge=ridge)
        assert float(at.error) == pytest.approx(float(alone.error[0]), rel=1e-6)
        assert float(at.train_error) == pytest.approx(float(alone.train_error[0]), rel=1e-6)


def test_memory_is_planned_before_the_work() -> None:
    with pytest.raises(LearnabilityError, match="GiB"):
        KernelRidge().simulate("z", d=10, alpha=[1.0, 1e8])


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_large_dimensions_have_the_errors_of_the_limit(
    learner: KernelRidge | RandomFeatures,
) -> None:
    finite = learner.predict("z", d=1000, alpha=1.0)
    limit = learner.predict("z", alpha=1.0)
    assert float(finite.error) == pytest.approx(float(limit.error), rel=0.02)
    assert float(finite.kappa) == 1.0


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("spikes", [0.0, (0.0, 0.0)])
def test_a_spike_of_strength_zero_changes_nothing(
    learner: KernelRidge | RandomFeatures, spikes: float | tuple[float, ...]
) -> None:
    flat, marked = (
        learner.predict(MultiIndex("z1 + z1*z2", noise=0.1, inputs=inputs), d=300, alpha=[0.5, 2.0])
        for inputs in (Isotropic(), Spiked(spikes, alignment=0.3))
    )
    for name in ("error", "train_error", "kappa"):
        np.testing.assert_array_equal(marked[name], flat[name])


@pytest.mark.parametrize("alignment", [0.0, 0.6, 1.0])
def test_a_weak_spike_changes_little(alignment: float) -> None:
    """Another theory takes over at any strength above zero; it agrees up to order 1 / d."""
    learner, d = KernelRidge("exp(z)", 0.1), 2000
    flat = learner.predict(MultiIndex("tanh(z) + He2(z)/3"), d=d, alpha=[0.5, 2.0]).error
    weak = SpikedIndex("tanh(z) + He2(z)/3", spike=1e-9, alignment=alignment)
    np.testing.assert_allclose(learner.predict(weak, d=d, alpha=[0.5, 2.0]).error, flat, rtol=4 / d)


def test_several_spikes_and_directions_carry_their_standard_error() -> None:
    """A second spike of strength zero: two coordinates are sampled where one is integrated over."""
    learner = KernelRidge("exp(z)", (0.1, 1.0))
    exact = learner.predict(SpikedIndex("sign(z)", 8.0, 0.6, 0.1), d=400, alpha=[0.5, 1.5])
    target = MultiIndex("sign(z)", noise=0.1, inputs=Spiked((8.0, 0.0), (0.6, 0.0)))
    sampled = learner.predict(target, d=400, alpha=[0.5, 1.5])
    assert sampled.error_stderr.dims == ("alpha", "ridge") and "error_stderr" not in exact
    for name in ("error", "train_error"):
        gap = np.abs(sampled[name] - exact[name])
        assert (sampled[f"{name}_stderr"] < 0.005 * exact[name]).all()
        assert (gap < 5 * sampled[f"{name}_stderr"] + 0.004 * exact[name]).all(), gap.values


def test_two_directions_on_one_spike_are_those_of_two_spikes_one_of_which_is_flat() -> None:
    """The order of spikes does not matter, nor do other sampled points."""
    learner = RandomFeatures(1.5, "relu(z)", 0.1)
    one, two = (
        learner.predict(MultiIndex("z1*z2 + z1", inputs=inputs), d=300, alpha=1.0)
        for inputs in (Spiked(20.0), Spiked((0.0, 20.0), ((0.0, 1.0), (1.0, 0.0))))
    )
    gap = abs(float(one.error - two.error))
    assert gap < 5 * math.hypot(float(one.error_stderr), float(two.error_stderr)) + 0.005


@pytest.mark.parametrize(
    "learner",
    [
        RandomFeatures(2.0, "relu(z)", ridge=0.1),
        RandomFeatures(1.0, "cos(z)", ridge=1.0),
        KernelRidge("exp(z3 - z1/2 - z2/2)", ridge=0.1),
        KernelRidge("exp(z)", ridge=0.1),
    ],
    ids=repr,
)
@pytest.mark.parametrize("inputs", [Isotropic(), Spiked(8.0, 0.8)], ids=repr)
def test_the_mean_of_a_label_is_not_learned_where_features_feel_lengths(
    learner: KernelRidge | RandomFeatures, inputs: Isotropic | Spiked
) -> None:
    """Features that grow with |x| cannot be constant: 0.41 was predicted for 0.63 here."""
    target = MultiIndex("10 + tanh(z)", inputs=inputs)
    theory = float(learner.predict(target, d=200, alpha=1.5).error)
    runs = learner.simulate(target, d=200, alpha=1.5, seeds=4).error
    stderr = float(runs.std(ddof=1)) / 2
    allowed = 0.1 if inputs.kind == "spiked" else 0.04
    assert theory == pytest.approx(float(runs.mean()), rel=allowed, abs=3 * stderr)


def test_training_sets_know_their_lengths() -> None:
    target = MultiIndex("10 + tanh(z)", inputs=Spiked(8.0, 0.8))
    learner = KernelRidge("exp(z3 - z1/2 - z2/2)", ridge=0.1)
    theory = learner.predict(target, d=200, alpha=1.5, seeds=4).error
    runs = learner.simulate(target, d=200, alpha=1.5, seeds=4).error
    assert float(theory.mean()) == pytest.approx(float(runs.mean()), rel=0.06)


def test_a_limit_that_is_far_is_told() -> None:
    learner = RandomFeatures(1.0, "relu(z)", 0.1)
    assert "note" not in learner.predict("tanh(z)", alpha=1.0).attrs
    assert "dimensions far above" in learner.predict("10 + tanh(z)", alpha=1.0).note


def test_sizes_are_those_of_runs() -> None:
    """One neuron is one, whatever the width says, and a handful of samples has no theory."""
    narrow = [RandomFeatures(width, "relu(z)", 0.1) for width in (0.001, 1 / 200)]
    first, second = (float(one.predict("z", d=200, alpha=1.0).error) for one in narrow)
    assert first == second
    with pytest.raises(LearnabilityError, match="2 samples"):
        narrow[0].predict("z", d=200, alpha=[0.01, 1.0])


@pytest.mark.parametrize(("kernel", "link"), [("quadratic", "tanh(z)"), ("(1 + z)**3", "sign(z)")])
def test_training_errors_state_what_the_lengths_of_inputs_do(kernel: str, link: str) -> None:
    """Training errors of polynomial kernels are 13 / d too small: |x|^2 / d is not 1."""
    target, learner, seeds = MultiIndex(link, noise=0.1), KernelRidge(kernel, ridge=0.1), 8
    theory = learner.predict(target, d=100, alpha=4.0)
    runs = learner.simulate(target, d=100, alpha=4.0, seeds=seeds).train_error
    error = float(runs.std(ddof=1)) / math.sqrt(seeds)
    gap = abs(float(theory.train_error) - float(runs.mean()))
    assert gap <= 3 * error + float(theory.train_error_stderr) < 0.5 * float(runs.mean())


def test_what_small_dimensions_do_not_tell_is_undecided() -> None:
    """Degrees above seven are learned by so many samples; 2.5 with an error of 0.03 was printed."""
    many = KernelRidge("exp(z)", 0.0).predict(MultiIndex("tanh(z)", noise=0.1), d=30, alpha=3e6)
    assert np.isnan(many.error) and "undecided" in many.note
    few = KernelRidge("mehler", 0.0).predict("tanh(z)", d=2, alpha=3.0)
    assert np.isnan(few.error) and np.isnan(few.error_stderr)
    peak = RandomFeatures(2.0, "tanh(z)", 0.0).predict("tanh(z)", d=50, alpha=[1.0, 2.0])
    assert np.isinf(peak.error[1]) and float(peak.error_stderr[0]) > 0


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_errors_of_small_dimensions_are_those_of_runs(
    learner: KernelRidge | RandomFeatures,
) -> None:
    """At d = 20 lengths change errors by 5 to 10 %; 20 runs, three joint errors and 2 %."""
    target = MultiIndex("z + He2(z)/sqrt(2) + He3(z)/sqrt(6)", noise=0.1)
    theory = learner.predict(target, d=20, alpha=30.0)
    if isinstance(learner, RandomFeatures) and math.isinf(learner.width):
        return
    runs = learner.simulate(target, d=20, alpha=30.0, seeds=20).error
    error = math.hypot(float(runs.std(ddof=1)) / math.sqrt(20), float(theory.error_stderr))
    assert float(theory.error) == pytest.approx(float(runs.mean()), rel=0.02, abs=3 * error)
