"""The channel step of links of two directions on level sets and cells, which stay the same.

The level set of a label does not change during a run: its points are found once, and g_out of
every iteration is an average over them with Gaussian weights. So are the edges of cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel
from learnability.labels.posterior import box_posterior
from learnability.learners.bayes._surface_step import SurfaceStep
from learnability.theory.cell_edges import cells_of, label_atoms
from learnability.theory.level_points import LevelPoints

__all__ = ["CellStep", "LevelStep", "step_on_levels"]

Array = NDArray[np.float64]

_STEP, _REACH = 0.03, 6.0
_LEAST = 1e-13
"""Smaller probabilities of a label are rounding errors."""


class LevelStep:
    """g_out(y_i, omega_i, V) for the labels of one data set, without noise.

    Parameters
    ----------
    channel : Channel
        A link of two directions whose labels have a density.
    y : array, shape (n,)
        Labels.
    """

    def __init__(self, channel: Channel, y: NDArray[Any]) -> None:
        labels = np.asarray(y, dtype=float)
        order = np.argsort(labels, kind="stable")
        points = LevelPoints(channel.link, _REACH, _STEP).of(labels[order])
        counts = np.diff(points.start)
        self._sample = np.repeat(order, counts)
        self._z = np.ascontiguousarray(points.z.T)
        with np.errstate(divide="ignore"):
            self._log_weight = np.log(points.weight)
        self._met = order[counts > 0]
        self._start = points.start[:-1][counts > 0]
        self._counts = counts[counts > 0]

    def __call__(self, omega: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float32]:
        """Return g_out, shape (r, n); a label that no line meets says nothing."""
        return self._scores(omega, V)[0]

    def log_evidence(self, omega: NDArray[Any], V: NDArray[Any]) -> float:
        """Return the sum of log Z over samples, up to labels that no line meets."""
        _, logs = self._scores(omega, V)
        return float(np.sum(logs) - 0.5 * len(logs) * np.linalg.slogdet(2 * np.pi * V)[1])

    def _scores(self, omega: NDArray[Any], V: NDArray[Any]) -> tuple[NDArray[np.float32], Array]:
        """g_out of all samples, and log Z, up to a constant, of those whose label lines meet."""
        omega = np.asarray(omega, dtype=float)
        inverse = np.linalg.inv(np.asarray(V, dtype=float))
        gap = self._z - omega[:, self._sample]
        turned = inverse @ gap
        exponent = self._log_weight - 0.5 * (gap * turned).sum(axis=0)
        highest = np.maximum.reduceat(exponent, self._start)
        weight = np.exp(exponent - np.repeat(highest, self._counts))
        total = np.add.reduceat(weight, self._start)
        found = np.zeros(omega.shape, dtype=np.float32)
        for axis, row in enumerate(turned):
            found[axis, self._met] = np.add.reduceat(weight * row, self._start) / total
        return found, highest + np.log(total)


class CellStep:
    """The same for a link with finitely many values whose cells are no boxes.

    Lines of a fixed grid are cut where the label changes; on each line the posterior is a normal
    law restricted to some intervals.
    """

    def __init__(self, channel: Channel, y: NDArray[Any]) -> None:
        atoms = label_atoms(channel.link)
        cells = cells_of(channel.link, atoms, (1.0, 0.0, 0.0, 1.0), _REACH, _STEP)
        labels = np.abs(np.asarray(y, dtype=float)[:, None] - np.array(atoms)).argmin(axis=1)
        self._axis, self._lines = cells.axis, cells.outer[:, 0]
        self._groups = []
        for index in range(len(atoms)):
            sign = (cells.after == index).astype(float) - (cells.before == index)
            use = np.nonzero(sign)[0]
            full = (cells.first == index).astype(float)
            members = np.nonzero(labels == index)[0]
            self._groups.append((members, cells.line[use], cells.place[use], sign[use], full))

    def __call__(self, omega: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float32]:
        """Return g_out, shape (2, n)."""
        return self._scores(omega, V)[0]

    def log_evidence(self, omega: NDArray[Any], V: NDArray[Any]) -> float:
        """Return the sum of log Z over samples."""
        return self._scores(omega, V)[1]

    def _scores(self, omega: NDArray[Any], V: NDArray[Any]) -> tuple[NDArray[np.float32], float]:
        """g_out of all samples, and the sum of log Z."""
        from scipy.special import ndtr

        a, b = self._axis, 1 - self._axis
        V = np.asarray(V, dtype=float)
        slope = V[a, b] / V[b, b]
        spread = np.sqrt(max(V[a, a] - slope * V[a, b], 1e-12))
        found, evidence = np.zeros(omega.shape, dtype=np.float32), 0.0
        for members, line, place, sign, full in self._groups:
            for part in np.array_split(members, max(1, len(members) * len(line) // 2_000_000)):
                centre = np.asarray(omega[:, part], dtype=float)
                gap = self._lines[:, None] - centre[b]
                weight = np.exp(-0.5 * gap**2 / V[b, b])
                weight = weight / np.maximum(weight.sum(axis=0), 1e-300)
                t = (place[:, None] - centre[a] - slope * gap[line]) / spread
                at_edge = sign[:, None] * weight[line]
                beyond = at_edge * ndtr(-t)
                edge = spread / np.sqrt(2 * np.pi) * (at_edge * np.exp(-0.5 * t**2)).sum(axis=0)
                whole = full[:, None] * weight
                mass = np.maximum(beyond.sum(axis=0) + whole.sum(axis=0), _LEAST)
                evidence += float(np.log(mass).sum())
                along = (beyond * gap[line]).sum(axis=0) + (whole * gap).sum(axis=0)
                first = np.empty_like(centre)
                first[b], first[a] = along, slope * along + edge
                found[:, part] = np.linalg.solve(V, first / mass)
        return found, evidence


def step_on_levels(channel: Channel, y: NDArray[Any]) -> LevelStep | CellStep | SurfaceStep | None:
    """Return the step of a link of two to four directions without noise; None for all others.

    In the plane, lines that stay throughout are close enough for kinks and jumps.
    """
    link = channel.link
    if link.r < 2 or channel.noise > 0 or channel.law is not None:
        return None
    if box_posterior(channel) is not None:
        return None
    if link.values is not None:
        return CellStep(channel, y) if link.r == 2 else None
    if label_atoms(link):
        return None
    return SurfaceStep(channel, y) if link.r > 2 or link.breaks == () else LevelStep(channel, y)
