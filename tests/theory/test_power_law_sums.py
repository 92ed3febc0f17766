"""Sums over power laws."""

from __future__ import annotations

import pytest
from scipy.special import zeta

from learnability.theory._power_law_sums import power_law


@pytest.mark.parametrize(("alpha", "r"), [(1.2, 0.3), (2.0, 0.5), (3.0, 1.4)])
def test_an_endless_law_sums_to_the_zeta_function(alpha: float, r: float) -> None:
    law = power_law(alpha, r, None)
    assert law.sizes @ law.eigenvalues == pytest.approx(zeta(alpha), rel=1e-7)
    assert law.energies.sum() == pytest.approx(zeta(2 * alpha * r + 1), rel=1e-7)


def test_many_levels_are_summed_like_few() -> None:
    exact, nodes = (power_law(1.3, 0.4, levels) for levels in (200_000, 200_001))
    assert len(nodes.sizes) < 1000 < len(exact.sizes)
    assert nodes.sizes @ nodes.eigenvalues == pytest.approx(exact.eigenvalues.sum(), rel=1e-6)
