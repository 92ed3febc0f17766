import numpy as np

from learnability.estimators._labels import read_labels
from learnability.estimators._logit_channel import LogitChannel, bins_of
from learnability.estimators._products import products


def test_newton_reaches_the_law_that_made_the_labels():
    rng = np.random.default_rng(1)
    w = rng.standard_normal((20_000, 1))
    p = 1 / (1 + np.exp(-1.5 * w[:, 0]))
    labels = read_labels((rng.random(20_000) < p).astype(int), np.ones(20_000))
    bins = bins_of(labels, 0, 0)
    at = products(w, 2)
    channel = LogitChannel(2, 0.1).fit(at, bins, 10)
    assert np.abs(channel.law(at, bins)[:, 1] - p).max() < 0.03
    score, ratio = channel.score(at, bins)
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
    at = products(w, 3)
    channel = LogitChannel(3, 1.0).fit(at, bins, 5)
    score, _ = channel.score(at, bins)
    h = 1e-5
    for a, e in enumerate(np.eye(2)):
        up, down = (channel.score(products(w + s * e, 3), bins)[1] for s in (h, -h))
        np.testing.assert_allclose(score[:, a], (up - down) / (2 * h), atol=1e-5)


def test_a_row_of_weight_two_is_two_rows():
    rng = np.random.default_rng(3)
    w, counts = rng.standard_normal((200, 2)), rng.integers(1, 4, 200)
    y = np.where(w[:, 0] * w[:, 1] > 0, "a", "b")
    again = np.repeat(np.arange(200), counts)
    one = bins_of(read_labels(y, counts.astype(float)), 0, 0)
    other = bins_of(read_labels(y[again], np.ones(len(again))), 0, 0)
    at = products(w, 2)
    first = LogitChannel(2, 1.0).fit(at, one, 20).law(at, one)
    repeated = at.take(again)
    second = LogitChannel(2, 1.0).fit(repeated, other, 20).law(repeated, other)
    np.testing.assert_allclose(first[again], second, atol=1e-3)


def test_one_newton_step_leaves_a_part_of_the_rows_out():
    rng = np.random.default_rng(4)
    w = rng.standard_normal((1500, 2))
    labels = read_labels(w[:, 0] * w[:, 1] + rng.standard_normal(1500) > 0, np.ones(1500))
    bins = bins_of(labels, 0, 0)
    at = products(w, 2)
    whole = LogitChannel(2, 2.0).fit(at, bins, 20)
    parts = [slice(0, 500), slice(500, 1000), slice(1000, 1500)]
    for part, other in zip(parts, whole.left_out(at, bins, parts), strict=True):
        rest = np.setdiff1d(np.arange(1500), np.arange(1500)[part])
        exact = LogitChannel(2, 2.0).fit(at.take(rest), bins.take(rest), 20).law(at, bins)
        before = np.abs(whole.law(at, bins) - exact).max()
        assert np.abs(other.law(at, bins) - exact).max() < 0.25 * before
