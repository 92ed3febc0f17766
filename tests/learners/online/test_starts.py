"""Starts: given order parameters, and the law of random ones."""

import numpy as np
import pytest
from scipy.stats import kstest

from learnability import LearnabilityError
from learnability.learners.online._starts import checked_start, random_start, start_weights
from learnability.targets.protocol import hidden_directions


@pytest.mark.parametrize("spherical", [False, True])
def test_random_starts_have_the_law_of_random_weights(spherical):
    p, r, d, count = 2, 2, 5, 3000
    rng = np.random.default_rng(1)
    drawn, direct = [], []
    for seed in range(count):
        start = random_start(seed, p, r, d, spherical)
        drawn.append([*start.overlap.ravel(), start.rest[0, 1], np.trace(start.rest)])
        W = hidden_directions(rng, r, d)
        weights = start_weights(seed, W, p, spherical, None)
        M = weights @ W.T
        C = weights @ weights.T - M @ M.T
        direct.append([*M.ravel(), C[0, 1], np.trace(C)])
    for ours, theirs in zip(np.transpose(drawn), np.transpose(direct), strict=True):
        assert kstest(ours, theirs).pvalue > 1e-3 / 6


def test_weights_have_the_order_parameters_that_were_asked():
    M = np.array([[0.3, 0.1], [-0.2, 0.4], [0.1, 0.1]])
    Q = np.eye(3) + 0.2
    start = checked_start((Q, M), 3, 2, False)
    W = hidden_directions(np.random.default_rng(0), 2, 9)
    weights = start_weights(4, W, 3, False, start)
    np.testing.assert_allclose(weights @ W.T, M, atol=1e-12)
    np.testing.assert_allclose(weights @ weights.T, Q, atol=1e-12)


@pytest.mark.parametrize(
    ("start", "spherical", "words"),
    [
        ((1.0, [0.1, 0.2]), False, "shapes"),
        ((1.0, np.nan), False, "finite matrices"),
        (1.0, False, "pair"),
        ((0.1, 0.5), False, "positive semi-definite"),
        ((0.5, 0.1), True, "length 1"),
    ],
)
def test_impossible_starts_end_in_a_sentence(start, spherical, words):
    with pytest.raises(LearnabilityError, match=words):
        checked_start(start, 1, 1, spherical)
