"""Fourier sums at any points against the sums themselves."""

from __future__ import annotations

import numpy as np

from learnability.targets._fourier import FourierSums


def test_both_directions() -> None:
    rng = np.random.default_rng(0)
    x, step, count = rng.uniform(-30, 50, 300), 0.05, 333
    sums = FourierSums(x, step, count)
    wave = np.exp(1j * np.outer(np.arange(count) * step, x))
    values = rng.standard_normal((300, 2))
    np.testing.assert_allclose(sums.forward(values), wave @ values, atol=1e-9)
    values = rng.standard_normal((count, 2)) + 1j * rng.standard_normal((count, 2))
    np.testing.assert_allclose(sums.backward(values), wave.conj().T @ values, atol=1e-9)
