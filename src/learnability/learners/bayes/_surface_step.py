"""The channel step of links of three directions, on the level surface of each label.

With z = omega + L t and V = L L^T, the density of a label is an integral over a surface,
Z = int_{g = y} N(z; omega, V) dS / |grad g|, and g_out = L^{-T} E[t | y]. The surface does not depend
on omega and V: its points stay, with new Gaussian weights, until omega has left the centre of the
grid on which they were found, or V is no longer that of the grid.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel
from learnability.learners.bayes._surface_points import SurfacePoints, surface_points

__all__ = ["SurfaceStep"]

Array = NDArray[np.float64]
Single = NDArray[np.float32]

_MOVED = 0.8
"""Points are found anew for means that have moved so far, in standard deviations of the grid, and
then for all that have moved half as far."""
_NARROWER, _WIDER = 0.65, 1.25
"""They are so for all means when a variance is so many times that of the grid."""
_LEAST = 1e-30
"""Density of a label that no line meets: it says nothing."""


class SurfaceStep:
    """g_out(y_i, omega_i, V) for the labels of one data set, without noise.

    Parameters
    ----------
    channel : Channel
        A link whose labels have a density.
    y : array, shape (n,)
        Labels.
    """

    def __init__(self, channel: Channel, y: NDArray[Any]) -> None:
        self._link = channel.link
        self._y = np.asarray(y, dtype=np.float32)
        self._root: Array | None = None
        self._centre = np.zeros((channel.link.r, len(self._y)), dtype=np.float32)
        self._points: SurfacePoints

    def __call__(self, omega: NDArray[Any], V: NDArray[Any]) -> Single:
        """Return g_out, shape (r, n); a label that no line meets says nothing."""
        return self._scores(omega, V)[0]

    def log_evidence(self, omega: NDArray[Any], V: NDArray[Any]) -> float:
        """Return the sum of log Z over samples."""
        density = self._scores(omega, V)[1].astype(float)
        return float(np.log(np.maximum(density, _LEAST)).sum())

    def _scores(self, omega: NDArray[Any], V: NDArray[Any]) -> tuple[Single, Single]:
        """g_out (r, n) and Z (n,) of all samples."""
        omega = np.asarray(omega, dtype=np.float32)
        root = np.linalg.cholesky(np.asarray(V, dtype=float))
        self._follow(omega, root)
        points = self._points
        inverse = np.linalg.inv(root).astype(np.float32)
        t = inverse @ points.z
        t -= np.repeat((inverse @ omega)[:, points.sample], points.count, axis=1)
        weight = points.weight * np.exp(-0.5 * np.einsum("in,in->n", t, t))
        sums = np.zeros((1 + len(omega), omega.shape[1]), dtype=np.float32)
        if len(points.count):
            start = np.cumsum(points.count) - points.count
            rows = (weight, *(weight * t))
            sums[:, points.sample] = [np.add.reduceat(row, start) for row in rows]
        mean = sums[1:] / np.maximum(sums[0], _LEAST)
        scale = math.sqrt(2 * math.pi) ** len(root) * float(np.prod(np.diag(root)))
        return inverse.T @ mean, sums[0] / np.float32(scale)

    def _follow(self, omega: Single, root: Array) -> None:
        """Find points anew where those at hand were found too far away."""
        everything = np.arange(omega.shape[1])
        if self._root is None or _other_width(self._root, root):
            self._root, self._centre = root, omega.copy()
            self._points = surface_points(self._link, everything, omega, self._y, root)
            return
        inverse = np.linalg.inv(self._root).astype(np.float32)
        gap = inverse @ (omega - self._centre)
        square = np.einsum("in,in->n", gap, gap)
        if square.max() <= _MOVED**2:
            return
        moved = everything[square > 0.25 * _MOVED**2]
        self._centre[:, moved] = omega[:, moved]
        new = surface_points(self._link, moved, omega, self._y, self._root)
        self._points = self._points.replaced(moved, new)


def _other_width(old: Array, new: Array) -> bool:
    """Whether a covariance, given by its root, is too small or too large for a grid of another."""
    ratio = np.linalg.solve(old, new)
    values = np.linalg.eigvalsh(ratio @ ratio.T)
    return bool(values[0] < _NARROWER or values[-1] > _WIDER)
