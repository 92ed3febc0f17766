"""Overlaps resolved up to the symmetries of the link.

If g(P z) = g(z), the weights W* and P W* give the same data: an overlap is defined only up to such
P. These are the signed permutations that the link reports, and rotations of coordinates on which it
depends through their length alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.inputs import Frame
from learnability.labels.link import Link

__all__ = ["overlaps_in_frame", "resolved", "subspace_overlap"]

Array = NDArray[np.float64]


def subspace_overlap(estimate: NDArray[Any], W: NDArray[Any]) -> float:
    """Return ||P_estimate P_*||_F^2 / r for the row spaces of an estimate (p, d) and W (r, d)."""
    basis, size, _ = np.linalg.svd(np.asarray(estimate, dtype=float).T, full_matrices=False)
    kept = basis[:, size > 1e-6 * max(float(size[0]), 1e-300)]
    return float(np.sum((np.asarray(W, dtype=float) @ kept) ** 2) / len(W))


def overlaps_in_frame(axes: Array, length: Array, frame: Frame) -> dict[str, Array]:
    """Return overlaps with hidden directions and spikes, and correlations with hidden coordinates.

    Parameters
    ----------
    axes : array, shape (..., p, k)
        Coordinates of the weights along the marked axes.
    length : array, shape (..., p)
        Squared lengths of the weights.
    frame : Frame
        The marked axes.

    Returns
    -------
    dict
        `overlap` (..., p, r), `correlation` (..., p, r), and `spike_overlap` (..., p, spikes) where
        there are spikes.
    """
    variance = length + axes**2 @ (frame.scale**2 - 1)
    shared = (axes * frame.scale) @ frame.to_label.T
    found = {
        "overlap": axes @ frame.hidden.T,
        "correlation": shared / np.sqrt(np.maximum(variance, 1e-300))[..., None],
    }
    if frame.spikes:
        found["spike_overlap"] = axes[..., : frame.spikes]
    return found


def resolved(overlap: Array, link: Link) -> Array:
    """Return the overlap (r, r) with P W* for the symmetry P that maximises its trace.

    Parameters
    ----------
    overlap : array, shape (r, r)
        Estimate times W*^T.
    link : Link
        The link g of the target.
    """
    best = overlap
    for symmetry in link.symmetries:
        if symmetry.character == 1:
            turned = overlap @ symmetry.matrix.T
            if np.trace(turned) > np.trace(best) + 1e-12:
                best = turned
    for block in _isotropic_blocks(link):
        rows = np.ix_(range(len(best)), block)
        u, _, vt = np.linalg.svd(best[np.ix_(block, block)])
        best = best.copy()
        best[rows] = best[rows] @ (u @ vt).T
    return best


@lru_cache(maxsize=64)
def _isotropic_blocks(link: Link) -> list[list[int]]:
    """Return groups of coordinates that may be rotated among themselves."""
    z = np.random.default_rng(5).standard_normal((256, link.r))
    value = np.asarray(link(z))
    blocks: list[list[int]] = []
    for i in range(link.r):
        for block in blocks:
            turned = z.copy()
            a, b = z[:, block[0]], z[:, i]
            turned[:, block[0]], turned[:, i] = 0.6 * a - 0.8 * b, 0.8 * a + 0.6 * b
            if np.allclose(link(turned), value, rtol=1e-9, atol=1e-9 * np.abs(value).max()):
                block.append(i)
                break
        else:
            blocks.append([i])
    return [block for block in blocks if len(block) > 1]
