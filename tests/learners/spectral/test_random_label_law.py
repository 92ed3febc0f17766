"""The discrete law of a random label against sums over plain grids of z."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit, ndtr
from scipy.stats import norm, poisson

from learnability import Spectral
from learnability.labels.channel import Channel
from learnability.learners.spectral import learner
from learnability.learners.spectral._label_law import label_law

Z = np.linspace(-9, 9, 6001)[:-1] + 0.0015  # The break at 0.3 is in the middle of two points.
WEIGHT = norm.pdf(Z) * (Z[1] - Z[0])
LABELS = np.linspace(-40, 40, 2001)


def normal(y, z):  # type: ignore[no-untyped-def]
    return norm.pdf(y, np.abs(z), 0.5 + z**2 / 8) * (LABELS[1] - LABELS[0])


@pytest.mark.parametrize(
    ("text", "labels", "chance"),
    [
        ("flip(sign(z - 0.3), 0.1)", [-1, 1], lambda y, z: np.where(y * (z - 0.3) > 0, 0.9, 0.1)),
        ("bernoulli(sigmoid(2*z - 1))", [0, 1], lambda y, z: expit((2 * y - 1) * (2 * z - 1))),
        ("poisson(exp(z/2))", np.arange(80), lambda y, z: poisson.pmf(y, np.exp(z / 2))),
        ("sign(abs(z) - 1 + 0.5*xi)", [-1, 1], lambda y, z: ndtr(2 * y * (np.abs(z) - 1))),
        ("abs(z) + (0.5 + z**2/8)*xi", LABELS, normal),
    ],
)
def test_a_random_label_has_the_moments_of_its_grid(text, labels, chance) -> None:
    joint = np.array([WEIGHT * chance(y, Z) for y in labels])
    mass = np.maximum(joint.sum(axis=1), 1e-250)
    mean, square = joint @ Z / mass, joint @ (Z**2 - 1) / mass
    law = label_law(Channel(text), True)
    assert law.weights.sum() == pytest.approx(1, abs=1e-12)
    for exact, found in (
        (mean**2, law.means[:, 0] ** 2), (square**2, law.G[:, 0, 0] ** 2),
        (mean * square, law.means[:, 0] * law.G[:, 0, 0]), (square, law.G[:, 0, 0]),
    ):  # fmt: skip
        assert float(law.weights @ found) == pytest.approx(float(mass @ exact), abs=2e-5)
    assert not label_law(Channel(text), False).means.any() or labels is LABELS


def test_a_random_label_of_two_directions_is_sampled() -> None:
    """z1 z2 + |z1| xi has no mean; its second moments are those of slices of a sample."""
    channel = Channel("z1*z2 + abs(z1)*xi")
    law = label_law(channel, False)
    assert law.weights.sum() == pytest.approx(1) and len(law.weights) == 2**12
    rng = np.random.default_rng(1)
    z = rng.standard_normal((400_000, 2))
    order = np.argsort(channel.sample(z, rng))
    products = (z[:, :, None] * z[:, None] - np.eye(2))[order].reshape(400, 1000, 2, 2)
    left, right = products[:, ::2].mean(axis=1), products[:, 1::2].mean(axis=1)
    pairs = np.einsum("nij,nkl->nijkl", left, right)
    naive, error = pairs.mean(axis=0), pairs.std(axis=0) / 20
    found = np.einsum("n,nij,nkl->ijkl", law.weights, law.G, law.G)
    assert np.abs(found - naive).max() < 4 * error.max() + 0.02


def test_noise_on_many_labels_is_a_gauss_rule() -> None:
    """30 values with noise: E[G^2] is that of the sum over values of a plain grid."""
    channel = Channel("floor(4*z)/4", 0.05)
    z = np.linspace(-8, 8, 3201)[:-1] + 0.0025
    weight = norm.pdf(z) * (z[1] - z[0])
    y = np.linspace(-10, 10, 1601)
    joint = norm.pdf(y[:, None], np.floor(4 * z) / 4, math.sqrt(0.05)) * weight
    mass = np.maximum(joint.sum(axis=1), 1e-200)
    exact = (mass @ (joint @ (z**2 - 1) / mass) ** 2) * (y[1] - y[0])
    law = label_law(channel, False)
    assert float(law.weights @ law.G[:, 0, 0] ** 2) == pytest.approx(exact, rel=1e-4)


def test_estimates_of_given_samples() -> None:
    """What `estimate` finds has orthonormal rows, and is what a run finds of the same samples."""
    from learnability import MultiIndex

    target = MultiIndex("sign(z1) + 3*sign(abs(z2) - 1)")
    X, y, W, _ = target.sample(3, d=60, alpha=30.0, dtype=np.float32)
    rows = Spectral().estimate(target, X, y, seed=3)
    np.testing.assert_allclose(rows @ rows.T, np.eye(2), atol=1e-6)
    assert abs(rows[0] @ W[0]) > 0.9 and abs(rows[1] @ W[1]) > 0.8
    runs = Spectral().simulate(target, d=60, alpha=30.0, seeds=[3])
    np.testing.assert_allclose(np.abs(runs.overlap[0]), np.abs(rows @ W.T), atol=2e-3)


def test_frames_are_completed_and_made_orthonormal() -> None:
    rng = np.random.default_rng(2)
    rows = np.linalg.qr(rng.standard_normal((20, 3)))[0].T
    kept = np.vstack([rows[:2], np.zeros((1, 20))])
    full = learner._completed(kept, 5)
    np.testing.assert_allclose(full @ full.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(full[:2] @ rows[:2].T, np.eye(2), atol=1e-12)
    M = rng.standard_normal((3, 20))
    polar = learner._polar(M)
    # M = S Q with S symmetric and positive.
    S = M @ polar.T
    np.testing.assert_allclose(S, S.T, atol=1e-10)
    np.testing.assert_allclose(S @ polar, M, atol=1e-10)
    assert np.linalg.eigvalsh(S).min() > 0
    flat = learner._polar(np.vstack([M[:2], M[0] + M[1]]))
    assert np.linalg.matrix_rank(flat, tol=1e-6) == 2
    assert learner._floor(1.0) == -300.0 and learner._floor(1e3) == -10.0
    assert learner._floor(10.0) == pytest.approx(-30.0)
