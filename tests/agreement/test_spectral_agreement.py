"""The spectral learner: eigenvectors of samples against the theory of large dimension.

Seeds are fixed. Each test compares a few means over seeds with their predictions; its level is
0.001 in all, divided by their count (Bonferroni), with Student's t for the few seeds. A finite
dimension moves the mean itself by an amount of order 1 / d: 10 / d is allowed for it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t

from learnability.learners.spectral import Spectral

pytestmark = pytest.mark.agreement

LEVEL = 1e-3


def assert_agrees(runs: np.ndarray, theory: np.ndarray, d: int) -> None:
    """Means over the seeds, the second axis, against predictions."""
    count = runs.shape[1]
    error = runs.std(axis=1, ddof=1) / math.sqrt(count)
    allowed = t.isf(LEVEL / 2 / theory.size, count - 1) * error + 10 / d
    gap = np.abs(runs.mean(axis=1) - theory)
    assert np.all(gap <= allowed), (gap, allowed)


@pytest.mark.parametrize(
    ("text", "method", "alpha", "d"),
    [
        ("abs(z)", "symmetric", [1.0, 2.0, 10.0], 700),
        ("abs(z)", "asymmetric", [2.0, 10.0], 700),
        ("He4(z)", "symmetric", [1.5, 4.0], 600),
        ("sign(abs(z) - 1)", "symmetric", [2.0, 6.0], 600),
        ("tanh(z)", "symmetric", [0.5, 2.0], 600),
        ("sign(z1*z2)", "symmetric", [4.0, 8.0], 600),
        ("sign(z1*z2)", "asymmetric", [8.0], 600),
        ("z1**2 + 2*z2**2", "symmetric", [5.0], 400),
        ("sign(z1) + 2*sign(z2)", "symmetric", [2.0], 600),
    ],
)
def test_overlaps(text: str, method: str, alpha: list[float], d: int) -> None:
    learner = Spectral(method)
    theory = learner.predict(text, alpha=alpha)
    runs = learner.simulate(text, d=d, alpha=alpha, seeds=range(8))
    assert_agrees(runs.subspace_overlap.values, theory.subspace_overlap.values, d)
    assert_agrees(runs.overlap.values, theory.overlap.values, d)
    assert np.sqrt(theory.subspace_overlap.values).min() > 0.3  # There is something to compare.


@pytest.mark.parametrize(
    ("text", "method"), [("abs(z)", "symmetric"), ("abs(z)", "asymmetric"), ("He4(z)", "symmetric")]
)
def test_outliers(text: str, method: str) -> None:
    learner, alpha, d = Spectral(method), [3.0, 8.0], 600
    theory = learner.predict(text, alpha=alpha).eigenvalue.values
    runs = learner.simulate(text, d=d, alpha=alpha, seeds=range(8)).eigenvalue.values
    assert_agrees(runs / theory[:, None], np.ones_like(theory), d)


def test_the_edge_of_the_bulk() -> None:
    """Below the threshold the leading eigenvalue is at the edge, up to the power -2/3 of d."""
    learner, d = Spectral(), 1000
    theory = learner.predict("abs(z)", alpha=0.25)
    runs = learner.simulate("abs(z)", d=d, alpha=0.25, seeds=range(4))
    assert float(theory.overlap.squeeze()) == 0.0
    assert float(runs.eigenvalue.mean()) == pytest.approx(float(theory.edge), rel=6 * d ** (-2 / 3))
    assert float(runs.subspace_overlap.mean()) < 0.1


def test_a_subspace_whose_frame_is_open() -> None:
    """|z1| + |z2|: the labels do not tell the axes, but the plane."""
    learner, d = Spectral(), 400
    theory = learner.predict("abs(z1) + abs(z2)", alpha=[4.0])
    assert "which direction" in theory.attrs["note"]
    assert np.isnan(theory.overlap).all()
    runs = learner.simulate("abs(z1) + abs(z2)", d=d, alpha=[4.0], seeds=range(6))
    assert_agrees(runs.subspace_overlap.values, theory.subspace_overlap.values, d)
