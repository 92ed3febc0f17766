"""The outlier of a spiked matrix."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.learners.giant._outlier import outlier


@pytest.mark.parametrize(
    ("beta", "t", "expected"),
    [(0.5, 1.2, (1.8131, 0.5633, 0.4479)), (1.0, 2.0, (2.5, 0.75, 0.75))],
)
def test_reference_values(beta: float, t: float, expected: tuple[float, ...]) -> None:
    """Closed forms computed elsewhere, each checked by one decomposition at d = 1500."""
    found = outlier(t, beta)
    assert (found.value, found.left, found.right) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("beta", "t"), [(0.5, 1.5), (2.0, 2.0)])
def test_against_a_matrix(beta: float, t: float) -> None:
    d = 800
    p = round(beta * d)
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal(p), rng.standard_normal(d)
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    left, s, right = np.linalg.svd(
        rng.standard_normal((p, d)) / np.sqrt(d) + t * np.outer(u, v), full_matrices=False
    )
    found = outlier(t, beta)
    assert s[0] == pytest.approx(found.value, rel=0.03)
    assert s[1] == pytest.approx(found.edge, rel=0.03)
    assert (left[:, 0] @ u) ** 2 == pytest.approx(found.left, abs=0.06)
    assert (right[0] @ v) ** 2 == pytest.approx(found.right, abs=0.06)


def test_a_weak_spike_has_no_outlier() -> None:
    beta = 0.3
    below, above = outlier(0.99 * beta**0.25, beta), outlier(1.01 * beta**0.25, beta)
    assert below.value == below.edge == pytest.approx(1 + np.sqrt(beta))
    assert (below.left, below.right) == (0.0, 0.0)
    assert above.value > above.edge and 0 < above.right < 0.1
    assert above.value == pytest.approx(above.edge, rel=1e-3)
