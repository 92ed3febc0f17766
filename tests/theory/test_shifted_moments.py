"""Gaussian means of shifted functions and their derivatives."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from learnability import Link
from learnability.theory.shifted_moments import shifted_moments, tabulated_moments

Z = np.linspace(-2.5, 3.0, 7)


def test_a_kink_and_its_derivatives() -> None:
    """E relu(z + w v) and its derivatives are those of the normal law."""
    w = 0.7
    found = shifted_moments(Link("relu(z)"), Z, w, 3)
    x = Z / w
    wanted = [Z * norm.cdf(x) + w * norm.pdf(x), norm.cdf(x), norm.pdf(x) / w]
    np.testing.assert_allclose(found, [*wanted, -x * norm.pdf(x) / w**2], atol=1e-12)
    square = shifted_moments(Link("relu(z)"), Z, w, 0, power=2)[0]
    np.testing.assert_allclose(
        square, (Z**2 + w**2) * norm.cdf(x) + w * Z * norm.pdf(x), atol=1e-12
    )


def test_a_polynomial_and_the_table() -> None:
    found = shifted_moments(Link("z**3"), Z, 1.3, 4)
    wanted = [Z**3 + 3 * 1.69 * Z, 3 * Z**2 + 3 * 1.69, 6 * Z, np.full(7, 6.0), np.zeros(7)]
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    table = tabulated_moments(Link("sign(z - 1)"), 4.0, 1.0, 2)
    np.testing.assert_allclose(table(Z), shifted_moments(Link("sign(z - 1)"), Z, 1.0, 2), atol=1e-6)
