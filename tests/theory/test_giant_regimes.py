"""Giant steps at powers of d: subspaces, floors, and errors that go to them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from learnability import (
    GiantSteps,
    LearnabilityError,
    Link,
    MultiIndex,
    RandomFeatures,
    SpikedIndex,
    regimes,
)
from learnability.learners.linear_algebra.ridge import fit_readout
from learnability.theory.equivalent import errors
from learnability.theory.subspace_features import levels_in, subspace_levels
from learnability.theory.trained_neurons import knowing_neurons

FIVE = "z1 + He2(z2)/sqrt(2) + He2(z1)*z2/sqrt(2) + He4(z1)*He2(z2)*z3/sqrt(48) + He2(z2)*He2(z3)/2"
POWERS = (
    ("d^1.5", "d^0.5", 1, 4.0),
    ("d^1.5", "d^1.5", 1, 3.0),
    ("d^2.5", "d^0.5", 2, 2.0),
    ("d^2.5", "d^1.5", 2, 1.0),
    ("d^2.5", "d^2.5", 2, 0.0),
)


@pytest.mark.parametrize(("n", "p", "count", "floor"), POWERS)
def test_five_terms_five_floors(n: str, p: str, count: int, floor: float) -> None:
    found = regimes(FIVE, n=n, p=p, steps=1, strength=2.0, d=[100, 10_000, 1_000_000])
    assert found.directions.shape == (count, 3)
    assert found.floor == pytest.approx(floor, abs=1e-9)
    assert (np.diff(found.error) < 0).all() and (found.error > floor).all()
    assert json.loads(json.dumps(found.to_dict()))["floor"] == found.floor


def test_without_a_step_it_is_random_features() -> None:
    """At no step the levels are those of random features in dimension d."""
    link, d = "z + He2(z)/2", 400
    known, sigma = np.zeros((0, 1)), Link("relu(z)")
    neurons = knowing_neurons(known, d, 1.0)
    found = levels_in(d, 0, 1, subspace_levels(Link(link), known, sigma, neurons, 0.1))
    error = errors(found, 2.0 * d, 1.5 * d, 0.1).test
    target = MultiIndex(link, noise=0.1)
    expected = RandomFeatures(1.5, "relu(z)", ridge=0.1).predict(target, d=d, alpha=2.0)
    assert error == pytest.approx(float(expected.error), rel=5e-3)


def test_neurons_that_know_a_direction() -> None:
    """Against ridge regressions on such neurons: n = 6 d, p = 3 d, three draws, 5 %."""
    target, d, strength, ridge = MultiIndex("z1 + He2(z1)*z2/sqrt(2) + z2*z3"), 100, 2.0, 0.3
    known, sigma = np.eye(3)[:1], Link("relu(z - 1/2)")
    neurons = knowing_neurons(known, d, strength)
    levels = levels_in(d, 1, 3, subspace_levels(target.link, known, sigma, neurons, 0.0))
    expected = errors(levels, 6.0 * d, 3.0 * d, ridge).test
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        W = rng.standard_normal((3 * d, d)) / math.sqrt(d)
        X, fresh = rng.standard_normal((6 * d, d)), rng.standard_normal((20_000, d))
        W[:, 0] += strength * rng.standard_normal(3 * d)
        F, G = (np.asarray(sigma((Z @ W.T)[..., None])) / math.sqrt(3 * d) for Z in (X, fresh))
        y, z = (np.asarray(target.link(Z[:, :3])) for Z in (X, fresh))
        a = fit_readout(F.astype(np.float32), y.astype(np.float32), (ridge,)).weights[0]
        found.append(np.mean((z - G @ a) ** 2))
    assert np.mean(found) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("n", "p"), [(8, 1), (200, 0.5)], ids=["layers", "few"])
def test_trained_neurons_against_runs(n: int, p: float) -> None:
    """One step of size 2 at d = 30, four runs, 5 % and three standard errors."""
    link, d, ridge = "z1 + He2(z1)*z2/sqrt(2) + z2*z3", 30, 1.0
    theory = regimes(link, n=f"{n}*d", p=f"{p}*d", steps=1, step=2.0, d=[d]).error[0]
    learner = GiantSteps(p, "relu(z - 1/2)", batch=float(n), step=2.0, init="gaussian",
                         ridge=(0.01, 0.1, ridge, 10.0, 100.0))  # fmt: skip
    runs = learner.simulate(link, d=d, alpha=float(n), seeds=4).error
    best = runs.isel(ridge=int(np.argmin(runs.mean("seed").values))).values
    assert theory == pytest.approx(best.mean(), abs=0.05 * best.mean() + 1.5 * best.std(ddof=1))


def test_neurons_that_are_too_long_are_undecided() -> None:
    found = regimes("z1 + He2(z2)", n="d^2.5", p="4", step=3.0, d=[20, 10_000])
    assert np.isfinite(found.error[0]) and np.isnan(found.error[1])
    assert "d = 10000" in found.undecided[-1] and "undecided" in str(found)


def test_two_steps_that_find_everything() -> None:
    found = regimes("z1 + z1*z2", n="d^1.5", p="d^0.5", steps=2, d=[1000, 1_000_000])
    assert found.directions.shape == (2, 2) and found.floor == 0.0
    assert found.error[1] < 0.2 * found.error[0]


def test_what_is_not_accepted_is_told() -> None:
    for power in ("d^", "x", "", "0*d", "-d"):
        with pytest.raises(LearnabilityError, match="power of d"):
            regimes("z", n=power)
    with pytest.raises(LearnabilityError, match="powers of d up to 4"):
        regimes("z", n="d^6", p="d^5")
    with pytest.raises(LearnabilityError, match="isotropic inputs"):
        regimes(SpikedIndex("z", spike=2.0))
    with pytest.raises(LearnabilityError, match="`step`"):
        regimes("z", step=-1.0)
    with pytest.raises(LearnabilityError, match="`steps`"):
        regimes("z", steps=-1)
    assert regimes("z", n="d^0.5", d=[100]).directions.shape == (0, 1)


def test_hostile_sizes_end_in_a_sentence_or_in_no_more_than_the_square_of_the_label() -> None:
    """6.6e6 was printed for a label of square 2 after long steps; long neurons took all memory."""
    long = regimes("z1 + z1*z2", step=1e9, d=[20])
    assert long.error[0] < 2.0
    far = regimes("z1 + z1*z2", strength=1e9, d=[100])
    assert np.isnan(far.error[0]) and "strength" in far.undecided[-1]
    for wrong in (
        {"d": [10.5]}, {"d": [math.nan]}, {"d": ["100"]}, {"d": None}, {"d": 10**300},
        {"d": [100] * 2000}, {"strength": -1.0}, {"n": "d^400"}, {"n": f"1{300 * '0'}*d"},
        {"activation": "z1*z2"}, {"activation": "z + xi"},
    ):  # fmt: skip
        with pytest.raises(LearnabilityError, match=r"`(d|strength|n|activation)` was given"):
            regimes("z1 + z1*z2", **wrong)
    with pytest.raises(LearnabilityError, match="at most 4 hidden directions"):
        regimes("z1*z2*z3*z4*z5*z6", n="d^3")
    with pytest.raises(LearnabilityError, match="square-integrable"):
        regimes("z1", activation="exp(z**2)")


@pytest.mark.parametrize(
    "words", [{"step": 1e100}, {"activation": "exp(z)"}, {"activation": "exp(3*z)", "step": 1.0}]
)
def test_features_beyond_the_integrals_are_undecided(words: dict[str, Any]) -> None:
    """These ended in errors of the linear algebra, and one number was that of a cut integral."""
    found = regimes("z1 + z1*z2", d=100, **words)
    assert np.isnan(found.error[0]) and "not resolved" in found.undecided[-1]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["error"] == [None]


@pytest.mark.parametrize("step", [None, 1.0])
def test_noise_inside_a_label_that_is_merely_added_is_noise(step: float | None) -> None:
    """`z + xi` had the floor 0 and the error 0.023, for labels with noise of variance 1."""
    inside = regimes("z + xi", step=step, d=[100])
    outside = regimes(MultiIndex("z", noise=1.0), step=step, d=[100])
    assert inside.floor == outside.floor == 1.0
    assert inside.error[0] == pytest.approx(outside.error[0]) and inside.error[0] > 1
