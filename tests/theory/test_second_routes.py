"""Regressions, correlations and limits of the theory against runs, sums and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from learnability import Channel, Link
from learnability.gaussian.hermite_products import symmetric_basis
from learnability.gaussian.quadrature import rules_for
from learnability.gaussian.sections import Section, complement
from learnability.labels import expand
from learnability.labels.core_sections import core_section
from learnability.labels.posterior import box_posterior
from learnability.theory._box_information import FiniteInformation
from learnability.theory.assumptions import _linear_parts
from learnability.theory.compositional import _by_slopes
from learnability.theory.correlations import (
    _label_rules,
    _meant,
    _unfolded,
    snapped,
    transformed_signal,
)
from learnability.theory.information import label_information
from learnability.theory.mehler import mehler_values
from learnability.theory.radial import Profile, RadialTarget, harmonics, radial_fit

from tests.geometry import projector

# ---- regression with weights that depend on the radius


def radial_example(D: int, c: float, noise: float) -> RadialTarget:
    """f = x_1 + c (|x|^2 - D) / sqrt(2 D), a linear and a radial part, and two features."""
    rng = np.random.default_rng(0)
    t = (np.sum(rng.standard_normal((200_000, D)) ** 2, axis=1) - D) / math.sqrt(2 * D)
    # E[y^2 | r] = r^2 / D + c^2 t^2 + noise, on 1, t and the next polynomial.
    skew = math.sqrt(8 / D)  # E[t^3]; t^2 = 1 + skew t + rest.
    rest = math.sqrt(2 + 4 / D)  # The length of that rest, as E[t^4] = 3 + 12 / D.
    assert np.mean(t**3) == pytest.approx(skew, rel=0.1)
    squares = np.array([1 + c**2 + noise, math.sqrt(2 / D) + c**2 * skew, c**2 * rest])
    energies = np.zeros(9)
    energies[1] = 1.0
    features = np.zeros((2, 3))
    features[1, 1] = 1.0  # h_2 is t itself, h_1 is x_1.
    parts = np.zeros((2, 9))
    parts[0, 1] = 1.0
    return RadialTarget(np.array([0.0, c, 0.0]), energies, squares, features, parts)


@pytest.mark.parametrize(("D", "n", "ridge"), [(2, 60, 0.5), (4, 150, 0.2)])
def test_regressions_with_the_mehler_kernel_are_those_of_runs(D: int, n: int, ridge: float) -> None:
    c, noise = 0.7, 0.1
    target = radial_example(D, c, noise)
    fits_of_theory = [radial_fit(one, D, n, ridge) for one in (target, by_profile(D, c, noise))]

    def drawn(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        x = rng.standard_normal((count, D))
        t = (np.sum(x**2, axis=1) - D) / math.sqrt(2 * D)
        return x, x[:, 0] + c * t

    found, fits = [], []
    X, f = drawn(np.random.default_rng(1), 3000)
    t = (np.sum(X**2, axis=1) - D) / math.sqrt(2 * D)
    for seed in range(40):
        rng = np.random.default_rng([2, seed])
        x, y = drawn(rng, n)
        y = y + math.sqrt(noise) * rng.standard_normal(n)
        q = mehler_values(X, x) @ np.linalg.solve(mehler_values(x, x) + ridge * np.eye(n), y)
        fits.append(q)
        found.append([np.mean((q - f) ** 2) + noise, np.mean(q * X[:, 0]), np.mean(q * t)])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(40)
    spread = float(np.mean(np.square(fits)))
    for theory in fits_of_theory:
        # 3000 points of the test and the equivalent itself leave a few percent.
        assert theory.error == pytest.approx(mean[0], abs=4 * error[0] + 0.05 * mean[0])
        np.testing.assert_allclose(theory.with_features, mean[1:], atol=0.08)
        assert theory.spread == pytest.approx(spread, rel=0.08)


def by_profile(D: int, c: float, noise: float) -> RadialTarget:
    """The same parts as functions of the radius: Y_1 = sqrt(D) x_1 / r has E[x_1 Y_1 | r]."""
    x = np.linspace(0.0, 6.5, 4001) ** 2
    t = (2 * x - D) / math.sqrt(2 * D)
    radial = np.column_stack([c * t, 0 * t, t])
    linear = np.column_stack([np.sqrt(2 * x / D), np.sqrt(2 * x / D), 0 * x])
    profile = Profile(x, ((0, radial), (1, linear)), 2 * x / D + c**2 * t**2 + noise)
    return radial_example(D, c, noise)._replace(profile=profile)


def test_a_target_given_by_its_profile_is_the_same_target() -> None:
    D, c, noise = 5, 0.6, 0.2
    for n, ridge in ((40, 0.5), (400, 0.5)):
        ours, theirs = (
            radial_fit(one, D, n, ridge)
            for one in (by_profile(D, c, noise), radial_example(D, c, noise))
        )
        # One spreads the error of the linear part over the radii as E[y^2 | r], the other knows it.
        assert ours.error == pytest.approx(theirs.error, rel=0.05)
        # The harmonic has its unit length on the radii that occur.
        np.testing.assert_allclose(ours.with_features, theirs.with_features, atol=5e-3)
        assert ours.curve.product == pytest.approx(0, abs=5e-3)  # All lies along harmonics.
        assert theirs.curve.product == pytest.approx(theirs.learned[1], rel=1e-9)
        assert theirs.curve.square == pytest.approx(theirs.learned[1] ** 2, rel=1e-9)
        assert np.all(np.diff(ours.curve.x) > 0)
        linear = dict((a, (f, q)) for a, f, q in ours.curve.along)[1]
        np.testing.assert_allclose(linear[0], np.sqrt(2 * ours.curve.x / D), atol=1e-3)


def test_harmonics_are_as_many_as_polynomials_leave() -> None:
    """Polynomials of degree a in D variables are harmonics of degrees a, a - 2, ..."""
    for D in (2, 3, 6):
        for a in range(6):
            whole = math.comb(D + a - 1, a)
            assert sum(harmonics(D, b) for b in range(a, -1, -2)) == whole
    assert [harmonics(1, a) for a in range(4)] == [1, 1, 0, 0]


# ---- correlations


def test_functions_of_the_label_show_what_the_label_does_not() -> None:
    """He_3(z_1) has no linear or quadratic part; functions of it have one, of z_1 alone."""
    nothing = np.zeros((0, 2))
    section = Section.whole(Link("He3(z1) + 0*z2", r=2))
    for order in (1, 2):
        signal = transformed_signal(section, nothing, order)
        np.testing.assert_allclose(projector(signal.basis), np.diag([1.0, 0.0]), atol=1e-6)
    # A parity shows nothing of first order, and both of second, as one subspace.
    parity = Section.whole(Link("tanh(z1*z2)"))
    assert len(transformed_signal(parity, nothing, 1).basis) == 0
    np.testing.assert_allclose(
        projector(transformed_signal(parity, nothing, 2).basis), np.eye(2), atol=1e-6
    )
    # Given z_1, the other is seen at first order.
    given = transformed_signal(parity, np.array([[1.0, 0.0]]), 1)
    assert given.basis.shape == (1, 1)
    hidden = Section.whole(Link(lambda z: np.sign(z[..., 0] - z[..., 1] ** 3), r=2))
    unknown = transformed_signal(hidden, nothing, 1)
    assert unknown.doubt and len(unknown.basis) == 0


def test_directions_found_by_sampling_are_made_exact() -> None:
    exact = np.array([[0.6, 0.8]])
    text = "(0.6*z1 + 0.8*z2)**2 + tanh(0.8*z1 - 0.6*z2)"
    section = Section.whole(Link(text))
    off = 2e-3
    rows = math.cos(off) * exact + math.sin(off) * np.array([[0.8, -0.6]])
    found, tilt = snapped(section, np.zeros((0, 2)), rows, off)
    assert tilt < 1e-8
    np.testing.assert_allclose(np.abs(found @ exact.T), 1, atol=1e-9)
    # What is far from every eigenvector stays as it was found.
    far = np.array([[1.0, 0.0]])
    kept, tilt = snapped(section, np.zeros((0, 2)), far, off)
    np.testing.assert_array_equal(kept, far)
    assert tilt == off
    # All that is left needs no estimate.
    whole, tilt = snapped(section, exact, np.ones((1, 1)), 0.3)
    assert tilt == 0.0 and whole.tolist() == [[1.0]]


def test_eigenvectors_of_mean_squares() -> None:
    """E[g (z z^T - I)] of g = 3 u^2 + v^2 has the eigenvectors u and v, sizes 6 and 2."""
    turn, nothing = np.array([[0.6, 0.8], [0.8, -0.6]]), np.zeros((0, 2))
    section = Section.whole(Link("3*z1**2 + z2**2").rotate(turn))
    rule = (_label_rules(section, section, nothing) or [])[0]
    for row in turn:
        found = _meant(rule, rule.values, row[None])
        assert found is not None
        np.testing.assert_allclose(np.abs(found @ row), 1, atol=1e-9)
    assert _meant(rule, rule.values, np.array([[1.0, 0.0]])) is None
    round_one = Section.whole(Link("z1**2 + z2**2"))
    same = (_label_rules(round_one, round_one, nothing) or [])[0]
    assert _meant(same, same.values, np.array([[1.0, 0.0]])) is None


def test_moments_of_visible_coordinates_of_a_random_label() -> None:
    """Of y = (z1 + 2 z2) xi, E[y^2 (z z^T - I)] is 2 v v^T with v = (1, 2), in every frame."""
    section = Section.whole(Link("(z1 + 2*z2)*xi"))
    for known, left in ((np.zeros((0, 2)), np.eye(2)), (np.array([[0.6, 0.8]]), None)):
        rule = (_label_rules(section, core_section(section), known) or [])[0]
        rows = complement(known, 2) if left is None else left
        found = np.einsum("q,qij->ij", rule.rule.outer_weights @ rule.moments(rule.values**2, 2),
                          symmetric_basis(len(rows)))  # fmt: skip
        v = rows @ np.array([1.0, 2.0])
        np.testing.assert_allclose(found * math.sqrt(2), 2 * np.outer(v, v), rtol=1e-6, atol=1e-7)


def test_unfolded_moments_are_those_of_the_tensor() -> None:
    """K of moments in three variables, against E[He_j f] as a full tensor."""
    link = Link("z1*z2*z3 + z1**3 + z2*z3**2")
    section = Section.whole(link)
    rule = rules_for(section)[0][0]
    moments = rule.hermite_moments(rule.evaluate(section), [3])[3]
    tensor = expand(link, 3).tensors[3]
    flat = tensor.reshape(3, -1)
    found = _unfolded(moments, rule.outer_weights, 3, 3)
    np.testing.assert_allclose(found, flat @ flat.T / 6, atol=1e-9)


# ---- information


def chance_logit(y: float, z: np.ndarray) -> np.ndarray:
    return expit((2 * y - 1) * (z[..., 0] - z[..., 1] ** 2))


def test_the_information_of_a_random_label_of_two_directions_is_a_sum() -> None:
    """E[g g^T] summed over omega and both labels, with posteriors on a plain grid."""
    M = np.diag([0.3, 0.6])
    t = np.linspace(-6.5, 6.5, 61)
    weight = norm.pdf(t) * (t[1] - t[0])
    first, second = np.meshgrid(t, t, indexing="ij")
    grid = np.stack([first, second], axis=-1)
    both = np.outer(weight, weight)
    root, spread = np.sqrt(np.diag(M)), np.sqrt(1 - np.diag(M))
    exact = np.zeros((2, 2))
    for i in range(0, 61):
        for j in range(0, 61):
            omega = root * np.array([t[i], t[j]])
            if both[i, j] < 1e-9:
                continue
            up = chance_logit(1.0, omega + spread * grid)
            for chance in (up, 1 - up):
                total = float((both * chance).sum())
                g = np.einsum("ij,ij,ijk->k", both, chance, grid) / total / spread
                exact += both[i, j] * total * np.outer(g, g)
    information = label_information(Channel("bernoulli(sigmoid(z1 - z2**2))"))
    found = information(M)
    assert found == pytest.approx(exact, rel=information.error_at(M) + 1e-4, abs=1e-4)
    assert information.error < 0.02
    np.testing.assert_allclose(information.finely(M), found)
    np.testing.assert_allclose(information.around(M)(M), found, rtol=1e-6)


def test_information_beyond_the_resolved_overlap_follows_the_law_of_cells() -> None:
    """sign(z1 + z2 - z1 z2 / 2) has V I(M) ~ V^(1/2): of twice as small a V it has half."""
    information = label_information(Channel("sign(z2 - z1**2)"))
    V = np.array([1e-3, 2.5e-4])
    found = [np.linalg.eigvalsh(information((1 - v) * np.eye(2))) for v in V]
    ratio = found[1][-1] / found[0][-1]
    assert ratio == pytest.approx(2.0, rel=0.05)  # I ~ V^(-1/2), and V falls by four.


def test_half_of_a_coordinate_is_enough_where_a_reflection_is_its_own() -> None:
    """Even numbers of reflections keep the label: three of four coordinates can be halved."""
    scheme = box_posterior(Channel("max(sign(z1*z2*z3*z4), step(abs(z1) - 1))"))
    assert scheme is not None
    assert FiniteInformation(scheme)._even == (0, 1, 2)
    scheme = box_posterior(Channel("sign(z1*z2*z3*z4)"))
    assert scheme is not None
    assert FiniteInformation(scheme)._even == (0, 1, 2, 3)


def test_small_parts_in_words() -> None:
    assert _by_slopes(["vanishing", "of order one"]) == (2, False)
    assert _by_slopes(["of order one", "undecided"]) == (1, False)
    assert _by_slopes(["vanishing", "undecided"]) == (None, True)
    assert _by_slopes(["vanishing"]) == (None, True)
    rows = _linear_parts(expand(Link("2*z1 + z1*z2"), 3))
    assert [row.verdict for row in rows] == ["holds", "fails"]
    assert rows[0].number == pytest.approx(2 / math.sqrt(5)) and rows[1].number == 0
