"""The Mehler kernel."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.targets._partitions import hermite_powers
from learnability.theory.mehler import half_recovery, mehler_levels, mehler_values


def test_eigenfunctions_are_hermite_products() -> None:
    # In three dimensions rho = 1/2: sum over products of one-dimensional kernels.
    X = np.random.default_rng(0).standard_normal((4, 3))
    Z = np.random.default_rng(1).standard_normal((5, 3))
    table = 1.0
    for k in range(3):
        a, b = hermite_powers(X[:, k], 60), hermite_powers(Z[:, k], 60)
        table = table * sum(0.5**j * np.outer(a[j], b[j]) / math.factorial(j) for j in range(61))
    np.testing.assert_allclose(mehler_values(X, Z), table, rtol=1e-6)


def test_levels_hold_the_whole_kernel() -> None:
    levels = mehler_levels(12, np.array([0.0, 1.0]), 0.5)
    assert levels.sizes[2] == 78 and levels.eigenvalues[1] == pytest.approx(1 / 6)
    total = float(levels.sizes @ levels.eigenvalues) + levels.tail
    assert total == pytest.approx((1 - 1 / 6) ** -12)
    assert levels.energies[1] == 1 and levels.noise == 0.5


@pytest.mark.parametrize(
    ("degree", "expected"),
    [(2, (1.67, 1.84, 1.92, 1.96)), (3, (2.55, 2.78, 2.89, 2.94)), (4, (3.45, 3.74, 3.88, 3.94))],
)
def test_half_recovery_grows_like_a_power(degree: int, expected: tuple[float, ...]) -> None:
    slopes = [
        math.log2(half_recovery(2 * N, degree) / half_recovery(N, degree)) for N in (8, 16, 32, 64)
    ]
    assert slopes == pytest.approx(expected, abs=0.006)
    assert slopes == sorted(slopes)
    assert degree - 0.08 <= slopes[-1] <= degree
