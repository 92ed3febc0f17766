"""Correlations with the target function, given known coordinates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.gaussian.sections import Section
from learnability.labels import Link, expand
from learnability.theory.correlations import (
    correlation_kernels,
    correlation_signals,
    shown_directions,
)

from tests.geometry import projector, random_rotation, spanned_by

NONE = np.zeros((0, 2))


def kernels(text: str, known: np.ndarray = NONE) -> tuple[list[np.ndarray], list[float], float]:
    return correlation_kernels(Section.whole(Link(text)), known)


@pytest.mark.parametrize("text", ["z1 + z1*z2**2", "tanh(z1)*abs(z2)", "sign(z1*z2) + z2"])
def test_without_known_directions_they_are_the_unfolded_tensors(text: str) -> None:
    expansion = expand(Link(text), 5)
    found, errors, energy = kernels(text)
    assert energy == pytest.approx(expansion.energy, abs=1e-9)
    assert float(found[0][0, 0]) == pytest.approx(expansion.mean**2, abs=1e-9)
    for k in range(1, 6):
        flat = expansion.tensors[k].reshape(2, -1)
        np.testing.assert_allclose(found[k], flat @ flat.T / math.factorial(k), atol=1e-8)
        assert np.trace(found[k]) == pytest.approx(expansion.power(k), abs=1e-8)
        assert errors[k] < 1e-6


def test_given_a_direction() -> None:
    # f = |z1| z2: E[z2 f | z1] = |z1|, of mean square one.
    found, _, energy = kernels("abs(z1)*z2", np.array([[1.0, 0.0]]))
    assert [k.shape for k in found[1:]] == [(1, 1)] * 8
    sizes = [float(k[0, 0]) for k in found]
    np.testing.assert_allclose(sizes, [0, 1, *[0] * 7], atol=1e-9)
    assert energy == pytest.approx(1.0)


def test_given_a_slanted_direction() -> None:
    # z1^2 - z2^2 = 2 u v with u, v = (z1 +- z2)/sqrt(2).
    u = np.array([[1.0, 1.0]]) / math.sqrt(2)
    found, _, _ = kernels("z1**2 - z2**2", u)
    np.testing.assert_allclose([float(k[0, 0]) for k in found[:3]], [0, 4, 0], atol=1e-9)


@pytest.mark.parametrize("text", ["z1 + z1*z2", "abs(z1) + z2", "sign(z1*z2)"])
def test_parts_add_up_to_the_variance(text: str) -> None:
    for known in (NONE, np.array([[0.0, 1.0]])):
        found, _, energy = kernels(text, known)
        parts = sum(float(np.trace(k)) for k in found)
        assert parts <= energy + 1e-9
        assert Link(text).degree is None or parts == pytest.approx(energy, abs=1e-9)


def test_signals_turn_with_the_link() -> None:
    Q = random_rotation(2, 6)
    link = Link("z1 + 3*z2**2").rotate(Q)
    signals = correlation_signals(Section.whole(link), NONE)
    np.testing.assert_allclose(projector(signals[1].basis), spanned_by(tuple(Q[0])), atol=1e-8)
    np.testing.assert_allclose(projector(signals[2].basis), spanned_by(tuple(Q[1])), atol=1e-8)
    assert all(len(signals[k].basis) == 0 and not signals[k].doubt for k in range(3, 9))


def test_what_has_no_second_moment_shows_nothing() -> None:
    link = Link("1/z1 + z2")
    shown = shown_directions(link, Section.whole(link), NONE, 0.0)
    assert all(len(signal.basis) == 0 for signal in shown.values())
