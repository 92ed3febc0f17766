import numpy as np
import pytest

from learnability.errors import LearnabilityError
from learnability.estimators import MessagePassingSubspace, MomentSubspace, subspace_overlap

from tests.estimators.problems import planted


def test_it_beats_moments_far_from_their_reach():
    X, y, W = planted(lambda z: z[0] ** 2 - z[1] ** 2, 2, 250, 50, 0)
    found = MessagePassingSubspace(2, random_state=0).fit(X, y)
    overlap = subspace_overlap(found.components_, W)
    assert overlap > 0.95
    assert overlap > subspace_overlap(MomentSubspace("dr", 2).fit(X, y).components_, W) + 0.2
    assert found.information_ > 1
    assert (found.overlap_ > 0.9).all()


def test_on_noise_it_returns_its_start():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 20)), rng.standard_normal(300)
    found = MessagePassingSubspace(1, random_state=0).fit(X, y)
    assert found.status_ == "start"
    assert found.information_ <= 3 * found.information_error_
    assert np.isnan(found.overlap_).all()


def test_a_direction_too_many_has_no_overlap():
    X, y, W = planted(lambda z: np.abs(z[0]), 1, 300, 8, 3)
    y = y + 0.3 * np.random.default_rng(3).standard_normal(300)
    found = MessagePassingSubspace(2, random_state=0).fit(X, y)
    true = (found.components_ @ W.T)[:, 0] ** 2 / (found.components_**2).sum(axis=1)
    assert abs(found.overlap_[0] - true[0]) < 0.1
    assert np.isnan(found.overlap_[1]) and true[1] < 0.1


def test_overlaps_of_counts_are_not_too_high():
    apart = []
    for seed in range(20, 28):
        X, rate, W = planted(lambda z: np.exp(0.7 * z[0]), 1, 400, 15, seed)
        y = np.random.default_rng(seed).poisson(rate)
        found = MessagePassingSubspace(1, random_state=0).fit(X, y)
        v = found.components_[0]
        apart.append(found.overlap_[0] - (W[0] @ v) ** 2 / (v @ v))
    known = [one for one in apart if not np.isnan(one)]
    assert len(known) >= 4 and abs(np.mean(known)) < 0.1


def test_the_seed_fixes_everything_and_units_change_nothing():
    X, y, _ = planted(lambda z: np.sign(z[0] * z[1]), 2, 400, 10, 1)
    one, two = (MessagePassingSubspace(random_state=3).fit(X, y).components_ for _ in range(2))
    np.testing.assert_array_equal(one, two)
    scaled = MessagePassingSubspace(random_state=3).fit(X * 7 + 2, y).components_
    assert subspace_overlap(scaled, one) > 1 - 1e-6


def test_a_given_start_is_used_and_checked():
    X, y, W = planted(lambda z: np.abs(z[0]), 1, 300, 30, 2)
    found = MessagePassingSubspace(1, start=W, random_state=0).fit(X, y)
    assert subspace_overlap(found.components_, W) > 0.95
    with pytest.raises(LearnabilityError, match="start"):
        MessagePassingSubspace(2, start=W).fit(X, y)
    with pytest.raises(LearnabilityError, match="damping"):
        MessagePassingSubspace(damping=0).fit(X, y)
