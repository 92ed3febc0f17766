"""Fourier sums between arbitrary points and equidistant frequencies, by fast Fourier transforms.

For points x_j and frequencies t_k = k step, k = 0 ... T - 1,

    forward:   F_k = sum_j c_j exp(i t_k x_j) ,      backward:  f_j = sum_k c_k exp(-i t_k x_j) .

Values are spread onto a grid of twice as many angles by a kernel exp(b (sqrt(1 - u^2) - 1)) of
fourteen cells, or read from it by the same kernel, whose own transform is divided out. The error is
1e-12 of the sum of |c|; the cost is that of the transforms, not of points times frequencies.

References
----------
Barnett, Magland, af Klinteberg, SIAM J. Sci. Comput. 41 (2019) (the kernel).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import legendre

__all__ = ["FourierSums"]

_CELLS = 14
_SHARP = 2.30 * _CELLS


class FourierSums:
    """The sums over one set of points and one set of frequencies.

    Parameters
    ----------
    points : array, shape (q,)
        The points x_j.
    step : float
        The step of the frequencies.
    count : int
        The number T of frequencies.
    """

    def __init__(self, points: NDArray[np.float64], step: float, count: int) -> None:
        from scipy.sparse import csr_array

        self.count = count
        self.grid = 1 << max(math.ceil(math.log2(2 * count + 2 * _CELLS)), 6)
        angle = np.mod(points * step, 2 * math.pi)
        self.middle = np.exp(1j * (count // 2) * angle)  # It makes the frequencies symmetric.
        place = angle * self.grid / (2 * math.pi)
        first = np.ceil(place - _CELLS / 2).astype(int)
        cells = first[:, None] + np.arange(_CELLS)
        u = (cells - place[:, None]) / (_CELLS / 2)
        kernel = np.exp(_SHARP * (np.sqrt(np.maximum(1 - u**2, 0)) - 1))
        rows = np.arange(0, _CELLS * len(points) + 1, _CELLS)
        shape = (len(points), self.grid)
        self.kernel: Any = csr_array((kernel.ravel(), (cells % self.grid).ravel(), rows), shape)
        self.modes = np.arange(count) - count // 2
        x, w = legendre(60)
        wave = np.cos(np.outer(self.modes, x) * (math.pi * _CELLS / self.grid))
        law = w * np.exp(_SHARP * (np.sqrt(1 - x**2) - 1)) * (_CELLS / 2)
        self.window = wave @ law

    def forward(self, values: NDArray[Any]) -> NDArray[np.complex128]:
        """Return sums F (T, k) of values (q, k) at the points."""
        spread = self.kernel.T @ (values * self.middle[:, None])
        found = np.fft.ifft(spread, axis=0)[self.modes] * self.grid
        return np.asarray(found / self.window[:, None])

    def backward(self, values: NDArray[Any]) -> NDArray[np.complex128]:
        """Return sums f (q, k) of values (T, k) at the frequencies."""
        padded = np.zeros((self.grid, values.shape[1]), dtype=complex)
        padded[self.modes] = values / self.window[:, None]
        found = self.kernel @ np.fft.fft(padded, axis=0)
        return np.asarray(found * np.conj(self.middle)[:, None])
