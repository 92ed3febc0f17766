"""Points of the theory of spiked inputs: nodes of the law of the inputs, or training sets.

The label depends on the coordinates u along the L spikes and on m directions s of the bulk,
z = A (u, s). Of what is linear in the bulk those directions are kept as they are: their features
s_j phi(u) / sqrt(d) stand beside psi(u). With one spike and one hidden coordinate integrals are
taken by rules that are split at the breaks of the link, otherwise over Sobol points. A label with a
large mean sees that features change with the length of the bulk, which is kept too then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import gauss_normal
from learnability.inputs.base import Frame
from learnability.learners.lazy._spiked_kernel import SpikedKernel, wide_normals
from learnability.learners.lazy._spiked_regression import Points
from learnability.learners.measurement import lengths_count
from learnability.targets.base import Target
from learnability.theory.equivalent import Levels

__all__ = ["SCRAMBLES", "Spikes", "fresh_points", "spiked_levels", "training_points"]

Array = NDArray[np.float64]
_OTHER_NODES = 48
_PARALLEL = 1e-9  # A smaller squared weight of the bulk in the label counts as zero.
SCRAMBLES = 4
"""Sets of Sobol points, whose scatter is the standard error."""


@dataclass(frozen=True)
class Spikes:
    """The spikes of the inputs, and their weights and those of the bulk in the label.

    Attributes
    ----------
    t : array, shape (L,)
        (1 + theta) / d of every spike.
    along : array, shape (r, L)
        Weights of u in the hidden coordinates.
    across : array, shape (r, m)
        Weights of the directions s of the bulk in the hidden coordinates.
    turn : array, shape (k - L, m)
        The directions s in terms of the marked axes of the bulk.
    """

    t: Array
    along: Array
    across: Array
    turn: Array

    @staticmethod
    def of(frame: Frame, d: int) -> Spikes:
        """Return the spikes of a frame in dimension d."""
        count = frame.spikes
        left, sizes, right = np.linalg.svd(frame.to_label[:, count:], full_matrices=False)
        seen = sizes**2 >= _PARALLEL
        across = (left * sizes)[:, seen]
        return Spikes(
            frame.scale[:count] ** 2 / d, frame.to_label[:, :count], across, right[seen].T
        )

    @property
    def exact(self) -> bool:
        """Whether there are one hidden coordinate and one spike, so that no points are sampled."""
        return self.along.shape == (1, 1)


def fresh_points(parts: SpikedKernel, spikes: Spikes, target: Target, d: int, seed: int) -> Points:
    """Return nodes of the law of the inputs, with labels without noise.

    Parameters
    ----------
    parts : SpikedKernel
        The parts of the kernel.
    spikes : Spikes
        The spikes of the inputs.
    target : Target
        Whose link gives the labels.
    d : int
        Dimension.
    seed : int
        The seed of the Sobol points, where they are needed.
    """
    count, both = len(spikes.t), lengths_count(target, 2 / d)
    if not spikes.exact:
        c, weights = wide_normals(seed, count, spikes.across.shape[1])
        h = c @ np.hstack([spikes.along, spikes.across]).T
        return _points(parts, c, count, np.asarray(target.link(h), dtype=float), weights, d, both)
    p = float(spikes.along[0, 0])
    h, weights = parts.nodes(target.link)
    if not spikes.across.size:
        c = math.copysign(1.0, p) * h[:, None]
    else:
        q = float(spikes.across[0, 0])
        k, shares = gauss_normal(np.zeros(0), _OTHER_NODES)
        c = np.stack([p * h[:, None] - q * k, q * h[:, None] + p * k], axis=-1).reshape(-1, 2)
        weights = np.outer(weights, shares).ravel()
        h = np.repeat(h, len(k))
    return _points(parts, c, 1, np.asarray(target.link(h[:, None]), dtype=float), weights, d, both)


def training_points(
    parts: SpikedKernel, spikes: Spikes, target: Target, seed: int, n: int, d: int
) -> Points:
    """Return the training set of a seed, with its noisy labels; see `fresh_points`."""
    count = len(spikes.t)
    X, y, _, _ = target.sample(seed, n=n, d=d)
    axes = target.inputs.directions(seed, target.r, d).marked
    c = X @ axes.T
    length: Array | bool = False
    if lengths_count(target, 2 / d):
        beside, free = np.sum(X**2, axis=1) - np.sum(c[:, :count] ** 2, axis=1), d - count
        length = (beside - free) / math.sqrt(2 * free)
    u = c[:, :count] / np.sqrt(spikes.t * d)
    c = np.hstack([u, c[:, count:] @ spikes.turn])
    y = np.asarray(y, dtype=float)
    return _points(parts, c, count, y, np.full(n, 1 / n), d, length)


def _points(
    parts: SpikedKernel,
    c: Array,
    count: int,
    label: Array,
    weights: Array,
    d: int,
    length: Array | bool = False,
) -> Points:
    """Return points with the standardised squared lengths of their bulk; True: of both signs."""
    u, s = c[:, :count], c[:, count:]
    kept, bulk, rest = parts.mean(u), parts.linear(u), parts.rest(u)
    directions = [bulk * (s[:, [j]] / math.sqrt(d)) for j in range(s.shape[1])]
    if length is False or parts.stretch is None or not kept.size:
        return Points(np.hstack([kept, *directions]), bulk, rest, label, weights, count)
    change = parts.stretch(u)
    if not isinstance(length, bool):
        kept = kept + length[:, None] * change
        return Points(np.hstack([kept, *directions]), bulk, rest, label, weights, count)
    # All is linear in the length, so that two nodes of it are exact; s has its own part in it.
    own = np.sum(s**2 - 1, axis=1) / math.sqrt(2 * (d - count))
    both = np.vstack(
        [np.hstack([kept + (sign + own)[:, None] * change, *directions]) for sign in (1.0, -1.0)]
    )
    return Points(
        both,
        np.tile(bulk, (2, 1)),
        np.tile(rest, 2),
        np.tile(label, 2),
        np.tile(0.5 * weights, 2),
        count,
    )


def spiked_levels(at: Points, d: int, noise: float) -> Levels:
    """Return levels of the kernel: those kept have one function, those of the bulk d - L.

    Parameters
    ----------
    at : Points
        Nodes of the law of the inputs.
    d : int
        Dimension.
    noise : float
        Variance of the label noise.
    """
    w = at.weights
    values, vectors = np.linalg.eigh((at.kept * w[:, None]).T @ at.kept)
    values = np.maximum(values, 0.0)
    seen = values > 1e-14 * values.max(initial=0.0)
    values, vectors = values[seen], vectors[:, seen]
    energies = ((at.kept @ vectors).T @ (w * at.label)) ** 2 / values
    bulk = np.maximum(np.linalg.eigvalsh((at.bulk * w[:, None]).T @ at.bulk), 0.0) / d
    left = float(w @ at.label**2) - float(energies.sum())
    return Levels(
        np.concatenate([values, bulk]),
        np.concatenate([np.ones(len(values)), np.full(len(bulk), float(d - at.spikes))]),
        np.concatenate([energies, np.zeros(len(bulk))]),
        float(w @ at.rest),
        max(left, 0.0) + noise,
    )
