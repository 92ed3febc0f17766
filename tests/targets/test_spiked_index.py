"""Single-index targets with one long input direction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from learnability import LearnabilityError, MultiIndex, SpikedIndex
from learnability.learners.protocol import checked_target


def test_inputs_have_the_covariance_and_labels_their_argument() -> None:
    target = SpikedIndex("He3(z) + z", spike=8.0, alignment=0.6)
    X, y, W, h = target.sample(0, n=40_000, d=10)
    mu, e2 = target.frame(0, 10)
    np.testing.assert_allclose(W[0], 0.6 * mu + 0.8 * e2)
    wanted = np.eye(10) + 8 * np.outer(mu, mu)
    # Entries of a sample covariance: standard error sqrt((S_ii S_jj + S_ij^2) / n).
    error = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2) / 200
    assert (np.abs(X.T @ X / len(X) - wanted) < 4.5 * error).all()
    np.testing.assert_allclose(h, X @ W.T / math.sqrt(1 + 8 * 0.36), atol=1e-12)
    np.testing.assert_allclose(y, target.link(h), atol=1e-10)
    assert kstest(h[:, 0], "norm").pvalue > 1e-3


def test_exponents_are_resolved_in_each_dimension() -> None:
    target = SpikedIndex("z", spike_exponent=0.5, alignment_exponent=0.25)
    assert target.at(10**4) == pytest.approx((100.0, 0.1))
    assert target.at(10**8) == pytest.approx((10.0**4, 0.01))
    p, q = target.at(10**4).cosines
    assert p**2 + q**2 == pytest.approx(1.0) and p == pytest.approx(0.1 * math.sqrt(101 / 2))
    aligned = SpikedIndex("z", spike=3.0).at(50)
    assert aligned.cosines == pytest.approx((1.0, 0.0)) and aligned.variance == 4.0


def test_coordinates_are_those_of_the_samples() -> None:
    target = SpikedIndex("sign(z)", spike=5.0, alignment=-0.5, noise=0.3)
    X, y, _, _ = target.sample(3, n=50, d=12)
    c, labels = target.coordinates(3, 50, 12)
    np.testing.assert_allclose(X @ target.frame(3, 12).T, c * [math.sqrt(6), 1], atol=1e-12)
    np.testing.assert_array_equal(y, labels)
    third = next(target.batches(3, 50, 12, first=2))
    assert not np.allclose(third.y, y)
    np.testing.assert_array_equal(third.y, target.coordinates(3, 50, 12, batch=2)[1])


def test_stratified_samples_integrate_heavy_links() -> None:
    target = SpikedIndex("He3(z)", spike=5.0, alignment=0.4)
    found = []
    for _, (sample, weights) in zip(range(10), target.stratified(0, 400, 8), strict=False):
        found.append(weights @ sample.y**2)
        along = sample.X @ target.frame(0, 8)[0]
        assert weights @ along**2 == pytest.approx(6.0, rel=0.5)
    assert np.mean(found) == pytest.approx(6.0, rel=5e-3)  # 1.5 % at least for 4000 plain samples.


def test_population_quantities_are_those_of_the_link() -> None:
    target, plain = SpikedIndex("z**2", spike=2.0, noise=0.1), MultiIndex("z**2", noise=0.1)
    assert target.label_mean == plain.label_mean and target.r == 1
    assert target.label_variance == plain.label_variance


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"spike": -1.0}, "`spike` was given as -1.0, but a finite number of at least 0"),
        ({"spike": math.nan}, "`spike` was given as nan"),
        ({"spike": 1.0, "alignment": 1.2}, "`alignment` was given as 1.2, but a number between"),
        ({"spike": 1.0, "spike_exponent": 0.5}, "not both or neither"),
        ({}, "not both or neither"),
        ({"spike": 1.0, "alignment": 0.3, "alignment_exponent": 0.1}, "not both"),
        ({"spike_exponent": -0.1}, "`spike_exponent` was given as -0.1"),
        ({"spike": 1.0, "noise": -1.0}, "noise"),
    ],
)
def test_bad_spikes_end_in_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        SpikedIndex("z", **arguments)


def test_bad_links_and_dimensions_end_in_a_sentence() -> None:
    with pytest.raises(LearnabilityError, match="labels of one variable"):
        SpikedIndex("z1*z2", spike=1.0)
    with pytest.raises(LearnabilityError, match="`d` was given as 2"):
        SpikedIndex("z", spike=1.0).at(2)
    with pytest.raises(
        LearnabilityError, match="SpikedIndex, but this learner accepts a MultiIndex"
    ):
        checked_target(SpikedIndex("z", spike=1.0))
    with pytest.raises(LearnabilityError, match="give a smaller one"):
        SpikedIndex("z", spike_exponent=200.0).at(10**6)
