"""Weak recovery as a function of a channel."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.labels import Channel
from learnability.theory import weak_recovery

from tests.geometry import axes, projector


@pytest.mark.parametrize(
    ("text", "noise", "alpha", "span", "method"),
    [
        ("abs(z)", 0.0, 0.5, np.eye(1), "level sets"),
        ("abs(z)", 0.1, 0.604287681386758, np.eye(1), "level sets"),
        ("sign(z1*z2)", 0.0, math.pi**2 / 4, np.eye(2), "cells"),
        ("sign(abs(z2) - 1) + 0*z1", 0.0, 0.924958039258904, axes(2, 2), "cells"),
    ],
)
def test_thresholds(text: str, noise: float, alpha: float, span: np.ndarray, method: str) -> None:
    found = weak_recovery(Channel(text, noise))
    assert len(found.trivial) == 0
    assert found.alpha == pytest.approx(alpha, abs=1e-9) and found.alpha_error < 1e-8
    np.testing.assert_allclose(projector(found.directions), span, atol=1e-7)
    assert found.method == method
    # The threshold is the inverse of the largest eigenvalue, not of the largest modulus.
    assert np.linalg.eigvalsh(found.operator)[-1] == pytest.approx(1 / found.alpha)


def test_trivial_directions() -> None:
    found = weak_recovery(Channel("sign(z1) + 3*sign(abs(z2) - 1)"))
    np.testing.assert_allclose(projector(found.trivial), axes(2, 1), atol=1e-9)


@pytest.mark.parametrize("text", ["sign(z1*z2*z3)", "z**2*exp(-z**2)"])
def test_nothing_opens_for_a_hard_link(text: str) -> None:
    found = weak_recovery(Channel(text))
    assert found.alpha == math.inf and found.alpha_error == 0.0
    assert len(found.directions) == len(found.trivial) == 0


def test_known_directions_open_others() -> None:
    found = weak_recovery(Channel("sign(z1*z2*z3)"), known=[[0, 1, 0]])
    assert found.alpha == pytest.approx(math.pi**2 / 4, abs=1e-8)
    np.testing.assert_allclose(projector(found.directions), axes(3, 1, 3), atol=1e-9)
    two = weak_recovery(Channel("sign(z1*z2*z3)"), known=[[0, 1, 0], [1, 0, 0]])
    np.testing.assert_allclose(projector(two.trivial), axes(3, 3), atol=1e-9)


@pytest.mark.parametrize("known", [[[1, 1]], [[1, 0, 0]], np.eye(2), [[0.5, 0]], [[[1, 0]]]])
def test_bad_known_directions_end_in_a_sentence(known: object) -> None:
    with pytest.raises(LearnabilityError, match=r"^`known` .*\.$"):
        weak_recovery(Channel("sign(z1*z2)"), known=known)  # type: ignore[arg-type]
