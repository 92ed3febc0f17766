"""What is reported about a network with order parameters Q and M and second layer a."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.learners.networks.starts import root_of
from learnability.learners.online._averages import nodes_for
from learnability.targets.multi_index import MultiIndex

__all__ = ["aligned", "captured", "cosines", "squared_errors"]

Array = NDArray[np.float64]


def aligned(path: Array, link: Link) -> Array:
    """Overlaps (T, p, r) with P W*, P the symmetry of the link that fits the last of them best."""
    if not np.isfinite(path[-1]).all():
        return path
    turned = [path @ s.matrix.T for s in link.symmetries if s.character == 1]
    return max(turned, key=lambda candidate: float(np.trace(candidate[-1])) + 1e-12)


def cosines(rest: Array, overlap: Array) -> Array:
    """Overlaps (..., p, r) of the rows brought to unit length; `rest` is Q - M M^T."""
    length = np.einsum("...jj->...j", rest) + (overlap**2).sum(axis=-1)
    return np.asarray(overlap / np.sqrt(np.maximum(length, 1e-300))[..., None])


def captured(rest: Array, overlap: Array) -> Array:
    """||P P*||_F^2 / r of the span of the weights, = Tr M^T Q^+ M / r, for arrays (..., p, r)."""
    Q = rest + overlap @ np.swapaxes(overlap, -1, -2)
    found = np.full(overlap.shape[:-2], np.nan)
    known = np.isfinite(Q).all(axis=(-1, -2))
    inverse = np.linalg.pinv(Q[known], rcond=1e-10, hermitian=True)
    M = overlap[known]
    found[known] = np.einsum("njk,njl,nlk->n", M, inverse, M) / overlap.shape[-1]
    return found


def squared_errors(
    target: MultiIndex, activation: Link, rest: Array, overlap: Array, second: Array
) -> Array:
    """E[(f - y)^2] of fresh noisy labels for order parameters (..., p, p), (..., p, r), (..., p).

    An average over a few thousand nodes.
    """
    p = overlap.shape[-2]
    shape = overlap.shape[:-2]
    nodes = nodes_for(target.link, activation, p, 0.0, True, fine=False)[0]
    points = zip(
        rest.reshape(-1, p, p),
        overlap.reshape(-1, p, target.r),
        second.reshape(-1, p),
        strict=True,
    )
    found = []
    for C, M, a in points:
        if not np.isfinite(C).all():
            found.append(np.nan)
            continue
        field = M @ nodes.hidden + root_of(C) @ nodes.own
        f = a @ activation(field[..., None])
        found.append(target.noise + float((f - nodes.y) ** 2 @ nodes.weights))
    return np.array(found).reshape(shape)
