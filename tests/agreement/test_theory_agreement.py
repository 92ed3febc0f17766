"""Hermite analysis, conditional laws, thresholds and floors against simulation.

Seeds are fixed. Each test compares many numbers; its level is 0.001 in all, divided by their
count (Bonferroni), so that a correct library fails a test once in a thousand choices of seeds.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.stats import norm, t

from learnability import MultiIndex
from learnability.gaussian.hermite_products import hermite_products, multi_indices
from learnability.labels import Channel, Link, expand
from learnability.theory import csq_staircase, risk_floors

from tests.reports.shared import report_on

pytestmark = pytest.mark.agreement

LEVEL = 1e-3


def standard_errors(comparisons: int) -> float:
    """How many standard errors a difference may have."""
    return float(norm.isf(LEVEL / 2 / comparisons))


# ---- Hermite tensors

LINKS = (
    "tanh(z) + z**2", "sin(2*z)", "abs(z - 0.3)", "relu(z)", "sign(z - 0.5)", "z**2*exp(-z**2)",
    "z1*z2 + tanh(z1)", "abs(z1 + z2)", "sign(z1*z2)", "step(z1**2 + z2**2 - 1)", "max(z1, z2)",
    "sign(z1*z2*z3)", "exp((z1 + z2)/3)*z3", "relu(z1)*abs(z2)*z3",
)  # fmt: skip
SAMPLES = 4_000_000
ORDERS = {1: range(1, 6), 2: range(1, 5), 3: range(1, 4)}


@pytest.mark.parametrize("text", LINKS)
def test_hermite_tensors(text: str) -> None:
    link = Link(text)
    orders = ORDERS[link.r]
    sizes = [len(multi_indices(link.r, k)) for k in orders]
    total, squares = np.zeros(sum(sizes)), np.zeros(sum(sizes))
    rng = np.random.default_rng([1, LINKS.index(text)])
    for _ in range(16):
        z = rng.standard_normal((SAMPLES // 16, link.r))
        products = np.concatenate([hermite_products(z, k) for k in orders]) * link(z)
        total += products.sum(axis=1)
        squares += np.einsum("qn,qn->q", products, products)
    mean = total / SAMPLES
    error = np.sqrt((squares / SAMPLES - mean**2) / SAMPLES)
    expansion = expand(link, max(orders))
    theory = []
    for k in orders:
        for beta in multi_indices(link.r, k):
            index = tuple(np.repeat(np.arange(link.r), beta))
            raw = float(expansion.tensors[k][index])
            theory.append(raw / math.sqrt(math.prod(math.factorial(int(b)) for b in beta)))
    distance = np.abs(mean - theory) / np.maximum(error, 1e-15)
    assert distance.max() < standard_errors(len(LINKS) * len(theory))


# ---- conditional laws

CHANNELS = (
    ("abs(z)", 0.1),
    ("sign(z1*z2)", 0.0),
    ("step(z1)*step(z2)", 0.0),
    ("z1*z2", 0.0),
    ("He4(z)", 0.0),
)
REPEATS, BINS, BLOCK = 16, 4096, 2**19


@pytest.mark.parametrize(("text", "noise"), CHANNELS)
def test_conditional_second_moments(text: str, noise: float) -> None:
    """Means of the features in label bins; two independent samples are multiplied, so that the
    noise of a bin mean is not squared."""
    channel = Channel(text, noise)
    r = channel.link.r
    rng = np.random.default_rng([2, len(text)])
    probe = np.sort(channel.sample(rng.standard_normal((2**20, r)), rng))
    tail = 2.0 ** -np.arange(12, 17)  # The outermost bins reach to infinity: keep them light.
    quantiles = np.concatenate([np.arange(1, BINS) / BINS, tail, 1 - tail])
    edges = np.unique(probe[(quantiles * len(probe)).astype(int)])
    if channel.link.values is not None and not noise:
        edges = 0.5 * np.diff(channel.link.values) + channel.link.values[:-1]

    def bin_means() -> tuple[list[np.ndarray], np.ndarray]:
        z = rng.standard_normal((BLOCK, r))
        where = np.searchsorted(edges, channel.sample(z, rng))
        count = np.bincount(where, minlength=len(edges) + 1)
        features = [hermite_products(z, k) for k in (1, 2)]
        return [
            np.array([np.bincount(where, f, minlength=len(count)) for f in block])
            / np.maximum(count, 1)
            for block in features
        ], count / BLOCK

    runs: list[list[np.ndarray]] = []
    for _ in range(REPEATS):
        (one, p), (two, q) = bin_means(), bin_means()
        runs.append([(a * (p + q) / 2) @ b.T for a, b in zip(one, two, strict=True)])
    theory = channel.conditional_moments([1, 2])
    count = sum(theory[k].matrix.size for k in (1, 2)) * len(CHANNELS)
    allowed = float(t.isf(LEVEL / 2 / count, REPEATS - 1))
    for j, k in enumerate((1, 2)):
        values = np.array([0.5 * (run[j] + run[j].T) for run in runs])
        error = values.std(axis=0, ddof=1) / math.sqrt(REPEATS)
        # A bin averages over its width: bins miss up to this share of what the label tells.
        width = 0.0 if len(edges) < 10 else 2e-3 * np.abs(theory[k].matrix).max()
        gap = np.abs(values.mean(axis=0) - theory[k].matrix)
        assert np.all(gap <= allowed * error + width + 1e-12), (gap, error)


# ---- the threshold is where spectra become informative

DIMENSION = 1000


def predicted_overlap(
    values: np.ndarray, second: np.ndarray, weights: np.ndarray, alpha: float
) -> float:
    """Squared overlap of the top eigenvector of sum T x x^T (Lu and Li; Mondelli and Montanari).

    The label takes finitely many values, or quadrature nodes, with weights; T = 1 - 1/E[z^2 | y].
    """

    def phi(x: float) -> float:
        return float(x * weights @ (values * second / (x - values)))

    def psi(x: float) -> float:
        return float(x * (1 / alpha + weights @ (values / (x - values))))

    def slope(x: float) -> float:
        return float(1 / alpha - weights @ (values / (x - values)) ** 2)

    edge = brentq(slope, values.max() + 1e-9, 1e4)
    if psi(edge) <= phi(edge):
        top = brentq(lambda x: psi(x) - phi(x), edge, 1e4)
        fall = -float(weights @ (second * (values / (top - values)) ** 2))
        return slope(top) / (slope(top) - fall)
    return 0.0


def top_vector(X: np.ndarray, preprocessed: np.ndarray) -> np.ndarray:
    matrix = (X * preprocessed[:, None]).T @ X
    return eigh(matrix, subset_by_index=[len(matrix) - 1] * 2)[1][:, 0]


def overlaps_of_modulus(alpha: float, seeds: range) -> list[float]:
    found = []
    for seed in seeds:
        X, y, W, _ = MultiIndex("abs(z)").sample(seed, d=DIMENSION, alpha=alpha)
        vector = top_vector(X, np.maximum(1 - 1 / y**2, -30.0))
        found.append(float((W @ vector)[0] ** 2))
    return found


def overlaps_of_parity(alpha: float, seeds: range) -> list[float]:
    """Given the label s, E[z z^T | s] has the eigenvectors (1, +-1) with eigenvalues 1 +- 2s/pi."""
    found = []
    for seed in seeds:
        X, y, W, _ = MultiIndex("sign(z1*z2)").sample(seed, d=DIMENSION, alpha=alpha)
        for sign in (1, -1):
            signal = sign * y * 2 / math.pi
            direction = (W[0] + sign * W[1]) / math.sqrt(2)
            found.append(float((direction @ top_vector(X, signal / (1 + signal))) ** 2))
    return found


@pytest.mark.parametrize(
    ("text", "overlaps"),
    [("abs(z)", overlaps_of_modulus), ("sign(z1*z2)", overlaps_of_parity)],
    ids=["abs(z)", "sign(z1*z2)"],
)
def test_spectra_turn_informative_at_the_threshold(text, overlaps) -> None:  # type: ignore[no-untyped-def]
    alpha_c = report_on(text).alpha_c
    below = overlaps(0.4 * alpha_c, range(3))
    above = overlaps(2.5 * alpha_c, range(3))
    # A random vector has 1/d; at 0.4 of the threshold nothing of the order of one is seen.
    assert max(below) < 0.05
    assert min(above) > 0.2


def test_the_overlap_of_phase_retrieval() -> None:
    found = overlaps_of_modulus(2.0, range(10, 14))
    assert np.mean(found) == pytest.approx(0.63888, abs=0.06)
    z = np.sort(np.abs(np.random.default_rng(0).standard_normal(200_000)))
    theory = predicted_overlap(
        np.maximum(1 - 1 / z**2, -30.0), z**2, np.full(len(z), 1 / len(z)), 2.0
    )
    assert theory == pytest.approx(0.63888, abs=0.01)


def test_the_overlap_of_a_parity() -> None:
    alpha = 6.0
    signal = np.array([2 / math.pi, -2 / math.pi])
    theory = predicted_overlap(signal / (1 + signal), 1 + signal, np.array([0.5, 0.5]), alpha)
    below = predicted_overlap(signal / (1 + signal), 1 + signal, np.array([0.5, 0.5]), 2.4)
    assert below == 0.0 < 0.2 < theory
    assert np.mean(overlaps_of_parity(alpha, range(20, 23))) == pytest.approx(theory, abs=0.06)


# ---- floors of the correlational staircase

FLOORS = (
    "z1 + z2 + z1**2 - z2**2",
    "z1 + z2 + z1**2 + z2**2 - 2",
    "z1 + 2*z2 + z1*z2 + 3*z2**2",
    "z1 + z1*z2 + He3(z1)*z3",
    "z1 + abs(z2)",
)


@pytest.mark.parametrize("text", FLOORS)
def test_risk_floors_are_what_regression_leaves(text: str) -> None:
    """Ridge regression on products of polynomials of the known coordinates, which hold the
    conditional expectations here, with Hermite polynomials of the others up to degree kappa."""
    link = Link(text)
    staircase = csq_staircase(link)
    floors = risk_floors(link, staircase)
    known = np.zeros((0, link.r))
    comparisons = len(FLOORS) * 9
    for count in range(len(staircase.steps) + 1):
        if count:
            known = np.vstack([known, staircase.steps[count - 1].directions])
        rest = np.linalg.svd(np.eye(link.r) - known.T @ known)[0][:, : link.r - len(known)].T
        for kappa in range(3):
            rng = np.random.default_rng([3, count, kappa])

            def features(z: np.ndarray, known=known, rest=rest, kappa=kappa) -> np.ndarray:  # type: ignore[no-untyped-def]
                u, v = z @ known.T, z @ rest.T
                inner = [hermite_products(u, k) for k in range(5 if len(known) else 1)]
                outer = [hermite_products(v, k) for k in range(kappa + 1 if len(rest) else 1)]
                pairs = itertools.product(np.concatenate(inner), np.concatenate(outer))
                return np.array([a * b for a, b in pairs])

            train, test = rng.standard_normal((2, 200_000, link.r))
            phi = features(train)
            gram = phi @ phi.T + 1e-6 * np.eye(len(phi))
            weights = np.linalg.solve(gram, phi @ link(train))
            left = (link(test) - weights @ features(test)) ** 2
            error = left.std() / math.sqrt(len(left))
            # The fit costs a share (number of features) / (number of samples) more.
            fit = 4 * floors[count][kappa] * len(phi) / len(left)
            gap = abs(left.mean() - floors[count][kappa])
            assert gap <= standard_errors(comparisons) * error + fit + 1e-6
