import numpy as np
import pytest

from learnability.estimators._blind_amp import WhiteRows, pass_messages
from learnability.estimators._channel import CrossFittedChannel
from learnability.estimators._labels import read_labels
from learnability.estimators._whitening import whiten

from tests.estimators.problems import planted


def test_the_share_of_lost_response_is_one_over_alpha_when_exactly_white_and_none_when_free():
    X = np.random.default_rng(0).standard_normal((1000, 100))
    exact, free = (
        WhiteRows(X, whiten(X, np.ones(1000), how), np.ones(1000)) for how in ("exact", "shrunk")
    )
    assert exact.lost_response == pytest.approx(0.1, abs=0.01)
    assert free.lost_response < 0.02


def test_a_table_that_is_not_copied_gives_the_same_products():
    X = np.random.default_rng(1).standard_normal((50, 4))
    whitening = whiten(X, np.ones(50), "exact")
    copied = WhiteRows(X, whitening, np.ones(50))
    read = WhiteRows(X, whitening, np.ones(50), most=0)
    U, G = np.eye(4)[:, :2], np.ones((50, 2))
    assert read.Z is None
    np.testing.assert_allclose(copied.project(U), read.project(U), atol=1e-10)
    np.testing.assert_allclose(copied.collect(G), read.collect(G), atol=1e-10)


def test_a_good_start_is_kept_and_improved():
    X, y, W = planted(lambda z: np.abs(z[0]), 1, 600, 100, 0)
    rows = WhiteRows(X, whiten(X, np.ones(600), "shrunk"), np.ones(600))
    labels = read_labels(y, np.ones(600))
    truth = np.linalg.qr(np.linalg.lstsq(rows.whitening.factor, W.T, rcond=None)[0])[0]
    rough = truth + 0.1 * np.random.default_rng(0).standard_normal(truth.shape)
    rough /= np.linalg.norm(rough)
    channel = CrossFittedChannel(labels, 1, np.random.default_rng(0))
    found = pass_messages(rows, channel, rough, steps=20, damping=0.8)
    assert (found.U.T @ truth).item() ** 2 > max(0.98, (rough.T @ truth).item() ** 2)
