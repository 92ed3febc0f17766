"""Networks that are trained layer by layer."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Hierarchical, LearnabilityError, MultiIndex
from learnability.learners.deep import (
    Layerwise,
    OracleFirstLayer,
    PreconditionedSecondLayer,
    RidgeReadout,
    Samples,
    train,
)
from learnability.learners.deep.network import FRESH_BATCH, train_over
from learnability.learners.deep.observables import on_fresh_samples

TARGET = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", normalisation="printed")
LAYERS = (OracleFirstLayer(60), PreconditionedSecondLayer(20, steps=2), RidgeReadout())


@pytest.mark.parametrize("fresh", [False, True])
def test_the_layers_in_turn(fresh: bool) -> None:
    network = train(Layerwise(LAYERS, fresh), TARGET, n=500, d=16, seed=3)
    W = LAYERS[0].learn(Samples(TARGET, 3, 16, 500))
    np.testing.assert_array_equal(network.W, W)
    later = Samples(TARGET, 3, 16, 500, FRESH_BATCH if fresh else 0)
    X = np.random.default_rng(0).standard_normal((7, 16)).astype(np.float32)
    second = LAYERS[1].learn(lambda: [x @ W.T for x, _ in later], later.labels, 3, 1)
    readout = LAYERS[2].learn(lambda: [second.left_out], later.labels, 3, 2)
    expected = readout.forward(second.forward(X @ W.T))
    np.testing.assert_allclose(network.outputs(X)[:, 1:], expected, rtol=1e-5)
    np.testing.assert_array_equal(network.outputs(X)[:, 0], network.functions(X)[:, 0])
    assert network.functions(X).shape == (7, 2)
    values = network.layers(X)
    assert [v.shape[1] for v in values] == [60, 20, 1]
    np.testing.assert_allclose(values[-1], expected, rtol=1e-5)
    assert network.ridges == (second.ridge, readout.ridge)


def test_the_first_layer_may_be_given() -> None:
    samples = Samples(TARGET, 0, 16, 800)
    networks = [train_over(LAYERS[1:], OracleFirstLayer(p).learn(samples), samples)
                for p in (5, 200)]  # fmt: skip
    few, many = (on_fresh_samples(TARGET, 0, 16, one.outputs).error for one in networks)
    assert (many < few).all()


def test_sentences() -> None:
    for n in (0, 1, 2.5):
        with pytest.raises(LearnabilityError, match="`n` was given as"):
            train(Layerwise(), TARGET, n=n, d=16)  # type: ignore[arg-type]
    with pytest.raises(LearnabilityError, match="accepts hierarchical targets"):
        train(Layerwise(), MultiIndex("z"), n=10, d=4)  # type: ignore[arg-type]
