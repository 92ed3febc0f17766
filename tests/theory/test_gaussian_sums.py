"""Sums of Gaussians on grids of their centres, against the sums written out."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.theory import _gaussian_sums
from learnability.theory._gaussian_sums import gaussian_sums

AXES = [np.arange(-6, 7) * 0.21, np.arange(0, 9) * 0.17, np.arange(-4, 5) * 0.3]


def written_out(z, weight, nodes, variance):
    """The sum and its gradient at every omega, (1 + r, n)."""
    omega = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, len(nodes))
    gap = z - omega[:, None]
    law = weight * np.exp(-0.5 * (gap**2 / variance).sum(axis=-1))
    law = law / np.sqrt(np.prod(2 * np.pi * variance))
    slope = (law[..., None] * gap / variance).sum(axis=1)
    return np.concatenate([law.sum(axis=1)[None], slope.T])


@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("together", [1, 250_000])
def test_each_label_has_the_sum_over_its_points(r, together, monkeypatch):
    monkeypatch.setattr(_gaussian_sums, "_ENTRIES", together)
    monkeypatch.setattr(_gaussian_sums, "_PRODUCTS", 200 * together)
    rng = np.random.default_rng(r)
    z, weight = rng.uniform(-3, 3, (300, r)), rng.uniform(0.1, 1, 300)
    start = np.array([0, 90, 90, 91, 300])  # The second label has no points.
    variance, nodes = np.array([0.3, 0.2, 0.5])[:r], AXES[:r]
    seen = []
    for labels, sums in gaussian_sums(z, weight, start, nodes, variance, np.float64):
        seen += labels.tolist()
        for k, found in zip(labels, np.moveaxis(sums, 1, 0), strict=True):
            part = slice(start[k], start[k + 1])
            expected = written_out(z[part], weight[part], nodes, variance)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert seen == [0, 2, 3]


@pytest.mark.parametrize("variance", [0.03, 1e-4])
def test_points_far_from_the_centre_of_the_grid_are_not_lost(variance):
    """At the smaller variance their exponentials there are zero: each is computed by itself."""
    nodes = [np.arange(-40, 41) * 0.1, np.arange(-40, 41) * 0.1]
    z, start = np.array([[3.9, -3.7], [-3.9, 3.0]]), np.array([0, 2])
    v = np.full(2, variance)
    ((_, sums),) = gaussian_sums(z, np.ones(2), start, nodes, v, np.float64)
    expected = written_out(z, np.ones(2), nodes, v)
    seen = expected[0] > 1e-12
    assert sums[0, 0, seen] == pytest.approx(expected[0, seen], rel=1e-8)
    assert sums[:, 0].max() == pytest.approx(expected.max(), rel=1e-8)


def test_single_precision_is_as_good_as_it_says():
    rng = np.random.default_rng(7)
    z, start, v = rng.standard_normal((500, 3)), np.array([0, 500]), np.full(3, 0.2)
    ((_, sums),) = gaussian_sums(z, np.ones(500), start, AXES, v, np.float32)
    expected = written_out(z, np.ones(500), AXES, v)
    assert sums[:, 0] == pytest.approx(expected, rel=1e-4, abs=1e-5 * np.abs(expected).max())
