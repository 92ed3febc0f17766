import numpy as np

from learnability.estimators import _channel as channel_module
from learnability.estimators._channel import CrossFittedChannel, standardised
from learnability.estimators._labels import read_labels


def test_fields_are_white_and_bounded():
    omega = np.random.default_rng(0).standard_normal((5000, 2)) @ [[2.0, 0.3], [0.0, 0.1]]
    w, root = standardised(omega, np.ones(5000))
    np.testing.assert_allclose(w.T @ w / 5000, np.eye(2), atol=0.01)
    np.testing.assert_allclose(w, np.clip(omega @ root, -4, 4))


def test_information_is_that_of_the_law_and_nothing_on_noise():
    rng = np.random.default_rng(1)
    w = rng.standard_normal((4000, 1))
    y = w[:, 0] + 0.5 * rng.standard_normal(4000)
    truth = 0.5 * np.log(1 + 1 / 0.25)
    for labels, low, high in (
        (read_labels(y, np.ones(4000)), truth - 0.06, truth + 0.06),
        (read_labels(rng.permutation(y), np.ones(4000)), -0.02, 0.005),
    ):
        channel = CrossFittedChannel(labels, 1, np.random.default_rng(2))
        score, ratio = channel.step(w, choose=True)
        assert low < ratio.mean() < high
        assert score.shape == (4000, 1)


def test_no_row_sees_its_own_label_nor_those_of_its_half():
    rng = np.random.default_rng(3)
    w = rng.standard_normal((300, 1))
    y = np.abs(w[:, 0]) + 0.2 * rng.standard_normal(300)
    half = np.random.default_rng(4).permutation(300)[:150]
    swapped = y.copy()
    swapped[half[:2]] = y[half[1::-1]]

    def step(y):
        labels = read_labels(y, np.ones(300))
        return CrossFittedChannel(labels, 1, np.random.default_rng(4)).step(w, choose=True)[1]

    changed = step(swapped) != step(y)
    assert changed[half[:2]].all()
    assert not changed[half[2:]].any()
    assert changed[np.setdiff1d(np.arange(300), half)].all()


def test_the_better_channel_is_chosen():
    w = np.random.default_rng(5).standard_normal((2000, 1))
    channel = CrossFittedChannel(
        read_labels(np.sin(2 * w[:, 0]), np.ones(2000)), 1, np.random.default_rng(0)
    )
    channel.step(w, choose=True)
    assert channel.chosen is not None and channel.chosen[0] == "location"


def test_with_many_rows_a_channel_sees_all_but_a_fold_and_noise_still_says_nothing():
    rng = np.random.default_rng(6)
    w = rng.standard_normal((3000, 2))
    p = 1 / (1 + np.exp(-w[:, 0] * w[:, 1]))
    gains = []
    for many in (60, 10**9):
        channel_module._MANY, kept = many, channel_module._MANY
        try:
            found = []
            for seed in range(5):
                draw = np.random.default_rng(seed)
                labels = read_labels(draw.random(3000) < p, np.ones(3000))
                channel = CrossFittedChannel(labels, 2, draw)
                found.append(channel.step(w, choose=True)[1].mean())
            gains.append(np.mean(found))
        finally:
            channel_module._MANY = kept
    assert gains[0] > gains[1]  # Twice the rows for each channel.
    noise = read_labels(rng.random(3000) < 0.5, np.ones(3000))
    ratio = CrossFittedChannel(noise, 2, rng).step(w, choose=True)[1]
    assert ratio.mean() < 3 * ratio.std() / np.sqrt(3000)


def test_the_strength_of_a_score_is_the_fisher_information_without_what_noise_teaches():
    rng = np.random.default_rng(5)
    w = rng.standard_normal((3000, 1))
    y = w[:, 0] + 0.5 * rng.standard_normal(3000)
    learned, signal = CrossFittedChannel(
        read_labels(y, np.ones(3000)), 1, np.random.default_rng(6)
    ).strength(w)
    assert 3.4 < signal[0] <= learned[0] * 1.05 < 4.8  # 1 / 0.5^2
    noise = []
    for seed in range(6):
        labels = read_labels(np.random.default_rng(seed).permutation(y[:150]), np.ones(150))
        channel = CrossFittedChannel(labels, 1, np.random.default_rng(seed))
        noise.append([one[0] for one in channel.strength(w[:150])])
    learned, signal = np.mean(noise, axis=0)
    assert abs(signal) < learned / 2
