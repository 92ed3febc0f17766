"""Gaussian integrals as particles, against moments that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import truncnorm

from learnability.gaussian.particles import (
    FINE,
    Particles,
    cholesky,
    interval,
    joined,
    outer_nodes,
    panel_ends,
    reduced,
    root_particles,
)


@pytest.mark.parametrize(
    ("low", "high"),
    [(-0.3, 1.2), (2.0, 2.5), (-9.0, -8.5), (None, -6.0), (7.0, None), (None, 0.4)],
)
def test_an_interval_of_the_normal_law(low: float | None, high: float | None) -> None:
    """Tails too, where 1 - Phi would have no digit left."""
    ends = [None if x is None else np.array([x]) for x in (low, high)]
    _, mean, variance = interval(*ends, np)
    law = truncnorm(-np.inf if low is None else low, np.inf if high is None else high)
    assert mean[0] == pytest.approx(law.mean(), rel=1e-8)
    assert variance[0] == pytest.approx(law.var(), rel=1e-4)
    # d log mass / d shift is the mean: a second way to the logarithm.
    step = 1e-5
    up, down = (
        interval(*(None if e is None else e + s for e in ends), np)[0] for s in (-step, step)
    )
    assert (up - down)[0] / (2 * step) == pytest.approx(mean[0], rel=1e-5)


def test_the_whole_line() -> None:
    assert interval(None, None, np) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("edges", [np.zeros(0), np.array([0.0]), np.array([-1.0, 0.3])])
def test_nodes_integrate_a_coordinate(edges: np.ndarray) -> None:
    """Panels with no edge, one and two: total weight one, mean of t zero, variance one."""
    mean, row = np.array([0.4, -3.0]), np.array([0.7])
    found = outer_nodes(Particles.nothing(np, mean), mean, row, edges, 48, FINE.reach, np)
    weight = np.exp(found.log_weight)
    np.testing.assert_allclose(weight.sum(axis=0), 1.0, rtol=1e-9)
    np.testing.assert_allclose((weight * found.t[0]).sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose((weight * found.t[0] ** 2).sum(axis=0), 1.0, rtol=1e-9)
    # Every node lies on the panel it is said to lie on.
    z = mean + row[0] * found.t[0]
    for number in range(len(edges) + 1):
        inside = z[found.cell[:, 0] == number]
        low, high = ([-np.inf, *edges][number], [*edges, np.inf][number])
        assert ((inside >= low) & (inside <= high)).all()


def test_a_panel_far_away_is_kept() -> None:
    (_, far) = panel_ends(np.zeros(1), 1.0, np.array([20.0]), 5.0, np)
    assert far[0] == 20.0 and 20.1 < far[1] < 22


def test_moments_of_two_coordinates() -> None:
    """Without any condition the mean is omega and the covariance V, in the order given."""
    V = np.array([[0.5, 0.2], [0.2, 0.9]])
    omega = np.array([[0.3], [-0.8]])
    for order in ([0, 1], [1, 0]):
        L = cholesky(V, order, np)
        first = outer_nodes(
            Particles.nothing(np, omega[0]), omega[order[0]], L[0], np.zeros(0), 64, 8.5, np
        )
        both = outer_nodes(first, omega[order[1]], L[1], np.array([0.1]), 48, 8.5, np)
        log_z, mean, second = reduced(both, L, order, np)
        np.testing.assert_allclose(log_z, 0.0, atol=1e-9)
        np.testing.assert_allclose(mean, 0.0, atol=1e-9)
        np.testing.assert_allclose(second[..., 0], V, atol=1e-8)


def test_roots_weigh_as_the_density() -> None:
    roots = np.array([[1.0], [-1.0]])
    found = root_particles(np.array([0.5]), np.array([2.0]), roots, 0.0, np)
    expected = np.exp(-0.5 * ((roots - 0.5) / 2) ** 2) / np.sqrt(8 * np.pi)
    np.testing.assert_allclose(np.exp(found.log_weight), expected)
    assert len(joined([found, found], np).cell) == 4
