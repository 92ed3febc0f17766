"""Blind message passing against the state evolution of those who know the link.

sign(z1 z2) in dimension 500. Not knowing the link costs a share of the overlap, never gains one:
the mean over seeds must lie between that share and the theory, with a margin of 10 / d for finite
dimension.
"""

from __future__ import annotations

import numpy as np
import pytest

import learnability as lb
from learnability.estimators import MessagePassingSubspace, subspace_overlap

pytestmark = pytest.mark.agreement


@pytest.mark.parametrize(("alpha", "share"), [(5.0, 0.92), (8.0, 0.96)])
def test_the_price_of_not_knowing_the_link_is_small(alpha, share):
    d, seeds = 500, range(3)
    overlaps = []
    for seed in seeds:
        sample = lb.MultiIndex("sign(z1*z2)").sample(seed, round(alpha * d), d)
        X = np.asarray(sample.X, dtype=float)
        found = MessagePassingSubspace(2, random_state=seed).fit(X, np.asarray(sample.y))
        overlaps.append(subspace_overlap(found.components_, np.asarray(sample.W)))
    theory = float(lb.BayesAMP().predict("sign(z1*z2)", alpha=alpha).subspace_overlap)
    assert share * theory - 10 / d < np.mean(overlaps) < theory + 10 / d, (overlaps, theory)
