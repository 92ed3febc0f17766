"""Equations of motion on spiked inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Link
from learnability.learners.online._averages import nodes_for
from learnability.learners.online._engines import Recipe
from learnability.learners.online._marked_motion import label_correlation, marked_drifts
from learnability.learners.online._motion import Point, Rates, averaged_drift
from learnability.targets import Spike

LINK, SIGMA = Link("sign(z) + z/2"), Link("tanh(z)")
RATES = Rates(0.4, 0.0, 0.2)
AT = Point(
    np.array([[0.7, 0.1], [0.1, 0.9]]),
    np.array([[0.4, -0.3], [0.1, 0.5]]),
    np.array([0.8, -0.5]),
)


def recipe(width: int) -> Recipe:
    return Recipe(
        LINK, False, SIGMA, "squared", "plain", 1, width, 1, False, True, None, False
    )  # fmt: skip


def test_without_a_spike_it_is_the_isotropic_drift() -> None:
    """Of the overlap with the label, whatever the frame; the rest is that of the other overlap."""
    at = Point(AT.rest, AT.overlap[:, ::-1].copy(), AT.second)  # The label is e2 at alignment 0.
    (drift,) = marked_drifts(recipe(2), "none", Spike(0.0, 0.0), 0.0)
    found = drift(AT, RATES)
    along = Point(
        AT.rest + np.outer(AT.overlap[:, 0], AT.overlap[:, 0]), AT.overlap[:, 1:], AT.second
    )
    plain = averaged_drift(recipe(2), nodes_for(LINK, SIGMA, 2, 0.0, True)[0])(along, RATES)
    np.testing.assert_allclose(found.overlap[:, 1:], plain.overlap, atol=1e-9)
    np.testing.assert_allclose(found.second, plain.second, atol=1e-9)
    s, moved = AT.overlap[:, 0], found.overlap[:, 0]
    whole = found.rest + np.outer(s, moved) + np.outer(moved, s)
    np.testing.assert_allclose(whole, plain.rest, atol=1e-9)
    assert at.overlap.shape == (2, 2)


@pytest.mark.parametrize("normalisation", ["none", "normalised", "whitened"])
def test_it_is_the_mean_of_many_steps(normalisation: str) -> None:
    """Against 400000 samples along the frame and two directions outside it, |z| < 4.5."""
    spike, rng = Spike(6.0, 0.5), np.random.default_rng(3)
    stretch = math.sqrt(7.0)
    g = rng.standard_normal((400_000, 4))
    X = g * np.array([stretch, 1.0, 1.0, 1.0])
    W = np.hstack([AT.overlap, np.linalg.cholesky(AT.rest)])
    covered = W * np.array([7.0, 1.0, 1.0, 1.0])
    tau = np.sqrt(np.sum(W * covered, axis=1))
    tau = np.ones(2) if normalisation == "none" else tau
    v = X @ W.T / tau
    p, q = spike.cosines
    y = LINK((p * g[:, 0] + q * g[:, 1])[:, None])
    value = np.tanh(v)
    U = AT.second * (1 - value**2) * (y - value @ AT.second)[:, None]
    along = X / np.array([7.0, 1.0, 1.0, 1.0]) if normalisation == "whitened" else X
    own = {"none": 0.0 * W, "normalised": covered, "whitened": W}[normalisation]
    each = (tau * U)[:, :, None] * along[:, None] - (U * v)[:, :, None] * own
    (drift,) = marked_drifts(recipe(2), normalisation, spike, 0.0)
    linear = drift(AT, Rates(1e-8, 0.0, 0.0))  # Without the squared term.
    moves = each[:, :, :2]
    error = moves.std(axis=0) / math.sqrt(len(g))
    assert (np.abs(moves.mean(axis=0) - linear.overlap / 1e-8) < 4.5 * error).all()
    grown = np.einsum("njk,lk->njl", each[:, :, 2:], W[:, 2:])
    grown = grown + np.swapaxes(grown, 1, 2)
    error = grown.std(axis=0) / math.sqrt(len(g))
    assert (np.abs(grown.mean(axis=0) - linear.rest / 1e-8) < 4.5 * error).all()
    squared = drift(AT, RATES).rest - RATES.step * linear.rest / 1e-8
    pairs = np.einsum("nj,nk->njk", tau * U, tau * U)
    error = pairs.std(axis=0) / math.sqrt(len(g))
    assert (np.abs(pairs.mean(axis=0) - squared / RATES.step**2) < 4.5 * error).all()


def test_correlations() -> None:
    one = Point(np.array([[0.75]]), np.array([[0.5, 0.0]]), np.ones(1))
    assert label_correlation(one, Spike(0.0, 1.0)) == pytest.approx(0.5)
    # tau^2 = 1 + theta / 4, and <w, x> has the part sqrt(1 + theta) / 2 along the label.
    assert label_correlation(one, Spike(8.0, 1.0)) == pytest.approx(1.5 / math.sqrt(3.0))
