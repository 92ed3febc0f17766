"""Averages over two correlated normal coordinates, against adaptive integrals and differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from learnability.gaussian.planar import Jumps, box_average

EDGES = np.array([-0.7, 0.4]), np.array([0.1])
VALUES = np.array([[0.3, 1.0], [0.0, 0.2], [2.0, 0.5]])
JUMPS = Jumps.of(VALUES[..., None])


def by_boxes(mean: tuple[float, float], covariance: np.ndarray) -> float:
    law = multivariate_normal(np.array(mean), covariance)
    ends = [np.concatenate([[-30.0], e, [30.0]]) for e in EDGES]
    total = 0.0
    for i in range(3):
        for j in range(2):
            low = [ends[0][i], ends[1][j]]
            total += VALUES[i, j] * law.cdf([ends[0][i + 1], ends[1][j + 1]], lower_limit=low)
    return total


@pytest.mark.parametrize("rho", [0.0, 0.5, -0.8, 0.95, -0.99])
@pytest.mark.parametrize("mean", [(0.0, 0.0), (0.6, -1.3), (-2.0, 2.5)])
def test_average_and_derivatives(rho: float, mean: tuple[float, float]) -> None:
    covariance = np.array([[0.8, rho * np.sqrt(0.8 * 1.7)], [rho * np.sqrt(0.8 * 1.7), 1.7]])
    root = np.linalg.cholesky(covariance)

    def average(*at: float) -> tuple[float, ...]:
        means = np.array([at[0]]), np.array([at[1]])
        return tuple(float(x[0]) for x in box_average(JUMPS, EDGES, means, root, True))

    found, first, second, twice, mixed, other = average(*mean)
    assert box_average(JUMPS, EDGES, tuple(np.array(mean)[:, None]), root) == (found, first, second)
    assert found == pytest.approx(by_boxes(mean, covariance), abs=1e-6)
    h = 1e-4
    for slopes, step in (((first, twice, mixed), [h, 0.0]), ((second, mixed, other), [0.0, h])):
        up, down = (average(*(np.array(mean) + sign * np.array(step)))[:3] for sign in (1, -1))
        assert slopes == pytest.approx((np.array(up) - down) / (2 * h), abs=1e-6)


def test_single_precision_stays_single() -> None:
    mean = tuple(np.zeros((2, 5), dtype=np.float32))
    jumps = Jumps.of(VALUES[..., None].astype(np.float32))
    found = box_average(jumps, EDGES, mean, np.eye(2), True)
    assert {x.dtype for x in found} == {np.dtype(np.float32)}
