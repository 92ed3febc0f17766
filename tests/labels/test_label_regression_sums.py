"""The parts of the regression on the label, against naive loops over samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.labels._label_regression import (
    CrossGram,
    LabelAxis,
    _BinSums,
    _fit,
    _segments,
    jackknife_error,
    regress_on_label,
)


def drawn(seed: int, count: int = 600) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels with an atom, two features and weights."""
    rng = np.random.default_rng(seed)
    z, w = rng.standard_normal((2, count))
    return np.maximum(z, -0.5), np.stack([z, w + z**2]), rng.uniform(0.5, 2.0, count)


def test_bins_tell_the_rank_of_a_label() -> None:
    """On bins of even labels the rank is the distribution function, linear within a bin."""
    labels = np.arange(1, 8193) / 8192
    axis = LabelAxis.of(np.random.default_rng(0).permutation(labels), 16)
    assert axis.scale == 1.0
    y = np.array([0.1, 0.25, 0.5, 0.77, 0.99])
    index, rank, value = axis.coordinates(y)
    np.testing.assert_allclose(rank, y, atol=2e-4)
    np.testing.assert_array_equal(value, y)
    assert (axis.edges[index - 1] <= y).all() and (np.append(axis.edges, 2)[index] > y).all()
    # Tails are cut at 2^-k while more than 64 samples lie beyond.
    assert axis.edges[0] == pytest.approx(2.0**-6, abs=2e-4)
    assert axis.edges[-1] == pytest.approx(1 - 2.0**-6, abs=2e-4)
    assert axis.forced[0] == 0 and axis.forced[-1] == len(axis.edges) + 1
    assert len(axis.forced) == 8 + 1


def test_a_value_of_positive_probability_has_a_bin_of_its_own() -> None:
    y = np.concatenate([np.linspace(-3, -1, 3000), np.zeros(400), np.linspace(1, 2, 7000)])
    axis = LabelAxis.of(y, 64)
    (inside,), _, value = axis.coordinates(np.zeros(1))
    assert axis.low[inside] == 0.0 and axis.width[inside] <= 1e-300
    assert {int(inside), int(inside) + 1} <= set(axis.forced.tolist())
    assert value[0] == 0.0 and axis.scale == 3.0


def test_sums_of_bins_are_loops() -> None:
    y, t, weight = drawn(1)
    axis = LabelAxis.of(y, 12)
    sums = _BinSums.of(axis, y, t, weight)
    index, x, v = axis.coordinates(y)
    for k in range(len(axis.edges) + 1):
        own = index == k
        w = weight[own]
        parts = [np.ones(own.sum()), x[own], v[own]]
        pairs = [parts[i] * parts[j] for i in range(3) for j in range(i, 3)]
        order = [0, 1, 2, 3, 4, 5]
        np.testing.assert_allclose(sums.basis[:, k], [w @ pairs[i] for i in order])
        for a in range(2):
            np.testing.assert_allclose(sums.moments[a, :, k], [w @ (t[a, own] * p) for p in parts])
            assert sums.squares[a, k] == pytest.approx(w @ t[a, own] ** 2)
        assert sums.count[k] == own.sum()
    twice = _BinSums.total([sums, sums])
    np.testing.assert_allclose(twice.moments, 2 * sums.moments)
    cuts = np.array([0, 2, 5, len(axis.edges) + 1])
    merged = sums.merged(cuts)
    for a, b, j in zip(cuts[:-1], cuts[1:], range(3), strict=True):
        np.testing.assert_allclose(merged.basis[:, j], sums.basis[:, a:b].sum(axis=1))


def test_fits_are_least_squares_on_each_segment() -> None:
    """With one segment, the fit predicts what weighted least squares in 1, rank and label does."""
    data = [drawn(seed) for seed in range(3)]
    axis = LabelAxis.of(np.concatenate([y for y, _, _ in data]), 12)
    cuts = np.array([0, len(axis.edges) + 1])
    fits = _fit([_BinSums.of(axis, *part).merged(cuts) for part in data], cuts)
    at = np.array([-0.5, 0.0, 0.7, 1.5])
    expected = []
    _, rank, value = axis.coordinates(at)
    for y, t, weight in data:
        _, x, v = axis.coordinates(y)
        design = np.column_stack([np.ones_like(x), x, v])
        root = np.sqrt(weight)
        beta = np.linalg.lstsq(design * root[:, None], (t * root).T, rcond=None)[0]
        expected.append(np.column_stack([np.ones_like(at), rank, value]) @ beta)
    np.testing.assert_allclose(fits.predict(axis, at), np.mean(expected, axis=0).T, rtol=1e-8)
    np.testing.assert_allclose(fits.mass, 1.0)


@pytest.mark.parametrize("without", [None, 0, 2])
def test_products_of_different_replicates_alone(without: int | None) -> None:
    data = [drawn(seed) for seed in range(4)]
    axis = LabelAxis.of(np.concatenate([y for y, _, _ in data]), 12)
    cuts = np.array([0, 3, 7, len(axis.edges) + 1])
    fits = _fit([_BinSums.of(axis, *part).merged(cuts) for part in data], cuts)
    kept = [k for k in range(4) if k != without]
    mass = fits.mass[kept].mean(axis=0)
    total = np.zeros((2, 2))
    for i in kept:
        for j in kept:
            if i != j:
                for s, share in enumerate(mass):
                    total += share * fits.coefficients[i][:, s] @ fits.coefficients[j][:, s].T
    pairs = len(kept) * (len(kept) - 1)
    np.testing.assert_allclose(fits.cross(without), total / pairs, rtol=1e-10)


def test_estimates_without_one_replicate_keep_the_other_half() -> None:
    found = regress_on_label(drawn, bins=64)
    one, two = found.halves
    left_out = found.leave_one_out()
    for k in range(4):
        np.testing.assert_allclose(left_out[k][0], 0.5 * (one.cross(without=k) + two.cross()))
        np.testing.assert_allclose(left_out[4 + k][0], 0.5 * (two.cross(without=k) + one.cross()))
    values = [float(m[0, 1]) for m, _ in left_out]
    naive = sum(
        3 / 4 * sum((v - np.mean(half)) ** 2 for v in half) for half in (values[:4], values[4:])
    )
    tagged = [(v, tag) for v, (_, tag) in zip(values, left_out, strict=True)]
    assert jackknife_error(tagged) == pytest.approx(math.sqrt(naive))
    assert isinstance(found, CrossGram)


def staircase(jump: float, count: int = 40_000) -> tuple[_BinSums, LabelAxis]:
    """A feature that is 2 y + 1 below a label of .3 and shifted above, plus noise."""
    rng = np.random.default_rng(3)
    y = rng.permutation(np.linspace(-1, 1, count))
    t = 2 * y + 1 + jump * (y > 0.3) + 0.1 * rng.standard_normal(count)
    axis = LabelAxis.of(y, 200)
    return _BinSums.of(axis, y, t[None], np.ones(count)), axis


@pytest.mark.parametrize("jump", [0.0, 0.2])
def test_segments_are_cut_at_jumps_alone(jump: float) -> None:
    """What is linear in the rank is no reason for a cut; a jump is cut at its bin."""
    sums, axis = staircase(jump)
    ends = np.array([0, len(axis.edges) + 1])
    cuts = _segments(sums, ends, 16)
    assert cuts[0] == 0 and cuts[-1] == ends[-1]
    if jump:
        at = np.concatenate([[-1.0], axis.edges])[cuts[1:-1]]
        assert np.abs(at - 0.3).min() < 0.02 and len(cuts) <= 4
    else:
        assert len(cuts) == 2
    assert len(_segments(sums, ends, 10**6)) == 2  # No half has so many samples.
    kept = _segments(sums, np.array([0, 5, 9, ends[-1]]), 16)
    assert {5, 9} <= set(kept.tolist())
