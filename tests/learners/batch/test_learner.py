"""The learner: labels, repeatability, divergence, sentences."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from learnability import BatchGD, LearnabilityError, Link, MultiIndex, SpikedIndex
from learnability.inputs import Inputs, PowerLaw, Spiked
from learnability.learners.networks.starts import Start, weights_at
from learnability.results import table

SMALL = BatchGD(steps=3, width=2)
TRACES = {"overlap_trace", "gram_trace", "error_trace", "train_error_trace"}
FINALS = {"overlap", "cosine", "subspace_overlap", "error", "train_error"}


@pytest.fixture(scope="module")
def theory() -> xarray.Dataset:
    return SMALL.predict("z1 + He3(z2)", alpha=[0.5, 2.0], samples=2**13)


@pytest.fixture(scope="module")
def runs() -> xarray.Dataset:
    return SMALL.simulate("z1 + He3(z2)", d=60, alpha=[0.5, 2.0], seeds=[3, 5])


def test_both_sides_have_the_same_names(theory: xarray.Dataset, runs: xarray.Dataset) -> None:
    assert set(runs.data_vars) == TRACES | FINALS | {"status"}
    errors = {f"{name}_stderr" for name in TRACES | FINALS}
    assert set(theory.data_vars) == set(runs.data_vars) | errors
    for name in TRACES | FINALS:
        dims = tuple(dim for dim in runs[name].dims if dim != "seed")
        assert theory[name].dims == theory[f"{name}_stderr"].dims == dims
    assert runs.overlap_trace.dims == ("alpha", "seed", "time", "estimate", "index")
    assert runs.gram_trace.dims == ("alpha", "seed", "time", "estimate", "other_estimate")
    np.testing.assert_array_equal(runs.time, np.arange(4))
    assert runs.attrs["d"] == 60 and theory.attrs["samples"] == 2**13
    assert (runs.status == "finished").all() and (theory.status == "finished").all()


@pytest.mark.parametrize("side", ["theory", "runs"])
def test_final_values_are_the_end_of_the_path(side: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(side)
    for name in ("overlap", "error", "train_error"):
        last = found[f"{name}_trace"].isel(time=-1)
        np.testing.assert_allclose(found[name], last, rtol=1e-12, atol=1e-12)
    first = found.isel(time=0)
    np.testing.assert_allclose(first.overlap_trace, 0, atol=1e-6)
    np.testing.assert_allclose(
        first.gram_trace, np.broadcast_to(np.eye(2), first.gram_trace.shape), atol=1e-5
    )


def test_one_alpha_is_a_scalar_coordinate() -> None:
    alone = SMALL.predict("z1 + He3(z2)", alpha=2.0, samples=2**13)
    assert alone.overlap.dims == ("estimate", "index") and float(alone.alpha) == 2.0


def test_numbers_are_repeatable(theory: xarray.Dataset, runs: xarray.Dataset) -> None:
    alone = SMALL.simulate("z1 + He3(z2)", d=60, alpha=2.0, seeds=[5])
    for name in TRACES:
        np.testing.assert_array_equal(alone[name][0], runs[name][1, 1])
    again = SMALL.predict("z1 + He3(z2)", alpha=2.0, samples=2**13)
    np.testing.assert_array_equal(again.gram_trace, theory.gram_trace[1])


def test_the_start_is_met(runs: xarray.Dataset) -> None:
    M = [[0.5, 0.0], [0.1, -0.3]]
    learner = BatchGD(steps=3, width=2, start=(np.eye(2), M))
    for found in (
        learner.predict("z1*z2", alpha=1.0, samples=2**13),
        learner.simulate("z1*z2", d=30, alpha=1.0).isel(seed=0),
    ):
        np.testing.assert_allclose(found.overlap_trace[0], M, atol=1e-6)


def test_fields() -> None:
    learner = BatchGD(width=2, second_layer=np.array([1, -2]), start=(np.eye(2), np.zeros((2, 1))))
    assert learner == BatchGD(width=2, second_layer=[1.0, -2.0], start=learner.start)
    assert hash(learner) == hash(BatchGD(width=2, second_layer=(1, -2), start=learner.start))
    assert learner.network.second_layer == (1.0, -2.0)
    assert BatchGD(width=3.0, second_layer=2).network.second_layer == (2.0, 2.0, 2.0)  # type: ignore[arg-type]
    np.testing.assert_allclose(BatchGD(width=2).network.second_layer, [0.5**0.5, -(0.5**0.5)])
    assert BatchGD(activation=lambda h: h[..., 0] ** 2).network.activation.r == 1
    assert BatchGD(activation=Link("tanh(z)")).network.activation == Link("tanh(z)")


def test_targets_with_noise_and_functions() -> None:
    def parity(z: np.ndarray) -> np.ndarray:
        return np.asarray(np.sign(z[..., 0] * z[..., 1]))

    learner = BatchGD(steps=2)
    by_text = learner.predict(MultiIndex("sign(z1*z2)", noise=0.1), alpha=1.0, samples=2**12)
    by_function = learner.predict(MultiIndex(parity, r=2, noise=0.1), alpha=1.0, samples=2**12)
    np.testing.assert_allclose(by_function.error_trace, by_text.error_trace)
    assert (by_text.error_trace > 0.1).all()


@pytest.mark.parametrize("side", ["predict", "simulate"])
def test_divergence_is_a_status(side: str) -> None:
    learner = BatchGD(steps=12, step=3.0, activation="z**2")
    if side == "predict":
        found = learner.predict("z**2", alpha=2.0, samples=2**12)
    else:
        found = learner.simulate("z**2", d=40, alpha=2.0, seeds=2)
    assert (found.status == "diverged").all()
    assert "take a `step` smaller than 3" in found.note
    assert np.isnan(found.overlap_trace.values[..., -1, :, :]).all()
    assert np.isfinite(found.overlap_trace.values[..., 0, :, :]).all()
    assert "diverged" in table(found)


def test_a_table_of_one_neuron_and_two_directions() -> None:
    found = BatchGD(steps=2).predict("z1 + z2**2", alpha=[1.0, 2.0], samples=2**12)
    text = table(found)
    assert "overlap 1" in text and "overlap 2" in text
    assert f"{found.overlap.values[1, 0, 0]:.4f}" in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"steps": 0}, "`steps` was given as 0, but a whole number of at least 1"),
        ({"step": 0.0}, "`step` was given as 0.0, but a finite number above 0"),
        ({"activation": "z1*z2"}, "2 variables"),
        ({"activation": "sign(z)"}, "its derivative is zero"),
        ({"activation": "3"}, "its derivative is zero"),
        ({"second_layer": [1.0, 2.0]}, "for all neurons, or a list of 1 of them"),
        ({"second_layer": "ab", "width": 2}, "`second_layer` was given as 'ab'"),
        ({"start": "random"}, "`start` was given as 'random'"),
    ],
)
def test_bad_options_end_in_a_sentence(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        BatchGD(**options)  # type: ignore[arg-type]


def test_bad_calls_end_in_a_sentence() -> None:
    with pytest.raises(
        LearnabilityError, match="2 neurons and 2 hidden directions need at least 4"
    ):
        SMALL.simulate("z1*z2", d=3, alpha=1.0)
    with pytest.raises(LearnabilityError, match="`alpha` was given as 0"):
        SMALL.predict("z1*z2", alpha=0.0)
    with pytest.raises(LearnabilityError, match="labels that are not finite"):
        SMALL.simulate("log(z)", d=30, alpha=1.0)
    with pytest.raises(LearnabilityError, match=r"\(2, 2\) and \(2, 1\) are accepted"):
        BatchGD(width=2, start=(np.eye(2), np.zeros((2, 2)))).predict("z", alpha=1.0)
    with pytest.raises(LearnabilityError, match="`samples` was given, but simulate batch-gd"):
        SMALL.simulate("z1*z2", d=30, alpha=1.0, samples=2**10)
    with pytest.raises(LearnabilityError, match="asked for spiked inputs"):
        SMALL.predict(SpikedIndex("z", spike=1.0), d=30, alpha=1.0)


# ---- other laws of inputs


@pytest.mark.parametrize("inputs", [Spiked(0.0, 0.3), Spiked((0.0, 0.0)), PowerLaw(0.0)])
def test_a_covariance_of_one_changes_no_bit(inputs: Inputs, runs: xarray.Dataset) -> None:
    target = MultiIndex("z1 + He3(z2)", inputs=inputs)
    same = SMALL.simulate(target, d=60, alpha=[0.5, 2.0], seeds=[3, 5])
    xarray.testing.assert_equal(same, runs)


@pytest.mark.parametrize("inputs", [Spiked((5.0, 2.0), (0.6, 0.3)), PowerLaw(0.8)])
def test_errors_on_other_inputs_are_those_of_fresh_samples(inputs: Inputs) -> None:
    """Weights trained by the formula in float64; their error on 40000 samples, |z| < 4."""
    target = MultiIndex("tanh(z1) + z2**2/2", noise=0.1, inputs=inputs)
    learner = BatchGD(steps=3, step=0.05, width=2, activation="tanh(z)")
    d, n, start = 40, 120, Start(np.eye(2), np.zeros((2, 2)))
    found = learner.simulate(target, d=d, alpha=n / d, seeds=[7]).isel(seed=0)
    sample = target.sample(7, n=n, d=d, dtype=np.float32)
    X, y, W = (np.asarray(part, dtype=float) for part in sample[:3])
    weights = weights_at(np.random.default_rng([7, 3]), W, start)
    a = np.array(learner.network.second_layer)
    for _ in range(3):
        h = np.tanh(X @ weights.T)
        weights = weights - 0.05 / d * ((h @ a - y)[:, None] * a * (1 - h**2)).T @ X
    np.testing.assert_allclose(found.overlap, weights @ W.T, atol=2e-5)
    fresh = next(target.batches(7, 40_000, d, first=1))
    squares = (np.tanh(fresh.X @ weights.T) @ a - fresh.y) ** 2
    error = squares.std() / np.sqrt(len(squares))
    assert abs(float(found.error) - squares.mean()) < 4 * error
    assert abs(float(found.train_error) - np.mean((np.tanh(X @ weights.T) @ a - y) ** 2)) < 1e-3
