"""Order parameters of the first weights, in every family."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kstest

from learnability import LearnabilityError
from learnability.inputs import Frame, Isotropic, Spiked
from learnability.inputs.base import orthonormal_rows
from learnability.learners.measurement import overlaps_in_frame
from learnability.learners.networks.starts import (
    OrderParameters,
    Start,
    random_start,
    root_of,
    start_of,
    typical_correlation,
    weights_at,
)

from tests.structured_values import FINITE_SLOPES, STARTS

Q = ((1.0, 0.2), (0.2, 2.0))
M = ((0.3, 0.1, 0.0), (-0.5, 0.4, 0.2))


def isotropic(r: int) -> Frame:
    return Isotropic().frame(r, 100)


def hidden(d: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(0).standard_normal((d, 3)))[0].T


@pytest.mark.parametrize("d", [5, 40])
def test_weights_have_the_order_parameters_at_every_dimension(d: int) -> None:
    W = hidden(d)
    weights = weights_at(np.random.default_rng(1), W, start_of((Q, M), 2, isotropic(3)))
    np.testing.assert_allclose(weights @ weights.T, Q, atol=1e-12)
    np.testing.assert_allclose(weights @ W.T, M, atol=1e-12)


@pytest.mark.parametrize("alignment", [((0.6, 0.3), (-0.2, 0.5)), ((1.0, 0.0), (0.0, 0.4))])
def test_weights_on_spiked_inputs_have_theirs(alignment: tuple[tuple[float, ...], ...]) -> None:
    """Two spikes and two hidden directions, one of them a spike in the second case."""
    inputs = Spiked((3.0, 8.0), alignment)
    directions, frame = inputs.directions(4, 2, 30), inputs.frame(2, 30)
    free = np.random.default_rng(2).standard_normal((3, 30)) / 6
    overlaps = free @ directions.hidden.T, free @ directions.marked[:2].T
    start = start_of((free @ free.T, *overlaps), 3, frame)
    weights = weights_at(np.random.default_rng(1), directions.marked, start)
    np.testing.assert_allclose(weights @ weights.T, free @ free.T, atol=1e-12)
    np.testing.assert_allclose(weights @ directions.hidden.T, overlaps[0], atol=1e-12)
    np.testing.assert_allclose(weights @ directions.marked[:2].T, overlaps[1], atol=1e-12)


def test_overlaps_with_spikes_may_be_left_out() -> None:
    """The weights then have no part along the spikes beside that along the hidden directions."""
    frame = Spiked((3.0, 8.0), ((0.6, 0.3), (-0.2, 0.5))).frame(2, 30)
    Q, M = np.eye(2), np.array([[0.3, 0.1], [-0.2, 0.4]])
    start = start_of((Q, M), 2, frame)
    np.testing.assert_allclose(start.overlap @ frame.hidden.T, M, atol=1e-12)
    np.testing.assert_allclose(start.overlap[:, :2], M @ frame.hidden[:, :2])
    np.testing.assert_allclose(start.rest, Q - M @ M.T, atol=1e-12)


@pytest.mark.parametrize("a", [0.6, -0.3, 1.0])
def test_there_and_back(a: float) -> None:
    frame = Spiked(4.0, a).frame(1, 100)
    m, s, q = 0.3 * (a if abs(a) == 1 else 1), 0.3, 1.2
    start = start_of((q, m, s), 1, frame)
    found = overlaps_in_frame(start.overlap, np.array([q]), frame)
    np.testing.assert_allclose([found["overlap"].item(), found["spike_overlap"].item()], [m, s])
    weights = np.array([*start.overlap[0], math.sqrt(start.rest.item())])
    beta = np.array([a, math.sqrt(1 - a * a), 0])
    covariance = np.diag([5.0, 1, 1])
    rho = weights @ covariance @ beta
    rho /= math.sqrt((weights @ covariance @ weights) * (beta @ covariance @ beta))
    assert found["correlation"].item() == pytest.approx(rho)


def test_hidden_weights_are_a_start_too() -> None:
    W = hidden(9)
    start = start_of((np.eye(3), np.eye(3)), 3, isotropic(3))
    np.testing.assert_allclose(weights_at(np.random.default_rng(1), W, start), W, atol=1e-7)


def test_weights_of_few_dimensions_share_their_directions() -> None:
    """p = 3 neurons with only d - r = 1 dimension beside the hidden directions."""
    v = np.array([0.3, -0.2, 0.5])
    W = hidden(4)
    weights = weights_at(np.random.default_rng(1), W, Start(np.outer(v, v), np.eye(3)))
    np.testing.assert_allclose(weights @ weights.T, np.eye(3) + np.outer(v, v), atol=1e-12)


@pytest.mark.parametrize("spherical", [False, True])
@pytest.mark.parametrize("inputs", [Isotropic(), Spiked((2.0, 5.0), ((0.6, 0.1), (-0.3, 0.4)))])
def test_random_starts_have_the_law_of_random_weights(
    spherical: bool, inputs: Spiked | Isotropic
) -> None:
    """Coordinates along all marked axes and what is outside, in few dimensions."""
    p, r, d, count = 2, 2, 5, 3000
    rng = np.random.default_rng(1)
    frame, drawn, direct = inputs.frame(r, d), [], []
    for seed in range(count):
        start = random_start(seed, p, frame, d, spherical)
        drawn.append([*start.overlap.ravel(), start.rest[0, 1], np.trace(start.rest)])
        axes = orthonormal_rows(rng, len(frame.scale), d)
        weights = rng.standard_normal((p, d)) / math.sqrt(d)
        if spherical:
            weights /= np.linalg.norm(weights, axis=1, keepdims=True)
        C = weights @ axes.T
        rest = weights @ weights.T - C @ C.T
        direct.append([*C.ravel(), rest[0, 1], np.trace(rest)])
    for ours, theirs in zip(np.transpose(drawn), np.transpose(direct), strict=True):
        assert kstest(ours, theirs).pvalue > 1e-3 / 6
    ours, theirs = (np.einsum("si,sj->sij", rows, rows) for rows in (drawn, direct))
    spread = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / count)
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 4.5 * spread).all()


@pytest.mark.parametrize("p", [1, 3])
def test_random_starts_meet_the_hidden_directions_whatever_the_spikes(p: int) -> None:
    plain = random_start(4, p, isotropic(1), 20, True)
    frame = Spiked((2.0, 5.0), (0.6, -0.3)).frame(1, 20)
    spiked = random_start(4, p, frame, 20, True)
    np.testing.assert_allclose(spiked.overlap @ frame.hidden.T, plain.overlap, atol=1e-14)
    grams = [start.rest + start.overlap @ start.overlap.T for start in (plain, spiked)]
    np.testing.assert_allclose(*grams, atol=1e-14)


def test_random_weights_are_uniform_on_the_sphere() -> None:
    frame = Spiked(3.0, 0.5).frame(1, 10)
    starts = [random_start(seed, 1, frame, 10, True) for seed in range(4000)]
    draws = np.array([[*start.overlap[0], math.sqrt(start.rest.item())] for start in starts])
    np.testing.assert_allclose(np.sum(draws**2, axis=1), 1)
    assert draws[:, 0].var() == pytest.approx(0.1, rel=0.12)
    assert abs(draws[:, :2].mean()) < 0.02 and (draws[:, 2] > 0).all()


def test_the_root_is_symmetric_and_forgives_rounding() -> None:
    C = np.array([[2.0, 1.0], [1.0, 0.5 - 1e-17]])
    np.testing.assert_allclose(root_of(C) @ root_of(C), C, atol=1e-12)
    np.testing.assert_allclose(root_of(C), root_of(C).T)


def test_lists_and_numbers_stand_for_thin_matrices() -> None:
    column = start_of((np.eye(2), [0.3, 0.1]), 2, isotropic(1))
    np.testing.assert_array_equal(column.overlap, [[0.3], [0.1]])
    row = start_of((1.0, [0.3, 0.1]), 1, isotropic(2))
    np.testing.assert_array_equal(row.overlap, [[0.3, 0.1]])


def test_a_pair_of_matrices_as_a_field() -> None:
    kind = OrderParameters()
    assert kind.read((np.array(Q), [list(row) for row in M])) == (Q, M)
    assert kind.read(kind.parse("1,0.5")) == (((1.0,),), ((0.5,),))
    assert kind.read(kind.parse("1,0.2;0.2,2 / 0.3,0.1,0;-0.5,0.4,0.2")) == (Q, M)


@pytest.mark.parametrize(
    "start", ["random", 0.3, (Q,), (Q, "x"), (Q, ((np.nan, 0.0),)), [[[[1]]], M]]
)
def test_what_is_no_pair_of_matrices_is_refused(start: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        OrderParameters().read(start)
    with pytest.raises(
        LearnabilityError, match=r"`start` was given as .*finite matrices \(Q = W W"
    ):
        start_of(start, 2, isotropic(3))


def test_impossible_starts_end_in_a_sentence() -> None:
    with pytest.raises(
        LearnabilityError, match=r"\(2, 2\) and \(2, 2\) are accepted for 2 neurons"
    ):
        start_of((Q, M), 2, isotropic(2))
    with pytest.raises(LearnabilityError, match="positive semi-definite"):
        start_of((((1.0,),), ((1.1,),)), 1, isotropic(1))
    with pytest.raises(LearnabilityError, match="symmetric"):
        start_of((((1.0, 0.5), (0.0, 1.0)), ((0.0,), (0.0,))), 2, isotropic(1))
    with pytest.raises(LearnabilityError, match="weights on the sphere have length 1"):
        start_of((0.5, 0.1), 1, isotropic(1), spherical=True)
    with pytest.raises(LearnabilityError, match="have a direction in common"):
        start_of((1.0, 0.5, 0.2), 1, Spiked(4.0, 1.0).frame(1, 100))
    with pytest.raises(LearnabilityError, match="have a direction in common"):
        start_of((1.0, [0.3, 0.4], 0.1), 1, Spiked(4.0, ((0.6, 0.8),)).frame(2, 100))
    for start in ((1.0,), "abc", (1.0, 2.0, 0.0), (1.0, 0.1, 0.1, 0.1)):
        with pytest.raises(LearnabilityError, match="`start` was given"):
            start_of(start, 1, Spiked(4.0, 0.5).frame(1, 100))


# ---- the typical correlation


@pytest.mark.parametrize("row", STARTS)
def test_random_starts_have_the_exponent_of_the_theory(row: tuple[float, ...]) -> None:
    """Medians within the sampling error (3 %) of the reference, exponents within 0.03."""
    gamma_1, gamma_2, *medians, x = row
    inputs = Spiked(exponent=gamma_2, alignment_exponent=gamma_1)
    found = [typical_correlation(inputs.frame(1, d), d) for d in (10**4, 10**6, 10**8)]
    np.testing.assert_allclose(found, medians, rtol=0.03)
    assert -2 * math.log(found[2] / found[0]) / math.log(10**4) == pytest.approx(x, abs=0.03)


@pytest.mark.parametrize(("gamma_1", "gamma_2", "slope"), FINITE_SLOPES)
def test_slopes_at_finite_dimension(gamma_1: float, gamma_2: float, slope: float) -> None:
    inputs = Spiked(exponent=gamma_2, alignment_exponent=gamma_1)
    d = np.array([128, 256, 512, 1024])
    starts = [typical_correlation(inputs.frame(1, int(k)), int(k)) for k in d]
    found = np.polyfit(np.log(d), np.log(d / np.square(starts)), 1)[0]
    assert found == pytest.approx(slope, abs=0.005)


@pytest.mark.parametrize(
    "inputs",
    [Spiked(30.0, 0.4), Spiked((30.0, 9.0), (0.5, 0.2)), Spiked((30.0, 9.0)), Isotropic()],
)
def test_the_typical_start_is_a_median(inputs: Spiked | Isotropic) -> None:
    """Against 40000 random weights, at spikes that are neither weak nor, but one, aligned."""
    d, frame = 500, inputs.frame(1, 500)
    rng, k = np.random.default_rng(3), len(frame.scale)
    axes = rng.standard_normal((40_000, 1, k))
    length = np.sum(axes**2, axis=2) + rng.chisquare(d - k, (40_000, 1))
    rho = np.abs(overlaps_in_frame(axes, length, frame)["correlation"])
    assert np.mean(rho < typical_correlation(frame, d)) == pytest.approx(0.5, abs=0.01)
