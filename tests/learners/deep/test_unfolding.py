"""Layers that recover several features at once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Hierarchical, LearnabilityError, OracleFirstLayer, OracleLevel
from learnability.learners import Layerwise, PreconditionedSecondLayer, RidgeReadout, UnfoldingLayer
from learnability.learners.deep import Samples, features_n_star, train

TREE = Hierarchical("tanh(z)", "He2(z)", N=(8, 2))
LATER = PreconditionedSecondLayer(20), RidgeReadout()


def test_the_functions_span_the_features() -> None:
    """A label z-space quadratic in two features: regression sees no single one, unfolding both."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((6000, 6))
    h = np.stack([z[:, 0] * z[:, 1], (z[:, 2] ** 2 - z[:, 3] ** 2) / 2], axis=1)
    y = (np.tanh(h[:, 0] ** 2) - np.tanh(h[:, 1] ** 2)).astype(np.float32)
    trained = UnfoldingLayer(2, width=5).learn(lambda: [z], y, 0, 1)
    fresh = rng.standard_normal((2000, 6))
    q = trained.functions(fresh)
    assert q.shape == (2000, 3) and trained.used == 3000 and trained.left_out.shape == (3000, 5)
    truth = np.stack([fresh[:, 0] * fresh[:, 1], (fresh[:, 2] ** 2 - fresh[:, 3] ** 2) / 2], axis=1)
    fitted = q[:, 1:] @ np.linalg.lstsq(q[:, 1:], truth, rcond=None)[0]
    assert np.mean((truth - fitted) ** 2) < 0.1 * truth.var()
    alone = q[:, :1] @ np.linalg.lstsq(q[:, :1], truth, rcond=None)[0]
    assert np.mean((truth - alone) ** 2) > 0.45 * truth.var()


def test_four_layers_count_their_samples() -> None:
    four = Layerwise((OracleFirstLayer(None), UnfoldingLayer(2, width=40), *LATER))
    network = train(four, TREE, n=1000, d=8)
    assert network.sizes == (500, 500, 500)
    runs = four.simulate(TREE, d=8, alpha=125.0)
    assert (runs.n_second.item(), runs.n_third.item(), runs.n_total.item()) == (500, 500, 2000)
    three = Layerwise((OracleFirstLayer(100), *LATER)).simulate(TREE, d=8, alpha=125.0)
    assert three.n_second.item() == three.n_third.item() == 1000


def test_given_features() -> None:
    samples = Samples(TREE, 0, 8, 500)
    W = OracleLevel().learn(samples)
    X = next(iter(samples))[0]
    levels = TREE.features(X, W)
    for level, expected in ((None, levels[1]), (1, levels[0]), (2, levels[1])):
        found = OracleLevel(level).lifted(samples)(X @ W.T)
        np.testing.assert_allclose(found, expected[:, 0], atol=1e-5)
    assert OracleLevel(width=7).lifted(samples)(X @ W.T).shape == (500, 7)
    runs = Layerwise((OracleLevel(width=60), *LATER)).simulate(TREE, d=8, alpha=125.0)
    assert runs.error.item() < 0.15 * runs.attrs["label_variance"]
    theory = Layerwise((OracleLevel(width=60), *LATER)).predict(TREE, d=8, alpha=125.0)
    assert math.isnan(theory.two_layer_error.item()) and "Mehler" in theory.attrs["note"]


def test_where_features_are_seen() -> None:
    assert 10 < features_n_star(TREE) < 200
    assert features_n_star(TREE, 3) == pytest.approx(features_n_star(TREE) * 164 / 44)
    assert features_n_star(Hierarchical("z", "z", N=(4, 2))) == math.inf


def test_sentences() -> None:
    with pytest.raises(LearnabilityError, match="at least 16 samples"):
        UnfoldingLayer(2).learn(lambda: [np.ones((10, 3))], np.ones(10), 0, 1)
    with pytest.raises(LearnabilityError, match="next to the first layer"):
        Layerwise((OracleFirstLayer(None), UnfoldingLayer(2), UnfoldingLayer(2), *LATER))
    with pytest.raises(LearnabilityError, match="levels up to 2"):
        OracleLevel(3).lifted(Samples(TREE, 0, 8, 20))
    with pytest.raises(LearnabilityError, match="use depth 4"):
        features_n_star(Hierarchical("z", N=4))
