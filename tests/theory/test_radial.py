"""Ridge regression whose weights depend on the radius."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.theory.equivalent import errors
from learnability.theory.mehler import mehler_levels, mehler_trace
from learnability.theory.radial import RadialTarget, _basis, radial_fit


@pytest.mark.parametrize("D", [1, 3, 8, 64])
def test_the_basis(D: int) -> None:
    """Radial functions are orthonormal, and with all angles they make up the kernel."""
    _, p, sizes, tables = _basis(D, 150.0)
    rho = min(2 / D, 0.5)
    for a, table in enumerate(tables):
        plain = table / rho ** ((a + 2 * np.arange(table.shape[1])) / 2)
        gram = (plain * p[:, None]).T @ plain
        np.testing.assert_allclose(gram[:5, :5], np.eye(5), atol=1e-6)
    trace = sum(m * float(p @ np.sum(t**2, axis=1)) for m, t in zip(sizes, tables, strict=True))
    assert trace == pytest.approx(mehler_trace(D), rel=0.02)


def test_many_dimensions_forget_the_radius() -> None:
    """D = 200: the usual equivalent, to 2 percent."""
    energies = np.zeros(13)
    energies[[1, 2, 3]] = 0.3, 0.5, 0.2
    radial, squares = np.zeros(3), np.array([1.1, 0.0, 0.0])
    target = RadialTarget(radial, energies, squares, np.zeros((1, 3)), np.zeros((1, 13)))
    for n in (500, 20_000):
        usual = errors(mehler_levels(200, energies, 0.1), n, np.inf, 1.0).test
        assert radial_fit(target, 200, n, 1.0).error == pytest.approx(usual, rel=0.02)
