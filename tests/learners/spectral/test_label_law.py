"""The discrete law that stands for the law of the label."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.errors import LearnabilityError
from learnability.labels.channel import Channel
from learnability.learners.spectral._label_law import conditionals, label_law
from learnability.theory import weak_recovery


@pytest.mark.parametrize(
    ("text", "noise", "tolerance"),
    [
        ("abs(z)", 0.0, 1e-9),
        ("He4(z)", 0.0, 1e-6),
        ("exp(z**2)", 0.0, 1e-8),
        ("sign(abs(z) - 1)", 0.0, 1e-9),
        ("abs(z)", 0.1, 1e-5),
        ("sign(z1*z2)", 0.0, 1e-9),
        ("sign(z1*z2)", 0.1, 1e-6),
        ("sign(abs(z) - 1)", 0.1, 1e-5),
        ("z1*z2", 0.0, 0.01),
    ],
)
def test_the_law_has_the_moments_of_the_channel(text: str, noise: float, tolerance: float) -> None:
    channel = Channel(text, noise)
    law = label_law(channel, False)
    assert law.weights.sum() == pytest.approx(1, abs=1e-12)
    assert law.weights.min() > 0
    mean = np.tensordot(law.weights, law.G, axes=1)
    np.testing.assert_allclose(mean, 0, atol=max(tolerance, 1e-7))
    # lambda_max of M -> E[G M G] is 1 / alpha_c; the top eigenmatrix is PSD.
    pairs = np.einsum("m,mij,mkl->ikjl", law.weights, law.G, law.G, optimize=True)
    r = channel.link.r
    top = np.linalg.eigvalsh(pairs.reshape(r * r, r * r))[-1]
    assert 1 / top == pytest.approx(weak_recovery(channel).alpha, rel=tolerance)


@pytest.mark.parametrize(("text", "power"), [("z", 1.0), ("sign(z)", 2 / np.pi), ("abs(z)", 0.0)])
def test_the_means_of_the_hidden_coordinate(text: str, power: float) -> None:
    law = label_law(Channel(text), True)
    assert float(law.weights @ law.means[:, 0] ** 2) == pytest.approx(power, abs=1e-9)


def test_labels_that_do_not_occur_say_nothing() -> None:
    channel = Channel("cos(z)")
    means, G = conditionals(channel, np.array([0.3, 1.5]), True)
    assert means[1, 0] == G[1, 0, 0] == 0.0 != G[0, 0, 0]
    with pytest.raises(LearnabilityError, match="None of the 2 labels occurs"):
        conditionals(channel, np.array([2.0, 3.0]), True)
