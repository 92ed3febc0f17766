"""The first layer and its features."""

from __future__ import annotations

import numpy as np

from learnability import Link
from learnability.learners.networks.features import features, first_layer


def test_the_first_layer_has_rows_of_unit_length() -> None:
    W = first_layer(3, 400, 500)
    assert W.shape == (400, 500) and W.dtype == np.float32
    np.testing.assert_allclose(np.mean(np.sum(W**2, axis=1)), 1.0, rtol=0.02)
    np.testing.assert_array_equal(W, first_layer(3, 400, 500))
    assert not np.array_equal(W, first_layer(4, 400, 500))


def test_features() -> None:
    X, W = np.array([[1.0, -2.0], [0.0, 3.0]], np.float32), np.eye(2, dtype=np.float32)
    found = features(Link("relu(z)"), X, W)
    np.testing.assert_allclose(found, np.maximum(X, 0) / np.sqrt(2), rtol=1e-6)
    assert found.dtype == np.float32
