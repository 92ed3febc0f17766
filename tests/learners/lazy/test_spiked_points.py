"""Predictions on spiked data as labelled results, and random features of finite width."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import KernelRidge, LearnabilityError, RandomFeatures, SpikedIndex

from tests.structured_values import FEATURE_ERRORS, LINKS


@pytest.mark.parametrize("link", ["he1", "relu"])
def test_features_of_finite_width(link: str) -> None:
    """All reference values of relu features at d = 500, n = 750, ridge 0.05, and their runs."""
    for p, gamma, name, theory, runs in FEATURE_ERRORS:
        if name == link:
            target = SpikedIndex(LINKS[link], spike_exponent=gamma)
            found = RandomFeatures(p / 500, "relu(z)", 0.05).predict(target, d=500, alpha=1.5)
            assert float(found.error) == pytest.approx(theory, rel=1e-6), (p, gamma)
            assert float(found.error) == pytest.approx(runs, rel=0.04 if gamma <= 0.5 else 0.1)
            assert found.attrs["method"] == "two levels"


def test_endless_features_and_their_reference() -> None:
    target = SpikedIndex("He3(z)/sqrt(6)", spike_exponent=0.65)
    learner = RandomFeatures(math.inf, "relu(z)", 0.1)
    assert float(learner.predict(target, d=1000, alpha=1.0).error) == pytest.approx(1.196, rel=1e-4)
    with pytest.raises(LearnabilityError, match="a run needs a finite one"):
        learner.simulate(target, d=100, alpha=1.0)


def test_the_shape_of_results() -> None:
    target = SpikedIndex("sign(z)", spike=4.0, alignment=0.5)
    learner = KernelRidge("exp(z)", (0.1, 1.0))
    limit = learner.predict(target, d=200, alpha=[0.5, 2.0])
    given = learner.predict(target, d=200, alpha=[0.5, 2.0], seeds=[3, 1, 4])
    assert limit.error.dims == ("alpha", "ridge")
    assert given.error.dims == ("alpha", "seed", "ridge")
    assert "strength=4.0" in limit.attrs["inputs"] and limit.attrs["d"] == 200
    assert (limit.error > 0).all() and (given.train_error > 0).all()
    again = learner.predict(target, d=200, alpha=2.0, seeds=[4])
    np.testing.assert_array_equal(again.error[0], given.error[1, 2])
    with pytest.raises(LearnabilityError, match="typical training set only"):
        RandomFeatures().predict(target, d=200, alpha=1.0, seeds=2)
