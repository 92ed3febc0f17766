"""What theory says of one step: reference values, limits, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from learnability import GiantSteps, LearnabilityError, MultiIndex, RandomFeatures, SpikedIndex

TANH = {"activation": "tanh(z)", "step": 1.0, "batch": 2.0}


def test_a_published_table() -> None:
    """Test errors after one step with eta / d = 1, from the published theory on one drawn W."""
    alpha = [0.2, 0.666667, 1.133333, 1.6, 2.066667, 2.533333, 3.0]
    published = [0.283891, 0.305001, 0.265949, 0.203767, 0.169963, 0.151384, 0.140036]
    theory = GiantSteps(1.0, "tanh(z)", batch=0.5, step=1.0, ridge=0.01).predict(
        "tanh(z)", alpha=alpha, bulk="independent"
    )
    np.testing.assert_allclose(theory.error, published, rtol=7e-3)
    np.testing.assert_allclose(theory.alignment, 0.563485, atol=1e-6)
    np.testing.assert_allclose(theory.spike, 0.651089, atol=1e-6)


@pytest.mark.parametrize(
    ("link", "step", "ridge", "expected"),
    [
        ("tanh(z)", 1.0, 0.01, [0.17252, 0.16445, 0.12265, 0.09947, 0.0805, 0.07279]),
        ("sign(z)", 3.0, 0.1, [0.65757, 0.65054, 0.62519, 0.5978, 0.55417, 0.52505]),
    ],
)
def test_reference_errors(link: str, step: float, ridge: float, expected: list[float]) -> None:
    """Computed elsewhere, as in `test_limit_errors`: batch 2, at alpha = 0.5, 1, 1.5, 2, 3, 4."""
    learner = GiantSteps(1.0, "tanh(z)", batch=2.0, step=step, ridge=ridge)
    theory = learner.predict(link, alpha=[0.5, 1.0, 1.5, 2.0, 3.0, 4.0], bulk="independent")
    np.testing.assert_allclose(theory.error, expected, atol=2e-5)
    assert (theory.spread == 0.0).all()


def test_the_best_ridge() -> None:
    learner = GiantSteps(1.0, **TANH)
    best = learner.predict("sign(z)", question="best-ridge", alpha=[2.0, 3.0])
    ridge, error = best.best_ridge.values[0], best.error.values[0]
    around = GiantSteps(1.0, ridge=(ridge / 2, ridge, 2 * ridge), **TANH)
    found = around.predict("sign(z)", alpha=2.0).error.values
    assert found[1] == pytest.approx(error, rel=1e-6)
    assert found[1] < found[0] and found[1] < found[2]


def test_what_the_theory_does_not_cover_is_refused() -> None:
    tanh = GiantSteps(**TANH)
    with pytest.raises(LearnabilityError, match="no linear part"):
        tanh.predict("z**2", alpha=1.0)
    with pytest.raises(LearnabilityError, match=r"`steps` was given as 2.*known after one"):
        GiantSteps(steps=2, **TANH).predict("z", alpha=1.0)
    with pytest.raises(LearnabilityError, match=r"share more of the batch.*default"):
        GiantSteps(activation="relu(z)").predict("z", alpha=1.0, bulk="independent")
    with pytest.raises(LearnabilityError, match="init='symmetric'"):
        GiantSteps(init="symmetric", **TANH).predict("z", alpha=1.0)
    with pytest.raises(LearnabilityError, match="init='gaussian'"):
        GiantSteps(init="gaussian", **TANH).predict("z", alpha=1.0)
    with pytest.raises(LearnabilityError, match="ridges above 0"):
        GiantSteps(ridge=0.0, **TANH).predict("z", d=20, alpha=1.0)
    with pytest.raises(LearnabilityError, match="give `step`"):
        GiantSteps(activation="tanh(z)").predict("z1 + z1**2 + z2**2", alpha=1.0)
    with pytest.raises(LearnabilityError, match="accepts isotropic inputs"):
        tanh.predict(SpikedIndex("z", spike=1.0), question="best-ridge", alpha=1.0)
    with pytest.raises(LearnabilityError, match=r"`bias`.*without biases"):
        GiantSteps(bias=1.0, **TANH).predict("z", alpha=1.0)
    with pytest.raises(LearnabilityError, match=r"`update`.*add to the weights"):
        GiantSteps(activation="tanh(z)", update="replace").predict("z", alpha=1.0)
    for name, value in (("parameters", (1.0, 0.5, 1.0)), ("bulk", "batch")):
        with pytest.raises(LearnabilityError, match=f"`{name}` and `d` were both given"):
            tanh.predict("z", d=20, alpha=1.0, **{name: value})  # type: ignore[typeddict-item]
    with pytest.raises(LearnabilityError, match="`seeds` was given without `d`"):
        tanh.predict("z", alpha=1.0, seeds=2)
    with pytest.raises(LearnabilityError, match=r"`ridge`.*it is what this question determines"):
        GiantSteps(ridge=0.1, **TANH).predict("z", question="best-ridge", alpha=1.0)
    odd = GiantSteps(init="signs", **TANH).predict("sign(z)", alpha=2.0)
    assert float(odd.error) == float(tanh.predict("sign(z)", alpha=2.0).error)


def test_given_parameters_ask_for_independent_neurons() -> None:
    learner = GiantSteps(activation="relu(z)", ridge=0.1)
    target = MultiIndex("z + z**2", noise=0.1)
    weak, strong = (
        learner.predict(target, alpha=3.0, parameters=(spike, 0.8, 1.0)) for spike in (0.0, 1.5)
    )
    assert float(strong.error) < float(weak.error)
    assert float(strong.spike) == 1.5


@pytest.mark.parametrize("alpha", [0.4, 2.5])
def test_without_a_ridge(alpha: float) -> None:
    """The limit of small ridges; without a spike the closed form of random features."""
    learner = GiantSteps(1.3, ridge=0.0, **TANH)
    theory = learner.predict("sign(z)", alpha=alpha, parameters=(0.0, 0.0, 1.0))
    expected = RandomFeatures(1.3, "tanh(z)", 0.0).predict("sign(z)", alpha=alpha)
    assert float(theory.error) == pytest.approx(float(expected.error), rel=1e-5)
    assert float(theory.train_error) == pytest.approx(float(expected.train_error), abs=1e-6)
    small = GiantSteps(1.3, ridge=1e-6, **TANH).predict("sign(z)", alpha=alpha)
    none = learner.predict("sign(z)", alpha=alpha)
    assert float(none.error) == pytest.approx(float(small.error), rel=1e-4)


def test_the_peak_without_a_ridge() -> None:
    theory = GiantSteps(1.0, ridge=0.0, **TANH).predict("sign(z)", alpha=[1.0, 3.0])
    assert np.isinf(theory.error[0]) and np.isfinite(theory.error[1])
    assert theory.status.values.tolist() == ["stopped", "converged"]


def test_given_first_layers() -> None:
    """The names and axes of theory with `d`; a first layer that diverged is told."""
    learner = GiantSteps(0.5, "relu(z)", 2.0, step=1.0, init="signs", ridge=(0.1, 1.0))
    target = MultiIndex("z1 + z1*z2", noise=0.1)
    found = learner.predict(target, d=60, alpha=[1.0, 3.0], seeds=[4, 2])
    assert found.error.dims == ("alpha", "seed", "ridge") and found.error.shape == (2, 2, 2)
    assert (found.status == "converged").all() and (found.train_error < found.error).all()
    runs = learner.simulate(target, d=60, alpha=[1.0, 3.0], seeds=[4, 2])
    for name in ("spike", "alignment", "bulk", "spread"):
        np.testing.assert_array_equal(found[name], runs[name])
    one = GiantSteps(0.5, "relu(z)", 2.0, step=1.0, init="signs", ridge=1.0)
    again = one.predict(target, d=60, alpha=3.0, seeds=[2])
    assert float(again.error[0]) == pytest.approx(float(found.error[1, 1, 1]), rel=1e-6)
    far = GiantSteps(0.5, "z**3", step=1e30, batch=1.0).predict("z", d=20, alpha=1.0)
    assert far.status.values.tolist() == ["diverged"] and np.isnan(far.error).all()


def test_an_even_activation_learns_nothing_of_an_odd_target() -> None:
    """Without a linear part of sigma the step has no spike, and the readout only sees noise."""
    learner = GiantSteps(0.5, "abs(z)", 7.0, step=0.2, ridge=0.05)
    found = learner.predict("erf(z)", alpha=2.0)
    assert float(found.spike) == pytest.approx(0.0, abs=1e-12)
    assert float(found.error) > MultiIndex("erf(z)").label_variance
    assert np.isnan(found.alignment) and "no spike" in found.note  # Nothing has one.


@pytest.mark.parametrize("init", ["ones", "symmetric"])
def test_the_mean_of_a_label_is_not_learned_where_features_feel_lengths(init: str) -> None:
    """Features that grow with |x| cannot be constant, also after a step."""
    learner = GiantSteps(1.0, "relu(z)", 2.0, step=0.2, init=init, ridge=0.1)
    target = MultiIndex("10 + tanh(z)")
    theory = learner.predict(target, d=200, alpha=2.0, seeds=3).error
    runs = learner.simulate(target, d=200, alpha=2.0, seeds=3).error
    stderr = float((runs - theory).std(ddof=1)) / np.sqrt(3)
    assert float(theory.mean()) == pytest.approx(float(runs.mean()), rel=0.05, abs=2 * stderr)


def test_given_first_layers_know_the_variance_of_fast_labels() -> None:
    """sin(15 z) acts as noise, and nodes of two kept directions had another variance of it."""
    learner = GiantSteps(0.5, "tanh(z)", 4.0, step=1.0, ridge=0.1)
    fast, noisy = MultiIndex("z + 2*sin(15*z)"), MultiIndex("z", noise=2.0)
    found = [
        float(learner.predict(t, d=100, alpha=2.0, seeds=3).error.mean()) for t in (fast, noisy)
    ]
    assert found[0] == pytest.approx(found[1], rel=0.05)


def test_no_best_ridge_where_the_error_falls_for_ever() -> None:
    """Of a label that is all noise nothing is the best guess, and 1e4 is no such ridge."""
    learner = GiantSteps(**TANH)
    found = learner.predict(MultiIndex("tanh(z)", noise=1e6), question="best-ridge", alpha=2.0)
    assert np.isnan(found.best_ridge) and np.isnan(found.error) and "larger ridge" in found.note


def test_huge_batches_take_no_more_samples_than_their_noise_needs() -> None:
    """The lengths of the rows were those of a first layer on all samples, for ever."""
    free = GiantSteps(1.0, "tanh(z)", step=0.3, ridge=0.1)
    many = replace(free, batch=1e5).predict("tanh(z)", alpha=1.0)
    assert float(many.spread) == pytest.approx(2.0, abs=0.2) and float(many.error) < 0.08
    with pytest.raises(LearnabilityError, match="smaller `step` or `batch`"):
        replace(free, batch=1e6, step=1000.0).predict("tanh(z)", alpha=1.0)
    with pytest.raises(LearnabilityError, match="too close to 1"):
        replace(free, batch=1e15).predict("tanh(z)", alpha=1.0)
    with pytest.raises(LearnabilityError, match=r"need .* GiB|would take about"):
        replace(free, batch=1e14).predict("tanh(z)", d=50, alpha=1.0)


def test_spikes_too_strong_for_tables_are_refused() -> None:
    """Their tables asked for terabytes."""
    target = SpikedIndex("tanh(z)", spike=1e9)
    with pytest.raises(LearnabilityError, match="weaker spikes or smaller steps"):
        GiantSteps(1.0, "tanh(z)", step=1.0).predict(target, d=50, alpha=1.0)
