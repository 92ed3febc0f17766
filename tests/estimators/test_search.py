import numpy as np

from learnability.estimators._blind_amp import WhiteRows
from learnability.estimators._labels import read_labels
from learnability.estimators._search import into_white, moment_starts, search
from learnability.estimators._whitening import whiten

from tests.estimators.problems import planted


def prepared(link, r, n, d, seed):
    X, y, W = planted(link, r, n, d, seed)
    ones = np.ones(n)
    whitening = whiten(X, ones, "shrunk")
    return X, WhiteRows(X, whitening, ones), read_labels(y, ones), into_white(whitening, W.T)


def test_directions_go_to_white_space_and_back():
    _, rows, _, truth = prepared(lambda z: z[0], 1, 200, 5, 0)
    back = rows.whitening.pull_back(truth)
    np.testing.assert_allclose(np.abs(into_white(rows.whitening, back).T @ truth), 1, atol=1e-10)


def test_starts_see_even_links_above_and_below_three_rows_a_coordinate():
    for n in (60, 300):
        X, rows, labels, truth = prepared(lambda z: np.abs(z[0]), 1, n, 30, 1)
        starts = moment_starts(X, labels, rows.whitening, 1, np.random.default_rng(0))
        assert max(((U.T @ truth) ** 2).item() for U in starts) > 0.3


def test_a_bad_start_is_left_and_on_noise_it_is_returned():
    _, rows, labels, truth = prepared(lambda z: z[0] + 0.3 * z[0] ** 2, 1, 400, 10, 2)
    rng = np.random.default_rng(0)
    bad = np.linalg.qr(rng.standard_normal((10, 1)))[0]
    settings = {"steps": 30, "damping": 0.8, "staircase": True, "restarts": 4}
    found, landings, _ = search(rows, labels, 1, rng, starts=[bad], **settings)
    assert ((found.U.T @ truth) ** 2).item() > 0.95
    assert landings[0] == (1, found.information)
    noise, _, _ = search(rows, labels.permuted(rng), 1, rng, starts=[bad], **settings)
    assert noise.status == "start"
    np.testing.assert_allclose(np.abs(noise.U.T @ bad), 1)
