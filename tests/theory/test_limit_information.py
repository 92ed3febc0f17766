"""Shares of labels, integrated where gradients change at breaks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from learnability import Link
from learnability.theory._limit_information import share_of_slopes


def _moves(slopes: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.any(slopes != 0, axis=-1))


@pytest.mark.parametrize(
    ("link", "share"),
    [
        (Link("relu(z1 + 0.5*z2 - 0.2)"), ndtr(-0.2 / 1.25**0.5)),
        (Link("relu(z1)*relu(z2)*z3"), 0.25),
        (Link("relu(z1) + relu(z2)"), 0.75),
        (Link("tanh(z1)*z2"), 1.0),
        (Link(lambda z: np.maximum(z[..., 0] + 0.5 * z[..., 1], 0.2), r=2), ndtr(-0.2 / 1.25**0.5)),
    ],
)
def test_share_of_slopes(link: Link, share: float) -> None:
    assert share_of_slopes(link, _moves) == pytest.approx(share, abs=1e-6)
