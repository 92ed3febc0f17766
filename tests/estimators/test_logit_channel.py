import numpy as np

from learnability.estimators._labels import read_labels
from learnability.estimators._logit_channel import LogitChannel, bins_of, polynomials, slopes


def test_the_polynomials_are_orthonormal_and_their_slopes_are_derivatives():
    w = np.random.default_rng(0).standard_normal((200_000, 2))
    values, degrees = polynomials(w, 3)
    np.testing.assert_allclose(values @ values.T / len(w), np.eye(10), atol=0.05)
    assert sorted(degrees) == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    w, h = w[:5], 1e-6
    tilt = np.arange(10.0)
    numeric = [
        (tilt @ polynomials(w + h * e, 3)[0] - tilt @ polynomials(w - h * e, 3)[0]) / (2 * h)
        for e in np.eye(2)
    ]
    np.testing.assert_allclose(slopes(polynomials(w, 3)[0], tilt, 2, 3).T, numeric, rtol=1e-6)


def test_newton_reaches_the_law_that_made_the_labels():
    rng = np.random.default_rng(1)
    w = rng.standard_normal((20_000, 1))
    p = 1 / (1 + np.exp(-1.5 * w[:, 0]))
    labels = read_labels((rng.random(20_000) < p).astype(int), np.ones(20_000))
    bins = bins_of(labels, 0, 0)
    channel = LogitChannel(2, 0.1).fit(w, bins, 10)
    assert np.abs(channel.law(w, bins)[:, 1] - p).max() < 0.03
    score, ratio = channel.score(w, bins)
    right = 1.5 * (labels.codes - p)
    assert np.abs(score[:, 0] - right).mean() < 0.05
    # The mean of the log-ratio is the mutual information.
    exact = np.mean(p * np.log(p / p.mean()) + (1 - p) * np.log((1 - p) / (1 - p.mean())))
    assert abs(ratio.mean() - exact) < 0.01


def test_the_score_is_the_gradient_of_the_log_ratio():
    rng = np.random.default_rng(2)
    w = rng.standard_normal((500, 2))
    labels = read_labels(w[:, 0] * w[:, 1] + 0.3 * rng.standard_normal(500), np.ones(500))
    bins = bins_of(labels, 8, 4)
    channel = LogitChannel(3, 1.0).fit(w, bins, 5)
    score, _ = channel.score(w, bins)
    h = 1e-5
    for a, e in enumerate(np.eye(2)):
        numeric = (channel.score(w + h * e, bins)[1] - channel.score(w - h * e, bins)[1]) / (2 * h)
        np.testing.assert_allclose(score[:, a], numeric, atol=1e-5)
