import numpy as np

from learnability.estimators._location_channel import LocationChannel
from learnability.estimators._products import products


def test_the_score_is_the_gradient_of_the_log_ratio():
    rng = np.random.default_rng(0)
    w = rng.standard_normal((800, 2))
    u = np.tanh(w[:, 0]) + 0.5 * w[:, 1] ** 2 - 0.5 + 0.3 * rng.standard_normal(800)
    at = products(w, 4)
    channel = LocationChannel().fit(at, u, np.ones(800))
    score, _ = channel.score(at, u)
    h = 1e-5
    mean, log_variance = channel.law(at)
    inside = np.abs(u - mean) < 2.9 * np.exp(log_variance / 2)
    for a, e in enumerate(np.eye(2)):
        up, down = (channel.score(products(w + s * e, 4), u)[1] for s in (h, -h))
        numeric = (up - down) / (2 * h)
        np.testing.assert_allclose(score[inside, a], numeric[inside], atol=1e-4)


def test_it_finds_the_curve_and_its_spread():
    rng = np.random.default_rng(1)
    w = rng.standard_normal((4000, 1))
    u = np.sin(2 * w[:, 0]) + 0.2 * rng.standard_normal(4000)
    at = products(w, 4)
    mean, log_variance = LocationChannel(width=0.6).fit(at, u, np.ones(4000)).law(at)
    near = np.abs(w[:, 0]) < 2
    assert np.abs(mean - np.sin(2 * w[:, 0]))[near].mean() < 0.03
    assert abs(np.exp(log_variance[near] / 2).mean() - 0.2) < 0.03


def test_weights_count_rows():
    rng = np.random.default_rng(2)
    w = rng.standard_normal((300, 1))
    u = np.sin(w[:, 0]) + 0.3 * rng.standard_normal(300)
    few = LocationChannel(bumps=0)
    counts = rng.integers(1, 4, 300)
    again = np.repeat(np.arange(300), counts)
    at, repeated = products(w, 4), products(w[again], 4)
    one = few.fit(at, u, counts.astype(float)).law(at)[0]
    # The curve is the same; the ridge is not, since a copy of a row is no new row to leave out.
    other = LocationChannel(bumps=0).fit(repeated, u[again], np.ones(len(again))).law(at)[0]
    np.testing.assert_allclose(one, other, atol=0.01)
