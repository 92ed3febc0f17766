"""The information of labels on lines drawn at random, against other ways to compute it."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Channel
from learnability.theory._level_information import LevelInformation
from learnability.theory._line_information import FEWER_LINES, FINE_LINES, LineInformation
from learnability.theory._noisy_grid import NoisyGrid

M4 = np.diag([0.2, 0.5, 0.7, 0.4])


def radial(q: float) -> float:
    """(1 - q) I(q) of |z|^2 in four variables: only the length of omega and of z matter.

    Given |omega| = a, |z|^2 / v is a noncentral chi square of four degrees of freedom, and
    E[z | |z| = b] is along omega, b I_2(ab / v) / I_1(ab / v).
    """
    from scipy.special import ive

    v = 1 - q
    x, w = np.polynomial.legendre.leggauss(200)
    a = 0.5 * 6 * np.sqrt(q) * (x + 1)
    law = w * a**3 * np.exp(-0.5 * a**2 / q)
    law /= law.sum()
    b = 0.5 * 7.5 * (x + 1)
    ab = np.outer(a, b) / v
    density = w * b**2 * np.exp(-0.5 * (b - a[:, None]) ** 2 / v) * ive(1, ab)
    density /= density.sum(axis=1, keepdims=True)
    mean = b * ive(2, ab) / ive(1, ab) - a[:, None]
    return float(law @ (density * mean**2).sum(axis=1)) / (4 * v)


@pytest.mark.parametrize("q", [0.05, 0.4, 0.7])
def test_a_radial_link_has_an_integral_of_two_variables(q: float) -> None:
    engine = LineInformation(Channel("z1**2 + z2**2 + z3**2 + z4**2"), FEWER_LINES)
    found = (1 - q) * np.trace(engine(q * np.eye(4))) / 4
    assert found == pytest.approx(radial(q), rel=4e-3)


def test_a_link_of_two_turned_directions() -> None:
    """tanh(z1) (z2 + z3 + z4) / sqrt(3) shows what tanh(z1) z2 shows."""
    u = np.ones(3) / np.sqrt(3)
    frame = np.zeros((2, 4))
    frame[0, 0], frame[1, 1:] = 1, u
    inner = np.array([[0.4, 0.1], [0.1, 0.6]])
    expected = frame.T @ LevelInformation(Channel("tanh(z1)*z2"))(inner) @ frame
    text = f"tanh(z1)*(z2 + z3 + z4)/{np.sqrt(3)}"
    M = frame.T @ inner @ frame
    M[1:, 1:] += 0.3 * (np.eye(3) - np.outer(u, u))
    found = LineInformation(Channel(text), FINE_LINES)(M)
    assert found == pytest.approx(expected, abs=0.01 * expected.max())


@pytest.mark.parametrize("text", ["z1*z2 + z3**2", "tanh(2*z1)*z2 + abs(z3)"])
@pytest.mark.parametrize("turned", [False, True])
def test_three_directions_are_those_of_a_grid_of_lines(text: str, turned: bool) -> None:
    frame = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    frame = frame if turned else np.eye(3)
    M = (frame * np.array([0.2, 0.5, 0.7])) @ frame.T
    known = LevelInformation(Channel(text))(M)
    found = LineInformation(Channel(text), FINE_LINES)(M)
    assert found == pytest.approx(known, abs=0.01 * np.abs(known).max())


def test_an_irrelevant_direction_shows_nothing() -> None:
    known = LevelInformation(Channel("z1*z2 + z3**2"))(M4[:3, :3])
    found = LineInformation(Channel("z1*z2 + z3**2 + 0*z4"), FEWER_LINES)(M4)
    assert found[:3, :3] == pytest.approx(known, abs=0.01 * known.max())
    assert np.abs(found[3]).max() < 0.01 * known.max()


def test_noise_averages_what_neighbouring_labels_tell() -> None:
    channel = Channel("z1*z2 + z3**2", 0.3)
    known = NoisyGrid(channel)(M4[:3, :3])
    assert known is not None
    found = LineInformation(channel, FINE_LINES)(M4[:3, :3])
    assert found == pytest.approx(known, abs=0.01 * known.max())


def test_a_product_starts_at_its_weak_threshold() -> None:
    """E[zeta(y)^2], zeta = E[z^2 - 1 | y], by an average over three factors: 1 / 3.7248."""
    engine = LineInformation(Channel("z1*z2*z3*z4"), FINE_LINES)
    first, second = (np.trace(engine(q * np.eye(4))) / (4 * q) for q in (2e-4, 1e-4))
    assert 2 * second - first == pytest.approx(1 / 3.7248, rel=0.012)
