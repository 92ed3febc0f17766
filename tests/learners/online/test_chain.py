"""The chain of order parameters: same bits for the same seed, exact identities, stability."""

import numpy as np
import pytest

from learnability import LearnabilityError, MultiIndex, OnlineSGD, SpikedIndex

SPIKES = SpikedIndex("z + abs(z)", spike=4.0, alignment=0.5, noise=0.1)


def run(learner, link="He3(z)/sqrt(6) + z", **options):
    return learner.simulate(link, **{"d": 60, "time": [0.5, 2.0], "seeds": 4, **options})


@pytest.mark.parametrize("target", ["He3(z)/sqrt(6) + z", SPIKES])
@pytest.mark.parametrize("engine", ["reduced", "full"])
def test_a_seed_gives_the_same_bits_whatever_else_is_asked(engine, target):
    learner = OnlineSGD(activation="tanh(z)", engine=engine, width=2, batch=3)
    whole = run(learner, target, seeds=11)
    for seeds in ([2], [10, 3], [0, 1, 2, 3, 4, 5, 6, 7, 8]):
        part = run(learner, target, seeds=seeds, time=[0.1, 0.5, 0.9, 2.0])
        for name in ("overlap_trace", "gram_trace", "error_trace"):
            same = whole[name].sel(seed=seeds).values
            np.testing.assert_array_equal(part[name].values[:, [1, 3]], same)
    assert np.ptp(whole.overlap.values) > 1e-3


def test_no_step_changes_nothing_and_time_zero_is_the_start():
    start = ([[1.0, 0.2], [0.2, 1.0]], [[0.3], [-0.1]])
    learner = OnlineSGD(width=2, step=0.0)
    found = run(learner, start=start, time=[0.0, 1.0])
    np.testing.assert_allclose(found.overlap_trace.values[1, 1], start[1], atol=1e-12)
    np.testing.assert_allclose(found.gram_trace.values[1], [start[0]] * 2, atol=1e-12)


@pytest.mark.parametrize("engine", ["reduced", "full"])
def test_rows_stay_on_the_sphere(engine):
    learner = OnlineSGD(width=3, spherical=True, step=3.0, activation="tanh(z)", engine=engine)
    gram = run(learner).gram_trace.values
    np.testing.assert_allclose(np.einsum("stjj->stj", gram), 1, atol=1e-5)
    assert (np.linalg.eigvalsh(gram) > -1e-6).all()


@pytest.mark.parametrize("width", [1, 3])
def test_saturated_and_equal_neurons_stay_finite(width):
    """A student that is its target, and neurons that are copies of each other."""
    Q, M = np.ones((width, width)), np.ones((width, 1))
    learner = OnlineSGD(width=width, activation="tanh(z)", step=1.0, second_layer=1 / width)
    found = learner.simulate("tanh(z)", d=50, time=40.0, seeds=3, start=(Q, M))
    np.testing.assert_allclose(found.overlap, 1, atol=1e-6)
    np.testing.assert_allclose(found.error, 0, atol=1e-6)


def test_perfect_recovery_is_approached_without_a_floor():
    """Without noise the student becomes its target, far beyond single precision."""
    learner = OnlineSGD(width=2, activation="erf(z)", step=1.0)
    start = ([[1.0, 0.0], [0.0, 1.0]], [[0.6, 0.0], [0.0, 0.6]])
    found = learner.simulate("erf(z1) + erf(z2)", d=20, time=600.0, seeds=2, start=start)
    np.testing.assert_allclose(
        found.overlap.values, np.broadcast_to(np.eye(2), (2, 2, 2)), atol=1e-9
    )


@pytest.mark.parametrize("engine", ["reduced", "full"])
def test_divergence_is_a_status_with_a_sentence(engine):
    learner = OnlineSGD(step=50.0, engine=engine)
    found = run(learner, time=[0.0, 20.0])
    assert set(found.status.values) == {"diverged"}
    assert np.isfinite(found.overlap_trace.values[:, 0]).all()
    assert np.isnan(found.overlap.values).all() and np.isnan(found.error.values).all()
    assert "4 of 4 runs diverged" in found.attrs["note"]


def test_a_function_that_only_numpy_knows_runs_too():
    def link(z):
        return np.array([float(row[0]) for row in np.asarray(z)])

    found = run(OnlineSGD(), link=MultiIndex(link, r=1), time=[0.5], d=20, seeds=2)
    same = run(OnlineSGD(), link="z", time=[0.5], d=20, seeds=2)
    np.testing.assert_allclose(found.overlap, same.overlap, rtol=1e-5)


def test_a_schedule_multiplies_the_steps():
    learner = OnlineSGD(activation="tanh(z)", schedule="step(1 - z)")
    found = run(learner, time=[1.0, 2.0]).overlap_trace.values
    np.testing.assert_array_equal(found[:, 0], found[:, 1])
    still = run(OnlineSGD(activation="tanh(z)", schedule="0.5 + 0*z", step=0.2), time=[1.0])
    plain = run(OnlineSGD(activation="tanh(z)", step=0.1), time=[1.0])
    np.testing.assert_allclose(still.overlap, plain.overlap)


def test_small_dimensions_belong_to_the_full_engine():
    with pytest.raises(LearnabilityError, match="at least 4"):
        run(OnlineSGD(width=3), d=3)
    assert run(OnlineSGD(width=3, engine="full"), d=3).status.values[0] == "finished"


def test_recovery_times_are_first_passages():
    learner = OnlineSGD(activation="tanh(z)", step=1.0, loss="correlation", spherical=True)
    times = np.linspace(0, 6, 601)
    path = np.abs(learner.simulate("z", d=100, time=times, seeds=8).cosine_trace.values)
    found = learner.simulate("z", question="recovery", d=100, time=6.0, seeds=8)
    first = times[np.argmax(path[:, :, 0, 0] >= 0.5, axis=1)]
    np.testing.assert_allclose(found.recovery_time, first, atol=1e-9)
    assert set(found.status.values) == {"recovered"}
    late = learner.simulate("z", question="recovery", d=100, time=0.01, seeds=2)
    assert np.isinf(late.recovery_time.values).all() and late.status.values[0] == "stopped"


# ---- inputs with spikes


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
    first = runs.correlation_trace.values[0, 0, 0, 0]
    rho = np.tanh(np.arctanh(first) + 0.02 * time)
    np.testing.assert_allclose(runs.correlation_trace.mean("seed")[:, 0, 0], rho, atol=0.012)


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
    ahead = {"look_ahead": 0.2} if rule == "sam" else {}
    learner = OnlineSGD(activation="tanh(z)", rule=rule, step=0.05, spherical=True, **ahead)
    runs = learner.simulate(target, d=60, time=1.0, seeds=3)
    assert np.isfinite(runs.correlation).all() and (np.abs(runs.correlation) <= 1).all()
