"""Formulas of the smaller modules: shares of directions, openings, degrees and relative scales."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Channel, Hierarchical
from learnability.gaussian.sections import Section
from learnability.labels import Link
from learnability.statuses import Status
from learnability.theory._relaxation import allowed, ended, relaxed, response, updated
from learnability.theory.compositional import _by_slopes, compositional_exponent, standardised_link
from learnability.theory.correlations import (
    _turns_of_unknown,
    correlation_kernels,
    correlation_signals,
    snapped,
)
from learnability.theory.mehler import (
    HIGHEST,
    half_recovery,
    mehler_levels,
    mehler_parameter,
    mehler_trace,
)
from learnability.theory.recovered_directions import Recovered, _share, recovered_directions
from learnability.theory.self_consistency import (
    _fully_known,
    _splits,
    self_consistent_alpha,
)

NONE = np.zeros((0, 2))

# ---- correlations


@pytest.mark.parametrize("text", ["z1 + z1*z2", "abs(z1) + 0.05*z2", "sign(z1*z2)"])
def test_signals_do_not_depend_on_a_shift_or_scale_of_the_label(text: str) -> None:
    known = np.array([[1.0, 0.0]])
    for directions in (NONE, known):
        plain = correlation_signals(Section.whole(Link(text)), directions)
        for other in (f"100 + {text}", f"0.001*({text})", f"-7*({text})"):
            found = correlation_signals(Section.whole(Link(other)), directions)
            for k, signal in plain.items():
                assert len(found[k].basis) == len(signal.basis)
                assert found[k].doubt == signal.doubt


def test_weak_correlations_count_beside_the_variance_and_not_beside_the_mean() -> None:
    """A share of 1e-6 of the variance is seen although the mean is a thousand deviations."""
    strong = correlation_signals(Section.whole(Link("1000 + He2(z1) + 0.002*z2")), NONE)
    assert [len(strong[k].basis) for k in (1, 2)] == [1, 1]
    tilted = correlation_signals(Section.whole(Link("He2(z1) + 0.002*z2")), NONE, tilt=1e-3)
    assert len(tilted[1].basis) == 0 and len(tilted[2].basis) == 1


def test_kernels_given_a_direction_are_averages_over_it() -> None:
    """z1^2 z2 + z1 z2^2: E[z2 f | z1] = z1^2, and E[He_2(z2) f | z1] / 2 = z1."""
    found, errors, energy = correlation_kernels(
        Section.whole(Link("z1**2*z2 + z1*z2**2")), np.array([[1.0, 0.0]])
    )
    sizes = [float(k[0, 0]) for k in found[:4]]
    np.testing.assert_allclose(sizes, [1, 3, 2, 0], atol=1e-9)
    assert energy == pytest.approx(3 + 3) and max(errors[:4]) < 1e-8


def test_symmetries_that_keep_what_is_known() -> None:
    """z1^2 z2: z1 may be turned over alone; given z1, nothing but the identity fixes it."""
    section = Section.whole(Link("z1**2*z2**2"))
    keeping, fixing = _turns_of_unknown(section, 1)
    assert {float(t[0, 0]) for t in keeping} == {1.0, -1.0}
    assert {float(t[0, 0]) for t in fixing} == {1.0, -1.0}
    tilted = section.inside(np.array([[0.998, math.sqrt(1 - 0.998**2)],
                                      [-math.sqrt(1 - 0.998**2), 0.998]]))  # fmt: skip
    keeping, _ = _turns_of_unknown(tilted, 1)
    assert all(abs(float(t[0, 0])) == pytest.approx(1.0) for t in keeping)
    assert len(keeping) == 2  # Only the identity and minus it keep a tilted direction.


def test_directions_close_to_exact_ones_are_moved_to_them() -> None:
    section = Section.whole(Link("z1**2 + 3*z2**2 + z3**3"))
    angle = 3e-3
    rows = np.array([[math.cos(angle), math.sin(angle), 0.0]])
    moved, left = snapped(section, np.zeros((0, 3)), rows, 0.01)
    np.testing.assert_allclose(np.abs(moved), [[1, 0, 0]], atol=1e-9)
    assert left < 1e-9
    wide = np.array([[math.cos(0.3), math.sin(0.3), 0.0]])
    kept, tilt = snapped(section, np.zeros((0, 3)), wide, 0.01)
    np.testing.assert_array_equal(kept, wide)
    assert tilt == 0.01


# ---- fixed points


def test_a_response_is_measured_where_the_map_bends_little() -> None:
    """M = A / (1 + A), A = (q / .3)^8 with a fixed point: the slope of q -> M there is known."""
    q = 0.3

    def one_step(M: np.ndarray) -> np.ndarray:
        ratio = q / (1 - q) * (M[0, 0] / q) ** 0.5
        return updated(np.array([[ratio]]))

    slope = 0.5 * (1 - q)  # d log M / d log A = 1 - M.
    exact = (q - q**2) / (1 - slope)
    assert response(one_step, np.array([[q]]))[0, 0] == pytest.approx(exact, rel=0.02)


def test_what_two_directions_allow() -> None:
    moved = np.array([[0.04, 0.001], [0.001, 0.0001]])
    found = allowed(moved)
    own = np.sqrt([0.04, 0.0001])
    least = 0.2 * np.sqrt(np.outer(own, own))
    np.testing.assert_allclose(found, np.maximum(moved, least))


def test_steps_that_have_stopped_are_the_end() -> None:
    M = np.diag([0.4, 0.2])
    found, error = ended(lambda A: A + 1e-10, M)
    np.testing.assert_array_equal(found, M)
    np.testing.assert_allclose(error, 1e-10, rtol=1e-3)
    even, status = relaxed(lambda A: 0.5 * (A + M), lambda A: 1e-8, np.zeros((2, 2)))
    assert status is Status.CONVERGED
    np.testing.assert_allclose(even, M, atol=1e-7)


# ---- self-consistent openings


def test_reflections_that_split_what_is_known_from_what_opens() -> None:
    z1, z2 = np.eye(2)[:1], np.eye(2)[1:]
    assert _splits(Link("z1*abs(z2)"), z1, z2)
    assert not _splits(Link("z1*z2 + z1 + z2"), z1, z2)
    assert not _splits(Link("z1 + z2**2 + z2"), z1, z2)


def test_a_direction_is_fully_known_from_its_moving_share() -> None:
    """relu moves on one half: above two samples for each dimension it is known exactly."""
    z1 = np.array([1.0, 0.0])
    assert _fully_known(Link("relu(z1)*(2 + sign(z2))"), z1) == pytest.approx(2.0, rel=0.01)
    assert _fully_known(Link("z1*(2 + sign(z2))"), z1) == 1.0
    assert _fully_known(Link("sign(z1) + z2"), z1) == math.inf


def test_openings_are_not_computed_where_they_are_not_known() -> None:
    none, one = NONE, np.array([[1.0, 0.0]])
    other = np.array([[0.0, 1.0]])
    assert self_consistent_alpha(Channel("z1*z2"), none, np.eye(2), 1.0) is None
    assert self_consistent_alpha(Channel("z1 + z1*z2"), one, other, 1.0) is None
    assert self_consistent_alpha(Channel("z1*z2*z3*z4"),
                                 np.eye(4)[:1], np.eye(4)[1:], 1.0) is None  # fmt: skip


# ---- recovered directions


@pytest.mark.parametrize("theta", [0.4, -0.4])
def test_a_share_to_first_order(theta: float) -> None:
    """Without higher moments u = c / theta and m^2 = (A - k_2) / A = 1 - c k_2 / theta^2 ... ."""
    c, k2 = 0.02, 1.3
    share, steep = _share(c, theta, 0.0, 0.0, k2, 0.0)
    u = c / theta
    A = c / u**2
    assert steep == pytest.approx(abs(u))
    assert share == pytest.approx((A - k2) / A)
    assert share == pytest.approx(1 - c * k2 / theta**2)
    assert _share(1.0, theta, 0.0, 0.0, k2, 0.0)[0] == 0.0


def test_a_share_to_second_order_solves_its_equation() -> None:
    c, theta, a2, a3, k2, k3 = 0.03, 0.5, 0.3, -0.2, 1.1, 0.4
    share, u = _share(c, theta, a2, a3, k2, k3)
    assert c / u == pytest.approx(theta + u * a2 + u**2 * a3, rel=1e-10)
    A = c / u**2
    assert share == pytest.approx((A - k2 - 2 * u * k3) / (A + a2 + 2 * u * a3))
    mirrored = _share(c, -theta, a2, -a3, k2, -k3)
    assert mirrored == pytest.approx((share, u))
    nothing, steep = _share(c, 0.5, -60.0, 0.0, k2, k3)
    assert nothing == 0.0 and steep > 0


def test_bounds_close_to_the_transition() -> None:
    target = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", N=14, normalisation="printed")
    star = target.n_star(196)
    far = recovered_directions(target, 196, 20 * star)
    np.testing.assert_array_equal(far.least, far.share)
    np.testing.assert_array_equal(far.most, far.share)
    for ratio, above, below in ((2.5, 0.08, 0.08), (1.2, 0.3, 0.08)):
        near = recovered_directions(target, 196, ratio * star)
        seen = ratio * star / near.n_star
        assert f"n is {seen.min():.2g} to {seen.max():.2g} times" in near.reason
        assert "14 of 14 directions" in near.reason
        np.testing.assert_allclose(near.most, np.minimum(near.share + above, 1), atol=0.02)
        np.testing.assert_allclose(near.least, np.maximum(near.share - below, 0), atol=0.02)
    lost = recovered_directions(target, 196, 0.1 * star)
    np.testing.assert_allclose(lost.share, 14 / 196)  # Random vectors have so much of each.
    assert far.n_star.max() == pytest.approx(star * 182 / 196, rel=0.2)
    matrix = far.matrix(far.share)
    assert np.trace(matrix) == pytest.approx(far.share.sum())
    assert isinstance(far, Recovered) and far.overlap == pytest.approx(
        math.sqrt(float(np.mean(far.share)))
    )


def test_labels_with_long_tails_leave_bounds_alone() -> None:
    """The largest of n labels is the quantile of 1 / n, with three deviations of the noise."""
    target = Hierarchical("z**3", "He2(z)", N=12, noise=0.5)
    for n in (400.0, 700.0):
        largest = target.composition.tail(1 / n) + 3 * math.sqrt(0.5)
        deviations = largest / math.sqrt(target.label_variance)
        said = f"the largest of {n:g} is about {deviations:.2g} standard deviations"
        found = recovered_directions(target, 40, n)
        assert said in found.reason
        assert (found.least < found.share).all()
    assert recovered_directions(target, 40, 5000.0).reason == ""


# ---- kernels and exponents


def test_levels_of_a_kernel_and_the_samples_of_half_a_degree() -> None:
    assert [mehler_parameter(D) for D in (1, 4, 5, 20)] == [0.5, 0.5, 0.4, 0.1]
    assert mehler_trace(10) == pytest.approx(0.8**-10)
    levels = mehler_levels(6, np.array([0.1, 0.2]), 0.3)
    rho = 1 / 3
    exact = sum(math.comb(6 + k - 1, k) * rho**k for k in range(HIGHEST + 1, 400))
    assert levels.tail == pytest.approx(exact, rel=1e-9)
    np.testing.assert_allclose(levels.eigenvalues, rho ** np.arange(HIGHEST + 1))
    for degree in (1, 2):
        at = rho**degree
        naive = (
            sum(math.comb(6 + k - 1, k) * rho**k / (rho**k + at) for k in range(HIGHEST + 1))
            + (exact + 1) / at
        )
        assert half_recovery(6, degree) == pytest.approx(naive, rel=1e-9)


@pytest.mark.parametrize(
    ("link", "polynomial", "value", "by_feature"),
    [
        ("tanh(z)", "He2(z)", 2, (2,)),
        ("z1 + z2**2", "He2(z)", 2, (2, 4)),
    ],
)
def test_exponents_are_products_of_those_of_both_levels(
    link: str, polynomial: str, value: int, by_feature: tuple[int, ...]
) -> None:
    target = Hierarchical(link, polynomial, N=4)
    found = compositional_exponent(target, 1, (4, 64))
    assert found.value == value and found.by_feature == by_feature
    one = compositional_exponent(target, 1, [1])
    assert one.undecided and one.value is None and one.by_feature == (None,) * target.r
    assert str(one) == "undecided" and str(found) == str(value)


def test_exponents_from_slopes_and_features_of_unit_variance() -> None:
    assert _by_slopes(("zero", "vanishing", "of order one", "undecided")) == (3, False)
    assert _by_slopes(("zero", "undecided", "of order one")) == (None, True)
    assert _by_slopes(("zero", "vanishing")) == (None, True)
    target = Hierarchical("z1*z2", "2*He2(z)", N=4, normalisation="printed")
    scale = math.sqrt(target.feature_variance)
    link = standardised_link(target)
    z = np.array([[0.3, -1.0]])
    assert float(np.asarray(link(z))[0]) == pytest.approx(scale**2 * -0.3)
