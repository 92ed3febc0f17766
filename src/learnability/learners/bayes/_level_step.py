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
from learnability.learners.bayes._surface_step import SurfaceStep, other_width
from learnability.theory.cell_edges import cells_of, label_atoms
from learnability.theory.level_points import LevelPoints

__all__ = ["CellStep", "LevelStep", "step_on_levels"]

Array = NDArray[np.float64]
Single = NDArray[np.float32]

_STEP, _REACH = 0.03, 6.0
_PART = 128
"""Samples whose points are handled at a time, and stay in cache."""
_FAR, _MOVED, _NARROWER = 8.0, 1.0, 0.5
"""Points so many standard deviations beyond the nearest are left out, until a mean has moved by so
many, or a variance is so much smaller: their weights are below 1e-9."""
_LEAST = 1e-13
"""Smaller probabilities of a label are rounding errors."""


class LevelStep:
    """g_out(y_i, omega_i, V) for the labels of one data set, without noise.

    Lines lie so far apart that a variance below the square of their distance is raised to it: the
    scores are then those of a wider posterior, and still no noise.

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
        z = points.z.T.astype(np.float32)
        with np.errstate(divide="ignore"):
            log_weight = np.log(points.weight).astype(np.float32)
        counts = np.diff(points.start)
        self._parts = []
        for first in range(0, len(order), _PART):
            own = counts[first : first + _PART]
            rows = slice(points.start[first], points.start[first] + own.sum())
            met = order[first : first + _PART][own > 0]
            if len(met):
                near = _Near(z[:, rows], log_weight[rows], own[own > 0])
                self._parts.append((met, near))

    def __call__(self, omega: NDArray[Any], V: NDArray[Any]) -> Single:
        """Return g_out, shape (r, n); a label that no line meets says nothing."""
        return self._scores(omega, V)[0]

    def with_information(self, omega: NDArray[Any], V: NDArray[Any]) -> tuple[Single, Array]:
        """Return g_out (r, n), and minus the sum of its derivatives (r, r)."""
        g, _, information = self._scores(omega, V)
        return g, information

    def log_evidence(self, omega: NDArray[Any], V: NDArray[Any]) -> float:
        """Return the sum of log Z over samples, up to labels that no line meets."""
        return self._scores(omega, V)[1]

    def _scores(self, omega: NDArray[Any], V: NDArray[Any]) -> tuple[Single, float, Array]:
        """g_out of all samples, the sum of log Z up to a constant, and -sum of dg / d omega."""
        omega, V = np.asarray(omega, dtype=np.float32), np.asarray(V, dtype=float)
        V = V + max(_STEP**2 - float(np.linalg.eigvalsh(V)[0]), 0.0) * np.eye(len(V))
        inverse = np.linalg.inv(V)
        found, squares = np.zeros(omega.shape, dtype=np.float32), np.zeros_like(V)
        evidence, count = 0.0, 0
        for met, near in self._parts:
            found[:, met], logs, own = near.scores(omega[:, met], V, inverse)
            evidence += float(np.sum(logs, dtype=float))
            squares += own
            count += len(met)
        evidence -= 0.5 * count * float(np.linalg.slogdet(2 * np.pi * V)[1])
        g = found.astype(float)
        return found, evidence, count * inverse - squares + g @ g.T


class _Near:
    """Points of the level sets of some samples, of which those near the means are looked at.

    Parameters
    ----------
    z : array, shape (r, p)
        Points, those of one sample next to each other.
    log_weight : array, shape (p,)
        Logarithms of area over gradient.
    counts : array of int, shape (m,)
        How many points each sample has; at least one.
    """

    def __init__(self, z: Single, log_weight: Single, counts: NDArray[np.intp]) -> None:
        self._all = z, log_weight, counts
        self._near = self._all
        self._inverse: Array | None = None
        self._centre = z[:, :0]

    def scores(self, omega: Single, V: Array, inverse: Array) -> tuple[Single, Single, Array]:
        """g_out (r, m), log Z (m,), and the sum of E[v v^T | y], v = V^{-1} (z - omega)."""
        self._follow(omega, V)
        z, log_weight, counts = self._near
        start = np.cumsum(counts) - counts
        gap = z - np.repeat(omega, counts, axis=1)
        turned = inverse.astype(np.float32) @ gap
        exponent = log_weight - np.float32(0.5) * np.einsum("ip,ip->p", gap, turned)
        highest = np.maximum.reduceat(exponent, start)
        weight = np.exp(exponent - np.repeat(highest, counts))
        total = np.add.reduceat(weight, start)
        weight /= np.repeat(total, counts)
        weighted = weight * turned
        g = np.add.reduceat(weighted, start, axis=1)
        return g, highest + np.log(total), (weighted @ turned.T).astype(float)

    def _follow(self, omega: Single, V: Array) -> None:
        """Choose points anew when means have moved, or the covariance is not that of last time."""
        root = np.linalg.cholesky(V)
        if self._inverse is not None:
            same = not other_width(self._inverse @ root, _NARROWER)
            moved = self._inverse.astype(np.float32) @ (omega - self._centre)
            if same and float(np.einsum("im,im->m", moved, moved).max()) <= _MOVED**2:
                return
        self._inverse, self._centre = np.asarray(np.linalg.inv(root)), omega.copy()
        z, log_weight, counts = self._all
        t = self._inverse.astype(np.float32) @ (z - np.repeat(omega, counts, axis=1))
        distance = np.sqrt(np.einsum("ip,ip->p", t, t))
        start = np.cumsum(counts) - counts
        least = np.minimum.reduceat(distance, start)
        near = distance <= np.repeat(least + np.float32(_FAR), counts)
        self._near = z[:, near], log_weight[near], np.add.reduceat(near.astype(np.intp), start)


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
