"""The channel step on points of level sets that are found around each mean and stay for a while.

With z = omega + L t and V = L L^T, the density of a label is an integral over its level set,
Z = int_{g = y} N(z; omega, V) dS / |grad g|, and g_out = L^{-T} E[t | y]. The level set does not
depend on omega and V: its points stay, with new Gaussian weights, until omega has left the centre
of the grid on which they were found, or V is no longer that of the grid.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel
from learnability.labels.link import Link
from learnability.theory.surface_points import SurfacePoints, surface_points

__all__ = ["SurfaceStep", "other_width"]

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Indices = NDArray[np.intp]

_MOVED = 0.8
"""Points are found anew for means that have moved so far, in standard deviations of the grid, and
then for all that have moved half as far."""
_NARROWER, _WIDER = {2: 0.12, 3: 0.5, 4: 0.65}, 1.25
"""They are so for all means when a variance is so many times that of the grid: finer lines
serve for longer."""
_PART = 128
"""Samples whose points are handled at a time, and stay in cache."""
_MOST_KEPT = 30_000_000
"""Points beyond so many are found anew in every step: each takes sixteen bytes or less."""
_UNMET = 1e-30
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
        y = np.asarray(y, dtype=np.float32)
        self._rows = [slice(start, start + _PART) for start in range(0, len(y), _PART)]
        self._parts = [_Followed(channel.link, y[rows]) for rows in self._rows]

    def __call__(self, omega: NDArray[Any], V: NDArray[Any]) -> Single:
        """Return g_out, shape (r, n); a label that no line meets says nothing."""
        return self._scores(omega, V)[0]

    def with_information(self, omega: NDArray[Any], V: NDArray[Any]) -> tuple[Single, Array]:
        """Return g_out (r, n), and minus the sum of its derivatives (r, r)."""
        g, _, information = self._scores(omega, V)
        return g, information

    def log_evidence(self, omega: NDArray[Any], V: NDArray[Any]) -> float:
        """Return the sum of log Z over samples."""
        density = self._scores(omega, V)[1].astype(float)
        return float(np.log(np.maximum(density, _UNMET)).sum())

    def _scores(self, omega: NDArray[Any], V: NDArray[Any]) -> tuple[Single, Single, Array]:
        """g_out (r, n) and Z (n,) of all samples, and -sum of dg / d omega (r, r)."""
        omega = np.asarray(omega, dtype=np.float32)
        root = np.linalg.cholesky(np.asarray(V, dtype=float))
        inverse = np.linalg.inv(root)
        sums = np.zeros((1 + len(omega), omega.shape[1]), dtype=np.float32)
        kept, squares = 0, np.zeros_like(root)
        for part, rows in zip(self._parts, self._rows, strict=True):
            part.follow(omega[:, rows], root, inverse)
            squares += part.add_up(omega[:, rows], inverse.astype(np.float32), sums[:, rows])
            kept += len(part.points.weight)
            if kept > _MOST_KEPT:
                part.forget()
        mean = sums[1:] / np.maximum(sums[0], _UNMET)
        scale = math.sqrt(2 * math.pi) ** len(root) * float(np.prod(np.diag(root)))
        g = inverse.T.astype(np.float32) @ mean
        met = np.count_nonzero(sums[0] > _UNMET)
        own = inverse.T @ (met * np.eye(len(root)) - squares) @ inverse
        return g, sums[0] / np.float32(scale), own + g.astype(float) @ g.T.astype(float)


class _Followed:
    """Points of the level sets of some samples, found anew as their means and variances move."""

    def __init__(self, link: Link, y: Single) -> None:
        self._link, self._y = link, y
        self.forget()

    def forget(self) -> None:
        """Keep no points."""
        self._root, self._inverse = np.zeros((0, 0)), np.zeros((0, 0))
        self._centre = np.zeros((self._link.r, 0), dtype=np.float32)
        self.points = SurfacePoints.none(self._link.r)

    def follow(self, omega: Single, root: Array, inverse: Array) -> None:
        """Find points anew where those at hand were found too far away."""
        if not self._root.size or other_width(self._inverse @ root, _NARROWER[len(root)]):
            self._root, self._inverse, self._centre = root, inverse, omega.copy()
            self.points = self._found(np.arange(omega.shape[1]), omega)
            return
        square = self._square(omega - self._centre)
        if square.max() > _MOVED**2:
            moved = np.nonzero(square > 0.25 * _MOVED**2)[0]
            self.points = self.points.replaced(moved, self._found(moved, omega))

    def _found(self, samples: Indices, omega: Single) -> SurfacePoints:
        """New points of some samples, on grids around their means or around zero.

        Where a mean is next to zero the grid has the symmetries of the link, and scores that
        vanish with the mean do so without an error.
        """
        small = self._square(omega[:, samples]) <= 0.5 * _MOVED**2
        self._centre[:, samples] = np.where(small, np.float32(0.0), omega[:, samples])
        return surface_points(self._link, samples, self._centre, self._y, self._root)

    def _square(self, gap: Single) -> Single:
        """Squared lengths (n,) of vectors (r, n), in standard deviations of the grid."""
        turned = self._inverse.astype(np.float32) @ gap
        return np.asarray(np.einsum("in,in->n", turned, turned))

    def add_up(self, omega: Single, inverse: Single, sums: Single) -> Array:
        """Write sums of Gaussian weights, and of these times t, into an array (1 + r, n).

        Returns the sum of E[t t^T | y] over samples, shape (r, r).
        """
        points = self.points
        if not len(points.number):
            return np.zeros(inverse.shape)
        t = inverse @ points.z
        t -= np.repeat((inverse @ omega)[:, points.sample], points.number, axis=1)
        weight = points.weight * np.exp(-0.5 * np.einsum("in,in->n", t, t))
        start = np.cumsum(points.number) - points.number
        weighted = weight * t
        total = np.add.reduceat(weight, start)
        sums[0, points.sample] = total
        sums[1:, points.sample] = np.add.reduceat(weighted, start, axis=1)
        share = np.where(total > _UNMET, 1 / np.maximum(total, _UNMET), np.float32(0.0))
        weighted *= np.repeat(share.astype(np.float32), points.number)
        return np.asarray(weighted @ t.T, dtype=float)


def other_width(ratio: Array, narrower: float) -> bool:
    """Whether a covariance is so much smaller than that of a grid, or larger, from their roots."""
    values = np.linalg.eigvalsh(ratio @ ratio.T)
    return bool(values[0] < narrower or values[-1] > _WIDER)
