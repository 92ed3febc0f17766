"""The compiled loops: same numbers for the same seed, exact identities, stability."""

import numpy as np
import pytest

from learnability import LearnabilityError, MultiIndex
from learnability.learners.online import OnlineSGD


def run(learner, link="He3(z)/sqrt(6) + z", **options):
    return learner.simulate(link, **{"d": 60, "time": [0.5, 2.0], "seeds": 4, **options})


@pytest.mark.parametrize("engine", ["reduced", "full"])
def test_a_seed_gives_the_same_run_whatever_else_is_asked(engine):
    learner = OnlineSGD(activation="tanh(z)", engine=engine)
    whole = run(learner)
    alone = run(learner, seeds=[2], time=[0.1, 0.5, 0.9, 2.0])
    np.testing.assert_allclose(
        alone.overlap_trace.values[0, [1, 3]], whole.overlap_trace.values[2], rtol=1e-5
    )
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
    with pytest.raises(LearnabilityError, match="width \\+ r = 4"):
        run(OnlineSGD(width=3), d=3)
    assert run(OnlineSGD(width=3, engine="full"), d=3).status.values[0] == "finished"


def test_recovery_times_are_first_passages():
    learner = OnlineSGD(activation="tanh(z)", step=1.0, loss="correlation", spherical=True)
    times = np.linspace(0, 6, 601)
    path = np.abs(learner.simulate("z", d=100, time=times, seeds=8).cosine_trace.values)
    found = learner.simulate_recovery("z", d=100, time=6.0, seeds=8)
    first = times[np.argmax(path[:, :, 0, 0] >= 0.5, axis=1)]
    np.testing.assert_allclose(found.recovery_time, first, atol=1e-9)
    assert set(found.status.values) == {"recovered"}
    late = learner.simulate_recovery("z", d=100, time=0.01, seeds=2)
    assert np.isinf(late.recovery_time.values).all() and late.status.values[0] == "stopped"
