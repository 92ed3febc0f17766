"""Information of any channel by quadrature, against the exact one where there is one."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Channel
from learnability.labels.posterior import BoxPosterior, scheme_of
from learnability.theory._box_information import FiniteInformation
from learnability.theory._quadrature_information import QuadratureInformation


def test_a_linear_channel_with_noise() -> None:
    """y = z + noise: g = (y - omega) / (v + noise), so that E g^2 = 1 / (1 - q + noise)."""
    for q in (0.0, 0.3, 0.9):
        found = QuadratureInformation(Channel("z", 0.2))(np.array([[q]]))
        assert found[0, 0] == pytest.approx(1 / (1 - q + 0.2), rel=1e-4)


def test_a_parity_along_its_axes_and_turned() -> None:
    channel = Channel("sign(z1*z2)")
    scheme = scheme_of(channel)
    assert isinstance(scheme, BoxPosterior)
    q = np.array([0.5, 0.5])
    found = QuadratureInformation(channel, 10_000)(np.diag(q))
    np.testing.assert_allclose(np.diag(found), FiniteInformation(scheme)(q), rtol=5e-3)
    assert abs(found[0, 1]) < 5e-3


def test_the_response_at_zero_overlap_is_the_weak_threshold() -> None:
    """sign(z1*z2) opens at alpha = pi^2 / 4: the response is its inverse."""
    info, response = QuadratureInformation(Channel("sign(z1*z2)")).with_response(
        np.zeros((2, 2)), np.eye(2)
    )
    np.testing.assert_allclose(info, 0.0, atol=1e-9)
    assert response == pytest.approx(4 / np.pi**2, rel=2e-3)
