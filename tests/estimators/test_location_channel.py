import numpy as np

from learnability.estimators._location_channel import LocationChannel


def test_the_score_is_the_gradient_of_the_log_ratio():
    rng = np.random.default_rng(0)
    w = rng.standard_normal((800, 2))
    u = np.tanh(w[:, 0]) + 0.5 * w[:, 1] ** 2 - 0.5 + 0.3 * rng.standard_normal(800)
    channel = LocationChannel().fit(w, u)
    score, _ = channel.score(w, u)
    h = 1e-5
    mean, log_variance = channel.law(w)
    inside = np.abs(u - mean) < 2.9 * np.exp(log_variance / 2)
    for a, e in enumerate(np.eye(2)):
        numeric = (channel.score(w + h * e, u)[1] - channel.score(w - h * e, u)[1]) / (2 * h)
        np.testing.assert_allclose(score[inside, a], numeric[inside], atol=1e-4)


def test_it_finds_the_curve_and_its_spread():
    rng = np.random.default_rng(1)
    w = rng.standard_normal((4000, 1))
    u = np.sin(2 * w[:, 0]) + 0.2 * rng.standard_normal(4000)
    mean, log_variance = LocationChannel(width=0.6).fit(w, u).law(w)
    near = np.abs(w[:, 0]) < 2
    assert np.abs(mean - np.sin(2 * w[:, 0]))[near].mean() < 0.03
    assert abs(np.exp(log_variance[near] / 2).mean() - 0.2) < 0.03
