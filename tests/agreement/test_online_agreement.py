"""One-pass SGD: its two engines against each other, and its runs against the equations of motion.

Fixed seeds, none left out. Where several numbers are compared in one test, the level of the
single comparison is divided by their number: 0.001 for two-sample tests, that of three standard
errors (0.0027) for means.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import ks_2samp, norm

from learnability import MultiIndex, OnlineSGD
from learnability.learners.online import _steps
from learnability.learners.online._runs import run

pytestmark = pytest.mark.agreement

REPLICAS = 3000
LINKS = {1: "He3(z)/sqrt(6) + z", 2: "z1*z2 + z1"}


def order_parameters(learner, target, d, steps, start=None, replicas=REPLICAS):
    """M and the upper triangle of Q after some steps, shape (replicas, k)."""
    at = {"d": d} if start is None else {"d": d, "start": start}
    found = run(learner._setting(target, at), np.array([steps]), list(range(replicas)))
    M = found.overlap[:, 0]
    Q = found.rest[:, 0] + M @ np.swapaxes(M, 1, 2)
    upper = np.triu_indices(Q.shape[1])
    return np.column_stack([M.reshape(replicas, -1), Q[:, upper[0], upper[1]]])


def smallest_p_value(learner, target, d, steps, start=None, replicas=REPLICAS):
    """Of two-sample tests on all order parameters, times their number."""
    import dataclasses

    both = [
        order_parameters(dataclasses.replace(learner, engine=e), target, d, steps, start, replicas)
        for e in ("reduced", "full")
    ]
    moving = [k for k in range(both[0].shape[1]) if np.ptp(both[0][:, k]) > 1e-3]
    return min(ks_2samp(both[0][:, k], both[1][:, k]).pvalue for k in moving) * len(moving)


@pytest.mark.parametrize(
    ("p", "r", "rule", "spherical", "batch"),
    list(product((1, 3), (1, 2), ("plain", "extragradient"), (False, True), (1, 4))),
)
def test_the_two_engines_agree_in_law(p, r, rule, spherical, batch):
    ahead = {"look_ahead": 1.0} if rule == "extragradient" else {}
    learner = OnlineSGD(
        width=p, activation="tanh(z)", rule=rule, step=2.0 * math.sqrt(batch), batch=batch,
        spherical=spherical, **ahead,
    )  # fmt: skip
    assert smallest_p_value(learner, MultiIndex(LINKS[r]), 100, 40) > 1e-3


@pytest.mark.parametrize("rule", ["repetition", "sam", "lookahead"])
def test_the_other_rules_agree_in_law_with_noise_and_both_layers_trained(rule):
    inner = {
        "repetition": {"repetitions": 3},
        "sam": {"look_ahead": 1.0},
        "lookahead": {"look_ahead": 1.0, "repetitions": 3},
    }
    learner = OnlineSGD(
        width=2, activation="tanh(z)", rule=rule, step=2.0, batch=2, second_step=1.0,
        schedule="1/(1 + z)", **inner[rule],
    )  # fmt: skip
    assert smallest_p_value(learner, MultiIndex(LINKS[2], noise=0.3), 100, 40) > 1e-3


SHORT = OnlineSGD(step=20.0, activation="z", loss="correlation")
"""Labels +-1 and a constant slope: one long step from a fixed start shows the law of |x|^2."""


@pytest.mark.parametrize("d", [4, 6, 8])
def test_one_degree_of_freedom_too_many_is_noticed(d, monkeypatch):
    target, start = MultiIndex("sign(z)"), (1.0, 0.3)
    assert smallest_p_value(SHORT, target, d, 1, start) > 1e-3
    exact = _steps.quantile_series
    monkeypatch.setattr(_steps, "quantile_series", lambda k, n: exact(k + 1, n))
    assert smallest_p_value(SHORT, target, d, 1, start) < 1e-3


@pytest.mark.parametrize("d", [8, 100, 400])
def test_the_length_of_the_inputs_cannot_be_dropped(d, monkeypatch):
    target, start = MultiIndex("z"), (1.0, 0.3)
    exact = _steps.quantile_series
    monkeypatch.setattr(_steps, "quantile_series", lambda k, n: 0 * exact(k, n))
    learner = OnlineSGD(step=2.0, activation="tanh(z)")
    assert smallest_p_value(learner, target, d, d // 4, start, 1000) < 1e-3


SPREAD = np.random.default_rng(0).standard_normal((8, 2)) * 0.2
PAIR = (np.eye(2), [[0.3, 0.05], [0.1, 0.2]])
FOUR = (0.5 * np.eye(4), [[0.3, 0.05], [0.1, 0.2], [-0.1, 0.1], [0.1, -0.2]])
TANH = {"width": 2, "activation": "tanh(z)", "step": 0.5}
MOTIONS = {
    "erf on erf": (
        OnlineSGD(width=2, activation="erf(z/sqrt(2))", step=1.0),
        MultiIndex("erf(z1/sqrt(2)) + erf(z2/sqrt(2))"),
        (0.5 * np.eye(2), PAIR[1]),
    ),
    "relu on relu": (OnlineSGD(width=4, step=0.3), MultiIndex("relu(z1) + relu(z2)"), FOUR),
    "tanh on z1 z2 + z1": (OnlineSGD(**TANH), MultiIndex("z1*z2 + z1"), PAIR),
    "batches and noise": (OnlineSGD(**TANH, batch=4), MultiIndex("z1*z2 + z1", noise=0.5), PAIR),
    "He3 with extragradient": (
        OnlineSGD(
            loss="correlation", spherical=True, rule="extragradient", step=0.3, look_ahead=1.0
        ),
        MultiIndex("He3(z)/sqrt(6)"),
        (1.0, -0.3),
    ),
    "a discontinuous link": (
        OnlineSGD(**TANH),
        MultiIndex("sign(z1) + 0.5*sign(z1*z2)"),
        PAIR,
    ),
    "eight neurons, both layers": (
        OnlineSGD(width=8, activation="tanh(z)", step=0.5, second_layer=0.2, second_step=0.3),
        MultiIndex("z1*z2 + z1"),
        (np.eye(8) + SPREAD @ SPREAD.T, SPREAD),
    ),
    "repetition, noise, schedule": (
        OnlineSGD(**TANH, rule="repetition", repetitions=3, schedule="1/(1 + z)"),
        MultiIndex("z1*z2 + z1", noise=0.2),
        PAIR,
    ),
    "sam": (OnlineSGD(**TANH, rule="sam", look_ahead=0.5, batch=4), MultiIndex("z1*z2 + z1"), PAIR),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_runs_follow_the_equations_of_motion(name):
    """d = 2000, 64 runs: overlaps, lengths and test errors at six times."""
    learner, target, start = MOTIONS[name]
    times, seeds = np.linspace(1, 6, 6), 64
    theory = learner.predict(target, time=times, start=start)
    runs = learner.simulate(target, d=2000, time=times, seeds=seeds, start=start)
    assert set(runs.status.values) == {"finished"} and theory.status.item() == "solved"
    gaps = []
    for key in ("overlap_trace", "gram_trace", "error_trace"):
        values = runs[key].values
        deviation = values.std(axis=0, ddof=1) / math.sqrt(seeds)
        unsure = f"{key}_stderr"
        own = theory[unsure].values if unsure in theory else 0.0
        moving = deviation > 1e-6
        gap = np.abs(values.mean(axis=0) - theory[key].values) / np.hypot(deviation, own)
        gaps.append(gap[moving])
    worst = np.concatenate(gaps)
    assert worst.max() < norm.isf(0.00135 / worst.size), (name, worst.max(), worst.size)


def test_the_reference_value_of_one_error_function():
    """Q = 0.7884, M = 0.8839 at t = 8 from Q = 0.49, M = 0.14, by an independent integration."""
    learner = OnlineSGD(activation="erf(z/sqrt(2))", step=1.0)
    theory = learner.predict("erf(z/sqrt(2))", time=8.0, start=(0.49, 0.14))
    assert theory.gram_trace.item() == pytest.approx(0.7884, abs=0.002)
    assert theory.overlap.item() == pytest.approx(0.8839, abs=0.002)
    runs = learner.simulate("erf(z/sqrt(2))", d=2000, time=8.0, seeds=32, start=(0.49, 0.14))
    error = float(runs.overlap.std(ddof=1)) / math.sqrt(32)
    assert abs(float(runs.overlap.mean()) - theory.overlap.item()) < 3 * error


def test_the_published_experiment_on_repetition():
    """He3, relu, squared loss, free weights, d = 2048, step 0.01, look-ahead 0.1 on the sample.

    Published |cosines| at fifths of 50 d steps, of two runs, rounded to three digits.
    """
    published = np.array([0.012, 0.026, 0.039, 0.053, 0.070])
    times = np.arange(1, 6) * 10.0
    learner = OnlineSGD(step=0.01, rule="extragradient", look_ahead=0.1)
    theory = learner.predict("He3(z)", time=times, start=(1.0, 0.0))
    runs = learner.simulate("He3(z)", d=2048, time=times, seeds=32, start=(1.0, 0.0))
    cosine = runs.cosine_trace.values[:, :, 0, 0]
    deviation = cosine.std(axis=0, ddof=1)
    predicted = theory.cosine_trace.values[:, 0, 0]
    assert np.all(np.abs(cosine.mean(axis=0) - predicted) < 3.3 * deviation / math.sqrt(32))
    rounding = 0.0005
    assert np.all(np.abs(np.abs(predicted) - published) < 3 * deviation / math.sqrt(2) + rounding)
    # Without look-ahead the overlap only diffuses; published are 0.000 to 0.004.
    plain = OnlineSGD(step=0.01)
    without = plain.simulate("He3(z)", d=2048, time=times, seeds=32, start=(1.0, 0.0))
    cosine = without.cosine_trace.values[:, :, 0, 0]
    deviation = cosine.std(axis=0, ddof=1)
    assert np.all(np.abs(cosine.mean(axis=0)) < 3.3 * deviation / math.sqrt(32))
    assert deviation.max() < 0.01 and 3 * deviation[-1] / math.sqrt(2) > 0.004


def mean_log_times(learner_of, link, dimensions, seeds, time_of):
    """Mean logarithm of the number of steps to |m| = 1/2; every run must get there."""
    found = []
    for d in dimensions:
        times = learner_of(d).simulate(link, question="recovery", d=d, time=time_of(d), seeds=seeds)
        assert set(times.status.values) == {"recovered"}
        found.append(float(np.log(times.recovery_time.values * d).mean()))
    return np.array(found)


SPHERE = {"loss": "correlation", "spherical": True}


def test_he3_takes_about_d_squared_steps_online():
    dimensions = (128, 256, 512)
    found = mean_log_times(
        lambda d: OnlineSGD(activation="He3(z)/sqrt(6)", step=d**-0.5, **SPHERE),
        "He3(z)/sqrt(6)", dimensions, 48, lambda d: 400.0 * d,
    )  # fmt: skip
    assert np.polyfit(np.log(dimensions), found, 1)[0] == pytest.approx(2, abs=0.3)


def test_he3_takes_d_steps_with_extragradient():
    dimensions = (1000, 3000, 10000)
    found = mean_log_times(
        lambda d: OnlineSGD(step=0.3, rule="extragradient", look_ahead=1.0, **SPHERE),
        "He3(z)/sqrt(6)", dimensions, 32, lambda d: 200.0,
    )  # fmt: skip
    assert np.polyfit(np.log(dimensions), found, 1)[0] == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("link", "options"),
    [
        ("He2(z)/sqrt(2)", {"activation": "He2(z)/sqrt(2)", "step": 0.1}),
        (
            "He4(z)/sqrt(24)",
            {
                "activation": "exp(-z**2/2)",
                "step": 1.0,
                "rule": "extragradient",
                "look_ahead": 1.0,
            },
        ),
    ],
)
def test_d_log_d_steps(link, options):
    dimensions = np.array([1000, 3000, 10000])
    found = mean_log_times(
        lambda d: OnlineSGD(**SPHERE, **options), link, dimensions, 32, lambda d: 400.0
    )
    ratio = np.exp(found) / (dimensions * np.log(dimensions))
    assert ratio.max() / ratio.min() < 1.25
