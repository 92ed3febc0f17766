"""Rules with as many nodes as a function needs, against integrals that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.gaussian.rules import gauss_normal, product_grid
from learnability.gaussian.settled_axes import settled_axes


def fast(z: np.ndarray) -> np.ndarray:
    """Fast along the first axis, slow along the second, about a large constant."""
    return 50 + np.sin(20 * z[..., 0]) + np.tanh(z[..., 1])


def test_axes_are_refined_where_a_function_is_fast() -> None:
    axes = settled_axes(fast, [np.zeros(0)] * 2, 40, 1e-6, 100_000)
    assert axes is not None
    assert len(axes[1][0]) == 40 < len(axes[0][0])
    z, w = product_grid(axes)
    x, share = gauss_normal(np.zeros(0), 400)
    exact = 0.5 * (1 - math.exp(-800)) + float(share @ np.tanh(x) ** 2)
    assert float(w @ (fast(z) - 50) ** 2) == pytest.approx(exact, rel=1e-5)
    plain, shares = product_grid([gauss_normal(np.zeros(0), 40)] * 2)
    assert float(shares @ (fast(plain) - 50) ** 2) != pytest.approx(exact, rel=0.1)


def test_a_slow_function_keeps_its_nodes() -> None:
    breaks = [np.array([0.3]), np.zeros(0)]
    axes = settled_axes(lambda z: np.sign(z[:, 0] - 0.3) * z[:, 1], breaks, 24, 1e-9, 10_000)
    assert axes is not None
    assert [len(x) for x, _ in axes] == [24, 24]


@pytest.mark.parametrize("factor", [20.0, np.nan])
def test_what_so_many_nodes_do_not_settle_has_none(factor: float) -> None:
    def function(z: np.ndarray) -> np.ndarray:
        return np.asarray(np.sin(factor * z[:, 0]))

    assert settled_axes(function, [np.zeros(0)], 24, 1e-6, 30) is None
