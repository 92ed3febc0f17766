"""The learner: labels, repeatability, divergence, sentences."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from learnability import BatchGD, LearnabilityError, Link, MultiIndex
from learnability.results import table

SMALL = BatchGD(steps=3, width=2, samples=2**13)
TRACES = {"overlap_trace", "gram_trace", "error_trace", "train_error_trace"}
FINALS = {"overlap", "cosine", "subspace_overlap", "error", "train_error"}


@pytest.fixture(scope="module")
def theory() -> xarray.Dataset:
    return SMALL.predict("z1 + He3(z2)", alpha=[0.5, 2.0])


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
    assert runs.gram_trace.dims == ("alpha", "seed", "time", "estimate", "other")
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
    alone = SMALL.predict("z1 + He3(z2)", alpha=2.0)
    assert alone.overlap.dims == ("estimate", "index") and float(alone.alpha) == 2.0


def test_numbers_are_repeatable(theory: xarray.Dataset, runs: xarray.Dataset) -> None:
    alone = SMALL.simulate("z1 + He3(z2)", d=60, alpha=2.0, seeds=[5])
    for name in TRACES:
        np.testing.assert_array_equal(alone[name][0], runs[name][1, 1])
    again = SMALL.predict("z1 + He3(z2)", alpha=2.0)
    np.testing.assert_array_equal(again.gram_trace, theory.gram_trace[1])


def test_the_start_is_met(runs: xarray.Dataset) -> None:
    M = [[0.5, 0.0], [0.1, -0.3]]
    learner = BatchGD(steps=3, width=2, samples=2**13, start=(np.eye(2), M))
    for found in (
        learner.predict("z1*z2", alpha=1.0),
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

    learner = BatchGD(steps=2, samples=2**12)
    by_text = learner.predict(MultiIndex("sign(z1*z2)", noise=0.1), alpha=1.0)
    by_function = learner.predict(MultiIndex(parity, r=2, noise=0.1), alpha=1.0)
    np.testing.assert_allclose(by_function.error_trace, by_text.error_trace)
    assert (by_text.error_trace > 0.1).all()


@pytest.mark.parametrize("side", ["predict", "simulate"])
def test_divergence_is_a_status(side: str) -> None:
    learner = BatchGD(steps=12, step=3.0, activation="z**2", samples=2**12)
    if side == "predict":
        found = learner.predict("z**2", alpha=2.0)
    else:
        found = learner.simulate("z**2", d=40, alpha=2.0, seeds=2)
    assert (found.status == "diverged").all()
    assert "take a `step` smaller than 3" in found.note
    assert np.isnan(found.overlap_trace.values[..., -1, :, :]).all()
    assert np.isfinite(found.overlap_trace.values[..., 0, :, :]).all()
    assert "diverged" in table(found)


def test_a_table_of_one_neuron_and_two_directions() -> None:
    found = BatchGD(steps=2, samples=2**12).predict("z1 + z2**2", alpha=[1.0, 2.0])
    text = table(found)
    assert "overlap 1" in text and "overlap 2" not in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"steps": 0}, "`steps` was given as 0, but a whole number from 1"),
        ({"width": 1.5}, "`width` was given as 1.5"),
        ({"samples": True}, "`samples` was given as True"),
        ({"step": 0.0}, "`step` was given as 0.0, but a finite number above 0"),
        ({"step": "big"}, "`step` was given as 'big'"),
        ({"ridge": -1}, "`ridge` was given as -1, but a finite number from 0"),
        ({"ridge": np.inf}, "`ridge` was given as inf"),
        ({"loss": "hinge"}, "`loss` was given as 'hinge', but squared and correlation"),
        ({"activation": "z1*z2"}, "with 2 variables, but a function of one"),
        ({"activation": "sign(z)"}, "its derivative is zero"),
        ({"activation": "3"}, "its derivative is zero"),
        ({"second_layer": [1.0, 2.0]}, "for all neurons, or 1 of them"),
        ({"second_layer": np.inf}, "`second_layer` was given as inf"),
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
    with pytest.raises(LearnabilityError, match="`alpha` holds 0"):
        SMALL.predict("z1*z2", alpha=0.0)
    with pytest.raises(LearnabilityError, match="labels that are not finite"):
        SMALL.simulate("log(z)", d=30, alpha=1.0)
    with pytest.raises(LearnabilityError, match=r"\(2, 2\) and \(2, 1\) are accepted"):
        BatchGD(width=2, start=(np.eye(2), np.zeros((2, 2)))).predict("z", alpha=1.0)
