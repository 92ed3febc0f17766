"""The information of exact labels in the limit of perfect recovery.

As V -> 0 the level set of a label is a plane across the gradient of the link, and the label tells
how far z lies along its normal n: I -> E[n n^T / (n^T V n)].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import sobol_normals
from learnability.labels.link import Link

__all__ = ["limit_information", "sampled_slopes"]

Array = NDArray[np.float64]


def sampled_slopes(link: Link) -> Array:
    """Gradients of a link on a sample of z, shape (n, r); zero where they are not finite."""
    z = sobol_normals(link.r, 14, 23)
    with np.errstate(all="ignore"):
        slopes = np.stack([np.asarray(d(z), dtype=float) for d in link.gradient()])
    return np.where(np.isfinite(slopes), slopes, 0.0).T


def limit_information(slopes: Array, V: Array) -> Array:
    """E[n n^T / (n^T V n)], n along the gradient: the information of exact labels as V -> 0.

    Parameters
    ----------
    slopes : array, shape (n, r)
        Gradients of the link.
    V : array, shape (r, r)
        The covariance that is left.
    """
    length = np.einsum("ni,ij,nj->n", slopes, V, slopes)
    use = length > 0
    scaled = slopes[use] / np.sqrt(length[use])[:, None]
    return np.asarray(scaled.T @ scaled) / len(slopes)
