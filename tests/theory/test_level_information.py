"""The information of a label from level sets and cells, against other ways to compute it."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Channel
from learnability.labels.posterior import scheme_of
from learnability.theory._box_information import FiniteInformation, RootInformation
from learnability.theory._level_information import FINE, ROUGH, LevelInformation
from learnability.theory._quadrature_information import QuadratureInformation
from learnability.theory.information import label_information

# (1 - q) I(q) of z1 * z2, by quadrature over log z1, log y and omega, on two grids.
PRODUCT = {0.01: 0.0160471015, 0.3: 0.2683871304, 0.6: 0.4024421708, 0.9: 0.4860482835}


def test_a_product_of_two() -> None:
    engine = LevelInformation(Channel("z1*z2"))
    for q, value in PRODUCT.items():
        found, mass = engine.with_mass(q * np.eye(2))
        assert (1 - q) * found == pytest.approx(value * np.eye(2), abs=1e-4)
        assert mass == pytest.approx(1.0, abs=3e-4)


def test_a_linear_label_shows_its_own_direction() -> None:
    u = np.array([0.6, 0.8])
    engine = LevelInformation(Channel("0.6*z1 + 0.8*z2"), ROUGH)
    M = np.array([[0.5, 0.2], [0.2, 0.3]])
    expected = np.outer(u, u) / (1 - u @ M @ u)
    assert engine(M) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("q", [0.05, 0.5, 0.9])
def test_cells_are_those_of_exact_boxes(q: float) -> None:
    channel = Channel("sign(z1*z2)")
    exact = FiniteInformation(scheme_of(channel))(np.array([q, q]))
    assert np.diag(LevelInformation(channel)(q * np.eye(2))) == pytest.approx(exact, rel=3e-4)


def test_jumps_in_three_directions_are_those_of_exact_roots() -> None:
    channel, q = Channel("z1**2 + sign(z1*z2*z3)"), np.array([0.5, 0.3, 0.3])
    exact = RootInformation(scheme_of(channel))(q)
    assert np.diag(LevelInformation(channel)(np.diag(q))) == pytest.approx(exact, abs=5e-3)


def test_noise_is_a_convolution() -> None:
    channel = Channel("abs(z)", 0.1)
    exact = QuadratureInformation(channel)(np.array([[0.5]]))
    assert LevelInformation(channel, FINE)(np.array([[0.5]])) == pytest.approx(exact, rel=1e-3)


def test_a_label_with_an_atom_and_a_density() -> None:
    """relu(z1 z2) is a product on one half of the plane, and says nothing more on the other."""
    engine = LevelInformation(Channel("relu(z1*z2)"))
    assert engine.atoms == (0.0,)
    found, mass = engine.with_mass(0.3 * np.eye(2))
    whole = LevelInformation(Channel("z1*z2"))(0.3 * np.eye(2))
    assert mass == pytest.approx(1.0, abs=3e-4)
    assert 0.5 * whole[0, 0] < found[0, 0] < whole[0, 0]


def test_perfect_recovery_has_the_limit_of_unit_normals() -> None:
    information = label_information(Channel("z1*z2"))
    assert information.full == 2.0
    for v in (1e-3, 1e-6):
        scaled = v * information((1 - v) * np.eye(2))
        assert np.trace(scaled) == pytest.approx(1.0, abs=2 * np.sqrt(v))
    assert label_information(Channel("z1*z2", 0.1)).full == np.inf


def test_the_error_is_that_of_two_resolutions() -> None:
    information = label_information(Channel("z1*z2"))
    found = 0.7 * information(0.3 * np.eye(2))[0, 0]
    assert abs(found / PRODUCT[0.3] - 1) < information.error < 2e-3
