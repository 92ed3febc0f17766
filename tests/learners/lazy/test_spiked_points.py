"""Predictions on spiked data as labelled results, and random features of finite width."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import (
    KernelRidge,
    LearnabilityError,
    Link,
    MultiIndex,
    RandomFeatures,
    SpikedIndex,
)
from learnability.inputs import Spiked
from learnability.learners.lazy._spiked_points import Spikes, training_points

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


@pytest.mark.parametrize(
    ("r", "inputs", "across"),
    [
        (1, Spiked(8.0, -0.6), 1),
        (1, Spiked(8.0), 0),
        (1, Spiked((8.0, 2.0), (0.6, 0.3)), 1),
        (2, Spiked(8.0), 1),
        (2, Spiked((8.0, 2.0), ((0.6, 0.2), (0.0, 0.5))), 2),
    ],
)
def test_a_training_set_has_the_labels_of_its_coordinates(
    r: int, inputs: Spiked, across: int
) -> None:
    """Kept features and labels are functions of (u, s): the label of A (u, s) is that of x."""
    link = Link("tanh(z)") if r == 1 else Link("z1*z2 + sign(z1)")
    target, d = MultiIndex(link, inputs=inputs), 60
    spikes = Spikes.of(inputs.frame(r, d), d)
    assert spikes.across.shape == (r, across) and spikes.exact == (r == inputs.count == 1)
    np.testing.assert_allclose(spikes.along @ spikes.along.T + spikes.across @ spikes.across.T,
                               np.eye(r), atol=1e-12)  # fmt: skip
    np.testing.assert_allclose(spikes.t, (1 + inputs.strengths(d)) / d)
    seen = []

    class Parts:
        """Features that are the coordinates u themselves."""

        def mean(self, u: np.ndarray) -> np.ndarray:
            seen.append(u)
            return np.zeros((len(u), 0))

        def linear(self, u: np.ndarray) -> np.ndarray:
            return np.ones((len(u), 1))

        def rest(self, u: np.ndarray) -> np.ndarray:
            return np.zeros(len(u))

    points = training_points(Parts(), spikes, target, 3, 40, d)  # type: ignore[arg-type]
    (u,), s = seen, points.kept * math.sqrt(d)
    h = u @ spikes.along.T + s @ spikes.across.T
    np.testing.assert_allclose(np.asarray(link(h)), points.label, atol=1e-9)
    assert points.spikes == inputs.count
