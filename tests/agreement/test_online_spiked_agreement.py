"""One-pass SGD on spiked inputs: the chain against other programs, and its equations of motion.

Fixed seeds, none left out; the levels are those that are said.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from learnability import MultiIndex, OnlineSGD, SpikedIndex
from learnability.learners.online._runs import run

pytestmark = pytest.mark.agreement


def order_parameters(
    learner: OnlineSGD, target: MultiIndex, seeds: list[int], **at: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Overlaps with the marked axes, W W^T and the second layer, without turns by symmetries."""
    steps = np.array([round(at.pop("time") * at["d"])])
    found = run(learner._setting(target, at), steps, seeds)
    assert not found.diverged.any()
    M = found.overlap[:, 0]
    return M, found.rest[:, 0] + M @ np.swapaxes(M, 1, 2), found.second[:, 0]


def program(
    normalisation: str, spherical: bool, rule: str, theta: float, a: float, d: int, count: int,
    steps: int,
) -> np.ndarray:  # fmt: skip
    """(s, b, |w|^2) after SGD in all d coordinates, written apart from the library; one stream."""
    rng = np.random.default_rng(2024)
    lift = math.sqrt(1 + theta)
    rate = 0.6 / d
    W = np.zeros((count, d))
    W[:, 0], W[:, 1], W[:, 2] = 0.4, 0.3, math.sqrt(1 - 0.25)
    kappa = math.sqrt(1 + theta * a * a)
    other = math.sqrt(1 - a * a)
    for _ in range(steps):
        X = rng.standard_normal((count, d))
        X[:, 0] *= lift
        y = ((a * X[:, 0] + other * X[:, 1]) / kappa) ** 2 - 1
        covered = W.copy()
        covered[:, 0] *= 1 + theta
        tau = np.sqrt(np.sum(W * covered, axis=1)) if normalisation != "none" else np.ones(count)
        h = np.sum(W * X, axis=1) / tau

        def pull(h: np.ndarray, y: np.ndarray = y) -> np.ndarray:
            return (y - np.tanh(h)) * (1 - np.tanh(h) ** 2)

        c = pull(h)
        if rule == "extragradient":
            c = pull(h + 0.8 / d * c * np.sum(X**2, axis=1))
        if normalisation == "whitened":
            X[:, 0] /= 1 + theta
            W += rate * ((tau * c)[:, None] * X - (c * h)[:, None] * W)
        elif normalisation == "normalised":
            W += rate * ((tau * c)[:, None] * X - (c * h)[:, None] * covered)
        else:
            W += rate * c[:, None] * X
        if spherical:
            W /= np.linalg.norm(W, axis=1, keepdims=True)
    return np.column_stack([W[:, 0], W[:, 1], np.sum(W**2, axis=1)])


RULES = [
    ("none", False, "plain"),
    ("none", True, "plain"),
    ("none", True, "extragradient"),
    ("normalised", False, "plain"),
    ("whitened", False, "plain"),
]


@pytest.mark.parametrize(("normalisation", "spherical", "rule"), RULES)
def test_the_chain_is_exact_in_law(normalisation: str, spherical: bool, rule: str) -> None:
    """100000 runs of each at d = 12: |z| < 3.5 for moments, Kolmogorov-Smirnov above 0.001."""
    d, count, steps = 12, 100_000, 12
    target = SpikedIndex("z**2 - 1", spike=3.0, alignment=0.6)
    ahead = {"look_ahead": 0.8} if rule == "extragradient" else {}
    learner = OnlineSGD(
        activation="tanh(z)", step=0.6, rule=rule, spherical=spherical,
        normalisation=normalisation, **ahead,
    )  # fmt: skip
    start = (1.0, 0.6 * 0.4 + 0.8 * 0.3, 0.4)
    M, Q, _ = order_parameters(
        learner, target, list(range(count)), d=d, time=steps / d, start=start
    )
    found = np.column_stack([M[:, 0], Q[:, 0, 0]])
    wanted = program(normalisation, spherical, rule, 3.0, 0.6, d, count, steps)
    same_law(found, wanted, 2 if spherical else 3)


def same_law(found: np.ndarray, wanted: np.ndarray, columns: int) -> None:
    """|z| < 3.5 for first and second moments, Kolmogorov-Smirnov above 0.001."""
    found, wanted = found[:, :columns], wanted[:, :columns]
    for k in range(columns):
        assert ks_2samp(found[:, k], wanted[:, k]).pvalue > 1e-3
    for power in range(columns + 1):  # Each alone, and times each of those up to it.
        for k in range(columns):
            x, y = (v[:, k] if power == columns else v[:, k] * v[:, power] for v in (found, wanted))
            z = (x.mean() - y.mean()) / math.sqrt((x.var() + y.var()) / len(x))
            assert abs(z) < 3.5, (k, power, z)


OTHERS: list[dict[str, Any]] = [
    {"rule": "repetition", "repetitions": 3, "spherical": True},
    {"rule": "sam", "look_ahead": 0.5, "batch": 2},
    {"rule": "lookahead", "look_ahead": 0.4, "loss": "correlation"},
    {"normalisation": "whitened", "batch": 3, "schedule": "1/(1 + z)"},
]
PAIRS = [("sin(2*z)", "tanh(z)"), ("abs(z)", "relu(z)"), ("sign(z) + z/2", "sin(z) + z/3")]


@pytest.mark.parametrize("fields", OTHERS)
def test_the_chain_has_the_law_of_all_coordinates(fields: dict[str, Any]) -> None:
    """20000 runs of both engines at d = 9, two neurons whose second layer moves, noisy labels."""
    link, activation = PAIRS[OTHERS.index(fields) % 3]
    target = SpikedIndex(link, spike=3.0, alignment=0.6, noise=0.1)
    both = []
    for engine in ("reduced", "full"):
        learner = OnlineSGD(
            width=2, activation=activation, step=0.5, second_step=0.3, second_layer=(0.6, -0.4),
            engine=engine, **fields,
        )  # fmt: skip
        start = ([[1.0, 0.2], [0.2, 1.0]], [0.3, 0.1], [0.2, -0.3])
        first = 20_000 * (engine == "full")
        seeds = list(range(first, first + 20_000))
        M, Q, a = order_parameters(learner, target, seeds, d=9, time=1.0, start=start)
        overlap = 0.6 * M[:, 0, 0] + 0.8 * M[:, 0, 1]
        both.append(np.column_stack([overlap, M[:, 1, 0], a[:, 0], Q[:, 0, 1]]))
    same_law(both[0], both[1], 4)


@pytest.mark.parametrize("fields", [{}, *OTHERS])
def test_equations_of_motion(fields: dict[str, Any]) -> None:
    """Means of 40 runs of the chain at d = 4000, where it differs by 1 / d: |z| < 4."""
    link, activation = PAIRS[len(str(fields)) % 3]
    target = SpikedIndex(link, spike=8.0, alignment=0.6, noise=0.1)
    learner = OnlineSGD(activation=activation, step=0.3, second_step=0.1, **fields)
    arguments: dict[str, Any] = {"d": 4000, "time": 1.5, "start": (1.0, 0.3, 0.2)}
    theory = learner.predict(target, **arguments)
    runs = learner.simulate(target, seeds=40, **arguments)
    for name in ("overlap", "spike_overlap", "gram", "second_layer"):
        mean, spread = runs[name].mean("seed"), runs[name].std("seed", ddof=1)
        gap = np.abs(mean - theory[name])
        assert (gap < 4 * spread / math.sqrt(40) + 2e-3).all(), (name, float(gap.max()))


def test_samples_to_recovery_grow_as_the_start_says() -> None:
    """Slope of the median over d = 64 ... 512 against that of d rho_0^-2, within 3 bars."""
    sizes, runs = (64, 128, 256, 512), 64
    target = SpikedIndex("He3(z)/sqrt(6)", spike_exponent=0.7, alignment_exponent=0.3)
    e1, e2 = np.random.default_rng(0).standard_normal((2, 100_000))
    starts, times = [], []
    for d in sizes:
        theta, a = d**0.7, d**-0.3
        s = e1 / math.sqrt(d)
        top = (a * e1 + math.sqrt(1 - a * a) * e2) / math.sqrt(d) + theta * a * s
        rho = np.abs(top) / np.sqrt((1 + theta * s**2) * (1 + theta * a * a))
        starts.append(float(np.median(rho)))
        learner = OnlineSGD(
            activation="He3(z)/sqrt(6)", loss="correlation", step=0.2 * starts[-1],
            normalisation="whitened",
        )  # fmt: skip
        # He3 pulls to rho = 1: from below 0 it is a matter of noise, so starts are above.
        above = learner.simulate(target, d=d, time=0.0, seeds=200).correlation.values[:, 0, 0] > 0
        seeds = np.flatnonzero(above)[:runs].tolist()
        found = learner.simulate(
            target, question="recovery", d=d, time=8 / starts[-1] ** 2, seeds=seeds
        )
        times.append(found.recovery_time.values * d)
        assert np.isfinite(found.recovery_time).sum() > 0.6 * runs
    x = np.log(sizes)
    slope = np.polyfit(x, np.log([np.median(t) for t in times]), 1)[0]
    predicted = np.polyfit(x, np.log(np.array(sizes) / np.square(starts)), 1)[0]
    rng = np.random.default_rng(1)
    again = [
        np.polyfit(x, np.log([np.median(rng.choice(t, runs)) for t in times]), 1)[0]
        for _ in range(300)
    ]
    assert abs(slope - predicted) < 3 * np.std(again) and np.std(again) < 0.2
