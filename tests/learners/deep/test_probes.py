"""Probes of layers."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError, layer_probes


def test_shares_and_their_errors() -> None:
    """A layer that has a feature with noise of variance v explains 1 / (1 + v) of it."""
    rng = np.random.default_rng(0)
    misses = []
    for k in range(40):
        h = rng.standard_normal((600, 2))
        layer = np.sqrt(0.5) * rng.standard_normal((600, 2)) + h
        found = layer_probes([layer, rng.standard_normal((600, 3))], [h, h[:, 0] ** 2], seed=k)
        assert found.value.shape == found.stderr.shape == (2, 2)
        misses.append((found.value[0, 0] - 2 / 3) / found.stderr[0, 0])
        assert np.abs(found.value[1]).max() < 0.1 and abs(found.value[0, 1]) < 0.1
    assert abs(np.mean(misses)) < 0.6 and 0.7 < np.std(misses) < 1.4


def test_callables_and_shapes() -> None:
    x = np.random.default_rng(1).standard_normal((100, 2, 2))
    found = layer_probes(lambda inputs: [inputs, inputs**2], [x[:, 0, 0]], inputs=x)
    np.testing.assert_allclose(found.value[0], 1, atol=1e-3)
    assert found.value[1] < 0.5 and found.layers == ("layer 1", "layer 2")
    assert str(found).splitlines()[1].startswith("layer 1  1.000 (0.0")
    constant = np.ones((100, 3))
    assert abs(layer_probes([constant], [x[:, 0, 0]]).value.item()) < 0.1


def test_sentences() -> None:
    x = np.random.default_rng(2).standard_normal((30, 2))
    for features, hidden, words in (
        ([x], [x[:29]], "of 30 samples and levels of 29"),
        ([], [x], "of no samples"),
        ([x[:10]], [x[:10]], "20 samples or more"),
        ([x * np.nan], [x], "`features` number 1"),
        ([x], [x, np.ones(30)], "`hidden` number 2 is constant"),
        ([["a"]], [x], "finite values"),
    ):
        with pytest.raises(LearnabilityError, match=words):
            layer_probes(features, hidden)  # type: ignore[arg-type]
    with pytest.raises(LearnabilityError, match="`inputs` was not"):
        layer_probes(lambda inputs: [inputs], [x])
