"""The Bayes-optimal learner: what it returns, what it refuses, and known values."""

from __future__ import annotations

import math

import numpy as np
import pytest
import xarray

from learnability import BayesAMP, MultiIndex
from learnability.errors import LearnabilityError
from learnability.learners.base import Learner

D = 120


def test_it_is_a_learner() -> None:
    assert isinstance(BayesAMP(), Learner)


# ---- simulate


def test_what_a_simulation_returns() -> None:
    runs = BayesAMP().simulate("sign(z1*z2)", d=D, alpha=[2.0, 6.0], seeds=[3, 8])
    axes = ("alpha", "seed")
    matrix = ("estimate", "index")
    assert runs.overlap.dims == runs.cosine.dims == (*axes, *matrix)
    assert runs.overlap_trace.dims == (*axes, "time", *matrix)
    assert runs.error_trace.dims == (*axes, "time")
    for name in ("subspace_overlap", "error", "misclassification", "iterations", "status"):
        assert runs[name].dims == axes
    np.testing.assert_array_equal(runs.seed, [3, 8])
    np.testing.assert_array_equal(runs.alpha, [2.0, 6.0])
    assert runs.attrs["d"] == D and runs.attrs["verb"] == "simulate"
    assert runs.attrs["learner"].startswith("BayesAMP(start='auto'")
    statuses = {"converged", "stopped", "inconsistent", "diverged"}
    assert set(runs.status.values.ravel()) <= statuses
    assert runs.sizes["time"] == int(runs.iterations.max()) + 1
    # Traces end where the run does, and are held there.
    last = runs.overlap_trace.isel(time=-1)
    np.testing.assert_allclose(last, runs.overlap, atol=1e-12)
    short = runs.where(runs.iterations == runs.iterations.min(), drop=True)
    tail = short.error_trace.isel(time=slice(int(runs.iterations.min()), None))
    assert float((tail.max("time") - tail.min("time")).min()) == 0
    trace = np.trace(runs.overlap.values, axis1=2, axis2=3) / 2
    assert trace[1].min() > 0.7 > trace[0].max()
    assert (runs.error.sel(alpha=6.0) < 0.7).all()


def test_the_same_seed_gives_the_same_numbers() -> None:
    first = BayesAMP().simulate("sign(z1*z2)", d=60, alpha=3.0, seeds=[1, 5])
    again = BayesAMP().simulate("sign(z1*z2)", d=60, alpha=[2.0, 3.0], seeds=[5])
    for name in ("overlap", "subspace_overlap", "error", "iterations"):
        np.testing.assert_array_equal(first[name].sel(seed=5), again[name].sel(alpha=3.0, seed=5))
    assert float(first.error[0]) != float(first.error[1])


@pytest.mark.parametrize("link", ["z", "tanh(z)"])
def test_labels_that_tell_a_direction_exactly_settle(link: str) -> None:
    runs = BayesAMP().simulate(link, d=200, alpha=2.0, seeds=4)
    assert set(runs.status.values) == {"converged"}
    np.testing.assert_allclose(runs.overlap.values.ravel(), 1.0, atol=0.5 / math.sqrt(200))


def test_a_number_of_seeds_counts_from_zero() -> None:
    runs = BayesAMP().simulate("sign(z)", d=40, alpha=2.0, seeds=3)
    np.testing.assert_array_equal(runs.seed, [0, 1, 2])


def test_a_scalar_alpha_is_a_scalar_coordinate() -> None:
    runs = BayesAMP().simulate("sign(z)", d=40, alpha=2.0)
    assert runs.alpha.shape == () and runs.overlap.dims == ("seed", "estimate", "index")
    theory = BayesAMP().predict("sign(z)", alpha=2.0)
    assert theory.alpha.shape == () and theory.overlap.dims == ("estimate", "index")


def test_a_continuous_label_has_no_misclassification() -> None:
    runs = BayesAMP().simulate("tanh(z)", d=40, alpha=2.0)
    assert "misclassification" not in runs
    assert "misclassification" not in BayesAMP().predict("tanh(z)", alpha=2.0)


def test_the_perceptron_generalises_as_its_overlap_says() -> None:
    runs = BayesAMP().simulate("sign(z)", d=200, alpha=2.0, seeds=2)
    cosine = runs.cosine.values.ravel()
    np.testing.assert_allclose(runs.misclassification, np.arccos(cosine) / math.pi, atol=4e-3)
    np.testing.assert_allclose(runs.subspace_overlap, cosine**2, rtol=1e-4)


def test_signs_and_order_are_resolved() -> None:
    """Of sign(z1 z2) neither the order of directions nor their common sign is known."""
    runs = BayesAMP().simulate("sign(z1*z2)", d=D, alpha=8.0, seeds=4)
    overlap = runs.overlap.values
    assert np.trace(overlap, axis1=1, axis2=2).min() > 1.7
    assert np.abs(overlap[:, 0, 1]).max() < 0.2


def test_the_informed_start_begins_at_the_truth() -> None:
    runs = BayesAMP(start="informed", iterations=1).simulate("abs(z)", d=200, alpha=3.0, seeds=3)
    np.testing.assert_allclose(runs.overlap_trace.isel(time=0).values.ravel(), 0.95, atol=0.05)


def test_the_informed_prediction_is_the_other_fixed_point() -> None:
    """|z| at alpha = 1.05: below 1.128 message passing stays behind, from the truth it does not."""
    informed = BayesAMP(start="informed").predict("abs(z)", alpha=1.05)
    assert informed.overlap.item() == pytest.approx(1, abs=1e-3)
    assert BayesAMP().predict("abs(z)", alpha=1.05).overlap.item() < 0.7


@pytest.mark.parametrize("start", ["random", "spectral", "informed"])
def test_every_start_runs(start: str) -> None:
    runs = BayesAMP(start=start).simulate("sign(z1) + abs(z2)", d=60, alpha=4.0)
    assert np.isfinite(runs.overlap).all() and np.isfinite(runs.error).all()


def test_few_iterations_stop() -> None:
    runs = BayesAMP(iterations=2, tolerance=1e-6).simulate("sign(z1*z2)", d=60, alpha=6.0)
    assert runs.status.values.tolist() == ["stopped"]
    assert runs.iterations.values.tolist() == [2] and runs.sizes["time"] == 3


def test_a_function_written_for_numpy_alone() -> None:
    target = MultiIndex(lambda z: np.sin(z[..., 0]) + z[..., 1] ** 3, r=2, noise=0.1)
    runs = BayesAMP(iterations=8).simulate(target, d=40, alpha=4.0)
    assert np.isfinite(runs.overlap).all() and float(runs.overlap[0, 1, 1]) > 0.5
    assert "lambda" in runs.attrs["link"]


def test_three_directions() -> None:
    link = "z1**2 + sign(z1*z2*z3)"
    runs = BayesAMP(iterations=5).simulate(link, d=40, alpha=2.0)
    assert runs.overlap.shape == (1, 3, 3) and np.isfinite(runs.overlap).all()


@pytest.mark.parametrize("size", [{"d": 1, "alpha": 3.0}, {"d": 3, "alpha": 0.1}])
def test_the_smallest_samples_give_numbers(size: dict[str, float]) -> None:
    runs = BayesAMP(iterations=20).simulate("sign(z)", **size)  # type: ignore[arg-type]
    assert np.isfinite(runs.overlap).all()


# ---- predict


def test_known_values_of_state_evolution() -> None:
    """Overlaps of the literature's channels, from independent quadratures of alpha(q)."""
    for text, noise, alpha, q in (
        ("sign(z)", 0.0, [0.5, 1.0], [0.280326, 0.486264]),
        ("abs(z)", 0.0, [0.6, 0.8, 1.0], [0.051820, 0.216227, 0.476264]),
        ("abs(z)", 0.1, [1.0, 2.0], [0.243677, 0.849831]),
    ):
        theory = BayesAMP().predict(MultiIndex(text, noise=noise), alpha=alpha)
        np.testing.assert_allclose(theory.overlap.values.ravel(), q, atol=2e-4)
        np.testing.assert_allclose(theory.cosine.values.ravel() ** 2, q, atol=5e-4)
        np.testing.assert_allclose(theory.subspace_overlap, q, atol=2e-4)


def test_known_values_of_parity() -> None:
    theory = BayesAMP().predict("sign(z1*z2)", alpha=[2.0, 3.0, 5.0])
    diagonal = np.array([np.diag(m) for m in theory.overlap.values])
    expected = np.repeat([[0.0], [0.242706], [0.823537]], 2, axis=1)
    np.testing.assert_allclose(diagonal, expected, atol=2e-3)
    assert float(theory.error[0]) == pytest.approx(1, abs=1e-2)
    assert theory.attrs["alpha_c"] == pytest.approx(math.pi**2 / 4, rel=1e-3)


def test_the_error_is_that_of_the_overlap() -> None:
    theory = BayesAMP().predict("sign(z)", alpha=1.0)
    assert float(theory.misclassification) == pytest.approx(
        math.acos(math.sqrt(0.486264)) / math.pi, abs=3e-3
    )


def test_the_path_begins_at_the_start_and_ends_at_the_fixed_point() -> None:
    """Undamped it is state evolution itself; damped it has errors, and the same end."""
    informed = BayesAMP(start="informed", damping=1.0)
    path = informed.predict("sign(z)", question="path", alpha=2.0, steps=30)
    assert path.overlap_trace.dims == ("time", "estimate", "index")
    np.testing.assert_array_equal(path.time, np.arange(31))
    assert (
        float(path.overlap_trace[0, 0, 0]) == 0.95 and float(path.overlap_trace_stderr.max()) == 0
    )
    end = float(informed.predict("sign(z)", alpha=2.0).overlap.squeeze())
    assert float(path.overlap_trace[-1, 0, 0]) == pytest.approx(end, abs=1e-6)
    damped = BayesAMP(start="informed", damping=0.5)
    slow = damped.predict("sign(z)", question="path", alpha=[2.0], steps=30)
    assert slow.overlap_trace.dims == ("alpha", "time", "estimate", "index")
    error = float(slow.overlap_trace_stderr[0, -1, 0, 0])
    assert 0 < error < 0.01
    assert float(slow.overlap_trace[0, -1, 0, 0]) == pytest.approx(end, abs=5 * error + 1e-3)


def test_the_path_of_runs_has_the_traces_alone() -> None:
    runs = BayesAMP(iterations=4).simulate("sign(z)", question="path", d=40, alpha=2.0, seeds=2)
    assert set(runs.data_vars) == {"overlap_trace", "error_trace", "status"}
    whole = BayesAMP(iterations=4).simulate("sign(z)", d=40, alpha=2.0, seeds=2)
    np.testing.assert_array_equal(runs.overlap_trace, whole.overlap_trace)


def test_results_are_data_sets() -> None:
    theory = BayesAMP().predict("sign(z)", alpha=[1.0, 2.0])
    assert isinstance(theory, xarray.Dataset)
    assert theory.attrs["verb"] == "predict" and theory.attrs["r"] == 1


# ---- sentences


@pytest.mark.parametrize("start", ["blind", "", None, 1])
def test_bad_starts(start: object) -> None:
    with pytest.raises(LearnabilityError, match=r"`start` was given as .* is accepted"):
        BayesAMP(start=start)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["damping", "tolerance"])
@pytest.mark.parametrize("value", [0.0, -0.1, 1.5, math.nan, True, "half", None])
def test_bad_fractions(name: str, value: object) -> None:
    with pytest.raises(LearnabilityError, match=f"`{name}` was given as"):
        BayesAMP(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("iterations", [0, -3, 2.5, True, "many"])
def test_bad_iterations(iterations: object) -> None:
    with pytest.raises(LearnabilityError, match="`iterations` was given as"):
        BayesAMP(iterations=iterations)  # type: ignore[arg-type]


def test_bad_sizes() -> None:
    with pytest.raises(LearnabilityError, match="at least 2"):
        BayesAMP().simulate("sign(z1*z2)", d=1, alpha=2.0)
    for alpha in (0, -1.0, math.nan, [1.0, math.inf]):
        with pytest.raises(LearnabilityError, match="`alpha` was given as"):
            BayesAMP().simulate("sign(z)", d=20, alpha=alpha)
        with pytest.raises(LearnabilityError, match="`alpha` was given as"):
            BayesAMP().predict("sign(z)", alpha=alpha)
    with pytest.raises(LearnabilityError, match="`seeds` was given as"):
        BayesAMP().simulate("sign(z)", d=20, alpha=2.0, seeds=0)


def test_four_directions() -> None:
    run = BayesAMP().simulate("z1 + z2*z3*z4", d=100, alpha=2.0, seeds=1)
    assert float(run.overlap[0, 0, 0]) == pytest.approx(0.8, abs=0.15)
    with pytest.raises(LearnabilityError, match="labels without noise"):
        BayesAMP().simulate(MultiIndex("z1*z2*z3*z4", noise=0.1), d=20, alpha=2.0)
    with pytest.raises(LearnabilityError, match="labels of positive probability"):
        BayesAMP().predict("sign(z1*z2 + z3*z4)", alpha=2.0)


def test_labels_that_are_not_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    target = MultiIndex("sign(z)")
    sample = target.sample(0, d=20, alpha=3.0, dtype=np.float32)
    sample.y[7] = np.nan
    monkeypatch.setattr(MultiIndex, "sample", lambda *_, **__: sample)
    with pytest.raises(LearnabilityError, match="labels that are not finite"):
        BayesAMP().simulate(target, d=20, alpha=3.0)


def test_labels_that_are_rounded_to_one_tell_what_state_evolution_has_of_them() -> None:
    """tanh(6 z^2) is 1 in floating point for half of z: runs at ratio 1.5 had 0.87 for 1."""
    runs = BayesAMP().simulate("tanh(6*z**2)", d=300, alpha=1.7, seeds=2)
    assert float(runs.overlap.min()) > 0.98 and float(runs.error.max()) < 0.01


def test_errors_are_those_of_the_label_itself() -> None:
    """z1 + z2 + xi is one direction with noise, and its tanh is a label of two coordinates."""
    amp, text = BayesAMP(), "tanh(z1 + z2 + xi)"
    runs, theory = amp.simulate(text, d=300, alpha=2.0, seeds=4), amp.predict(text, alpha=2.0)
    assert runs.overlap.shape[-2:] == (2, 2)
    assert float(runs.error.mean()) == pytest.approx(float(theory.error), abs=0.05)
