import numpy as np
import pytest

from learnability.estimators._blind_amp import WhiteRows
from learnability.estimators._labels import read_labels
from learnability.estimators._staircase import bulk_ends, proposals, residuals, strength
from learnability.estimators._whitening import whiten


def test_given_one_direction_of_a_parity_the_other_is_proposed():
    X = np.random.default_rng(0).standard_normal((1000, 20))
    labels = read_labels(np.sign(X[:, 0] * X[:, 1]), np.ones(1000))
    rows = WhiteRows(X, whiten(X, np.ones(1000), "shrunk"), np.ones(1000))
    known = np.linalg.qr(rows.collect(X[:, :1]))[0]
    power, U = proposals(rows, labels, known, X[:, :1], 1)[0]
    coordinate = rows.project(U)[:, 0]
    assert power > 2
    assert abs(np.corrcoef(coordinate, X[:, 1])[0, 1]) > 0.9


def test_the_strength_of_noise_is_about_one():
    rng = np.random.default_rng(1)
    Z, labels = rng.standard_normal((2000, 30)), read_labels(rng.random(2000), np.ones(2000))
    features = residuals(labels, np.zeros((2000, 0))).features()
    first, second = strength(Z, features, np.ones(2000))
    assert 0.7 < first < 1.3 and 0.7 < second < 1.3


@pytest.mark.parametrize("classes", [False, True])
def test_redrawn_labels_follow_their_law_given_what_is_known_and_nothing_else(classes):
    rng = np.random.default_rng(2)
    t, z = rng.standard_normal((2, 4000))
    y = t + 0.5 * z * (1 + t**2)
    labels = read_labels(y > 0 if classes else y, np.ones(4000))
    left = residuals(labels, t[:, None])
    drawn = left.redrawn(rng)
    assert np.abs(left.features() @ z / 4000).max() > 0.2
    assert np.abs(drawn.features() @ z / 4000).max() < 0.08
    assert np.abs(drawn.e @ t / 4000).max() < 0.08


@pytest.mark.parametrize("power", [1, 3])
def test_the_ends_of_the_bulk_are_those_of_a_simulated_one(power):
    rng = np.random.default_rng(3)
    n, k = 4000, 800
    f = rng.standard_normal(n) ** power
    Z = rng.standard_normal((n, k))
    values = np.linalg.eigvalsh(Z.T @ (Z * f[:, None]) / n)
    low, high = bulk_ends(f, k / n)
    assert high == pytest.approx(values[-1], rel=0.08)
    assert low == pytest.approx(values[0], rel=0.08)


def test_a_weak_even_direction_is_proposed_before_the_noise_of_a_heavy_feature():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((2500, 300))
    a, b = X[:, 0] + 0.6 * rng.standard_normal(2500), X[:, 1]
    labels = read_labels(np.sign(X[:, 0] ** 2 - b**2), np.ones(2500))
    rows = WhiteRows(X, whiten(X, np.ones(2500), "shrunk"), np.ones(2500))
    known = np.linalg.qr(rows.collect(X[:, :1]))[0]
    _, U = proposals(rows, labels, known, a[:, None], 1)[0]
    assert np.corrcoef(rows.project(U)[:, 0], b)[0, 1] ** 2 > 0.3
