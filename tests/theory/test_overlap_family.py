"""Families of fixed points of overlap matrices, on information with known curves."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar

from learnability import Channel
from learnability.theory._overlap_branch import Member
from learnability.theory._overlap_family import OverlapFamily, one_curve
from learnability.theory.state_evolution import StateEvolution, state_evolution

EYE = np.eye(2)


def ratio(q):
    """A curve alpha(q) with a jump: up to q = 0.42, down to 0.79, and up again."""
    return 0.5 + 2.6 * q - 5.2 * q**2 + 2.86 * q**3 + 0.02 / (1 - q)


def family(scales, turn=EYE, curve=ratio, alpha_c=0.52, full=math.inf):
    """Directions that do not hear of each other: I = q / ((1 - q) alpha(q)) in each."""

    def information(M):
        q = np.clip(np.diag(turn.T @ M @ turn), 1e-9, 1 - 1e-9)
        return turn @ np.diag(q / ((1 - q) * curve(q) * scales)) @ turn.T

    return OverlapFamily(
        lambda M: information,
        len(scales),
        lambda M: 1e-10,
        alpha_c,
        full,
        0.0,
        lambda M: math.nan,
        32,
    )


def maxwell():
    """Where the integral of alpha / alpha(q) - 1 over q / (1 - q) dq vanishes between both ends."""
    top = minimize_scalar(lambda q: -ratio(q), bounds=(0.2, 0.5), method="bounded").x
    dip = minimize_scalar(ratio, bounds=(0.6, 0.9), method="bounded").x

    def gain(alpha):
        low = brentq(lambda q: ratio(q) - alpha, 0.0, top)
        high = brentq(lambda q: ratio(q) - alpha, dip, 0.999)
        return quad(lambda q: (alpha / ratio(q) - 1) * q / (1 - q), low, high)[0]

    return ratio(top), brentq(gain, ratio(dip) + 1e-6, ratio(top) - 1e-6)


def test_the_jump_and_equal_free_entropies_of_two_alike_directions():
    jump, equal = maxwell()
    found = family(np.ones(2))
    assert found.spinodal == pytest.approx(jump, abs=1e-5)
    assert found.information_threshold == pytest.approx(equal, abs=1e-3)
    gap = abs(found.coarser().information_threshold - found.information_threshold)
    assert abs(found.information_threshold - equal) <= gap + 1e-5


def test_a_rotated_frame_changes_nothing():
    c, s = math.cos(0.7), math.sin(0.7)
    turn = np.array([[c, -s], [s, c]])
    straight, turned = family(np.ones(2)), family(np.ones(2), turn)
    assert turned.spinodal == pytest.approx(straight.spinodal, abs=1e-6)
    assert turned.information_threshold == pytest.approx(straight.information_threshold, abs=1e-5)


def test_without_a_bend_there_is_no_jump():
    found = family(np.array([1.0, 2.0]), curve=lambda q: 0.5 + q / (1 - q), alpha_c=0.5)
    assert math.isnan(found.spinodal)
    assert math.isnan(found.information_threshold)
    M = found.lower.overlap(0.75, last=False)
    assert M[0, 0] == pytest.approx(0.2, abs=2e-3)
    assert abs(M[1, 1]) < 1e-4


def test_the_hard_parity_by_its_family():
    """An independent scalar computation: a branch from 8.71995 on, equal entropies at 9.5671."""
    found = state_evolution(Channel("sign(z1*z2*z3)")).family
    assert found.spinodal == math.inf
    assert min(m.alpha for m in found.lower.members) == pytest.approx(8.71995, abs=5e-4)
    gap = abs(found.coarser().information_threshold - found.information_threshold)
    assert found.information_threshold == pytest.approx(9.5671, abs=gap + 1e-3)
    assert gap < 0.02


def test_an_error_of_the_ratio_moves_the_overlap_to_either_side():
    """q = 1 - 1 / alpha is steeper below: 5 percent less of alpha moves it by 1 / (19 alpha)."""
    found = family(np.ones(2), curve=lambda q: 1 / (1 - q), alpha_c=1.0)
    for alpha in (1.5, 2.5):
        M, own = found.reached(alpha, False)
        np.testing.assert_allclose(np.diag(M), 1 - 1 / alpha, atol=2e-3)
        error = replace(found, error=0.05).reached(alpha, False)[1]
        down, up = 1 / (19 * alpha), 1 / (21 * alpha)
        assert np.abs(np.diag(error - own) - down).max() < 0.5 * (down - up)


def test_members_after_which_the_price_falls_are_left_out():
    members = [Member(t, 1.0, EYE, root) for t, root in ((0.1, 0.2), (0.2, 0.4), (0.3, 0.35))]
    assert one_curve(members) == [members[0], members[2]]
    assert one_curve(members[:2]) == members[:2]


def test_a_family_follows_a_direction_that_opens_slowly():
    """At ratio 1.225 two directions have just opened beside the one that was found before."""
    theory = StateEvolution(Channel("tanh(z1)*z2+z3**2"))
    ratios = np.linspace(1.05, 1.4, 8)
    along = theory.fixed_points(ratios)
    for k in (2, 4):
        alone = theory.fixed_point(float(ratios[k]))
        assert np.linalg.eigvalsh(alone.M)[1] > 0.01
        assert np.all(np.abs(along[k].M - alone.M) <= 3 * (along[k].error + alone.error) + 1e-4)
        np.testing.assert_allclose(along[k].M, alone.M, atol=0.01)
