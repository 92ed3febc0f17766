"""Second moments of conditional expectations from samples: right, unbiased at zero, honest."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.labels._label_regression import CrossGram, jackknife_error, regress_on_label

SIZE = 2**14


def gram(label, features, weight=None, start: int = 0) -> CrossGram:  # type: ignore[no-untyped-def]
    """Regress features of a normal variable, and of an independent one, on a label."""

    def sample(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        z, w = np.random.default_rng([start, seed]).standard_normal((2, SIZE))
        scale = np.ones(SIZE) if weight is None else weight(z)
        return label(z, w), np.stack(features(z, w)), scale

    return regress_on_label(sample, bins=2048)


def error_of(found: CrossGram, i: int, j: int) -> float:
    return jackknife_error([(m[i, j], tag) for m, tag in found.leave_one_out()])


@pytest.mark.parametrize(
    ("label", "features", "exact"),
    [
        (lambda z, w: z, lambda z, w: [z, (z**2 - 1) / math.sqrt(2)], np.eye(2)),
        (lambda z, w: np.abs(z), lambda z, w: [z, (z**2 - 1) / math.sqrt(2)], np.diag([0, 1])),
        (lambda z, w: np.sign(z), lambda z, w: [z, np.abs(z)], np.full(2, 2 / math.pi)),
        (lambda z, w: z + w, lambda z, w: [z, w], np.full((2, 2), 0.5)),
        (lambda z, w: np.exp(3 * z), lambda z, w: [z], np.eye(1)),
        (lambda z, w: np.maximum(z, 0), lambda z, w: [z], np.array([[0.5 + 1 / math.pi]])),
        (lambda z, w: w, lambda z, w: [z, z**2 - 1], np.zeros((2, 2))),
    ],
    ids=["line", "modulus", "two labels", "noisy", "stretched", "atom and line", "nothing"],
)
def test_known_answers(label, features, exact: np.ndarray) -> None:  # type: ignore[no-untyped-def]
    found = gram(label, features)
    exact = np.diag(exact) if exact.ndim == 1 else exact
    matrix = found.matrix()
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    for i in range(len(exact)):
        for j in range(len(exact)):
            bias = 3e-4  # Of segments of finite width; it falls with the number of samples.
            assert abs(matrix[i, j] - exact[i, j]) < 5 * error_of(found, i, j) + bias


def test_nothing_is_not_reported_as_something() -> None:
    # Squaring one fit would give about (number of segments) / SIZE > 0.01, always positive.
    runs = [gram(lambda z, w: w, lambda z, w: [z], start=k) for k in range(1, 33)]
    values = np.array([float(run.matrix()[0, 0]) for run in runs])
    assert np.abs(values).max() < 2e-3
    assert abs(values.mean()) < 4 * values.std(ddof=1) / math.sqrt(len(values))


def test_a_jump_of_the_conditional_mean_is_found() -> None:
    # E[t | y] = 5 for |y - 0.31| < 0.02, else 0: of the width of one regular segment.
    def spike(z: np.ndarray, w: np.ndarray) -> list[np.ndarray]:
        return [np.where(np.abs(z - 0.31) < 0.02, 5.0, 0.0) + 0.1 * w]

    found = gram(lambda z, w: z, spike)
    mass = 0.04 * math.exp(-0.5 * 0.31**2) / math.sqrt(2 * math.pi)
    assert float(found.matrix()[0, 0]) == pytest.approx(25 * mass, rel=0.05)


def test_weights_change_the_law() -> None:
    # Samples twice as wide, weighted back: E[z^2] is again one.
    found = gram(
        lambda z, w: 2 * z,
        lambda z, w: [2 * z],
        weight=lambda z: np.exp(-0.5 * (4 - 1) * z**2),
    )
    assert float(found.matrix()[0, 0]) == pytest.approx(1.0, abs=5 * error_of(found, 0, 0) + 1e-3)


def test_the_error_covers_the_spread() -> None:
    runs = [gram(lambda z, w: z + w, lambda z, w: [z], start=k) for k in range(10, 22)]
    values = np.array([float(run.matrix()[0, 0]) for run in runs])
    errors = np.array([error_of(run, 0, 0) for run in runs])
    assert 0.4 < values.std(ddof=1) / np.sqrt(np.mean(errors**2)) < 2.5
    assert abs(values.mean() - 0.5) < 5 * values.std(ddof=1) / math.sqrt(len(values)) + 3e-4


def test_it_does_not_depend_on_the_scale_of_the_label() -> None:
    def features(z: np.ndarray, w: np.ndarray) -> list[np.ndarray]:
        return [z, z**2 - 1]

    base = gram(lambda z, w: z + 0.5 * w, features).matrix()
    for scale in (1e-6, 1e6):
        other = gram(lambda z, w, s=scale: s * (z + 0.5 * w), features).matrix()
        np.testing.assert_allclose(other, base, rtol=1e-6, atol=1e-8)


def test_leaving_one_out_tags_each_half() -> None:
    found = gram(lambda z, w: z, lambda z, w: [z])
    left_out = found.leave_one_out()
    assert [tag for _, tag in left_out] == [0.0] * 4 + [1.0] * 4
    assert jackknife_error([(1.0, 0.0), (3.0, 0.0), (2.0, 1.0), (2.0, 1.0)]) == pytest.approx(1.0)


def test_the_two_halves_count_alike() -> None:
    """K and E[t | y] stay when the halves change places, and are the mean of both."""
    found = gram(lambda z, w: z + w, lambda z, w: [z, w])
    other = CrossGram(found.halves[::-1], found.axis)
    np.testing.assert_allclose(other.matrix(), found.matrix(), rtol=1e-12)
    y = np.linspace(-2, 2, 7)
    np.testing.assert_allclose(other.predict(y), found.predict(y), rtol=1e-12)
    np.testing.assert_allclose(found.predict(y), np.stack([y, y]) / 2, atol=0.05)
    one, two = found.halves
    assert np.abs(one.cross() - two.cross()).max() > 1e-6
    np.testing.assert_allclose(2 * found.matrix(), one.cross() + two.cross(), rtol=1e-12)
