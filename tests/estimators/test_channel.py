import numpy as np

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
