"""One neuron of the flow on n samples, found without the samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from learnability import Link
from learnability.labels import Channel
from learnability.learners.giant._sphere_flow import descend, whitening
from learnability.learners.giant._subspace_chain import chained_correlation

LINK, ACTIVATION = Link("He2(z)/sqrt(2) + z/2"), Link("relu(z) + z**2/5")


def of_samples(
    n: int, d: int, rho: float, step: float, count: int, rng: np.random.Generator
) -> float:
    """Run the neuron on n samples in d coordinates."""
    X = rng.standard_normal((n, d)).astype(np.float32)
    y = LINK(X[:, :1].astype(float)) + math.sqrt(0.2) * rng.standard_normal(n)
    w = np.zeros(d)
    w[0], w[1] = rho, math.sqrt(1 - rho**2)
    root, inverse = whitening(X)
    U = (w @ root)[None] / np.linalg.norm(w @ root)
    G = X @ inverse.astype(np.float32)
    U = descend(U.astype(np.float32), G, y.astype(np.float32), ACTIVATION, step, count)
    end = (U.astype(float) @ inverse)[0]
    return float(end[0] / np.linalg.norm(end))


@pytest.mark.parametrize(
    ("n", "d", "count"), [(50, 10, 5), (60, 10, 15), (25, 20, 8)], ids=["few", "all", "outside"]
)
def test_it_has_the_law_of_the_flow_on_samples(n: int, d: int, count: int) -> None:
    """Before V is known, after all of it is, and after all that is not in V is."""
    rng = np.random.default_rng(5)
    direct = [of_samples(n, d, 0.3, 0.1, count, rng) for _ in range(1500)]
    channel = Channel(LINK, noise=0.2)
    chain = [
        chained_correlation(channel, ACTIVATION, (n, d), 0.3, 0.1, count, rng) for _ in range(1500)
    ]
    assert ks_2samp(direct, chain).pvalue > 1e-3
    assert np.std(direct) > 0.1


def test_many_samples_follow_the_population() -> None:
    """f = sigma = z: artanh(rho) grows by 2 t, to the first order in the step."""
    found = chained_correlation(
        Channel(Link("z")), Link("z"), (200_000, 20), 0.2, 0.01, 50, np.random.default_rng(0)
    )
    assert found == pytest.approx(math.tanh(math.atanh(0.2) + 1.0), abs=0.01)
