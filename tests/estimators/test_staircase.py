import numpy as np

from learnability.estimators._blind_amp import WhiteRows
from learnability.estimators._labels import read_labels
from learnability.estimators._staircase import proposals, residual_features, strength
from learnability.estimators._whitening import whiten


def test_given_one_direction_of_a_parity_the_other_is_proposed():
    X = np.random.default_rng(0).standard_normal((1000, 20))
    labels = read_labels(np.sign(X[:, 0] * X[:, 1]), np.ones(1000))
    rows = WhiteRows(X, whiten(X, np.ones(1000), "shrunk"))
    known = np.linalg.qr(rows.collect(X[:, :1]))[0]
    power, U = proposals(rows, labels, known, X[:, :1], 1)[0]
    coordinate = rows.project(U)[:, 0]
    assert power > 2
    assert abs(np.corrcoef(coordinate, X[:, 1])[0, 1]) > 0.9


def test_the_strength_of_noise_is_about_one():
    rng = np.random.default_rng(1)
    Z, labels = rng.standard_normal((2000, 30)), read_labels(rng.random(2000), np.ones(2000))
    assert 0.7 < strength(Z, residual_features(labels, np.zeros((2000, 0)))) < 1.3
