"""The error on fresh samples, from the order parameters alone.

The fields of a fresh sample are normal: lambda = M z + (Q - M M^T)^(1/2) t with the covariances
Q = W Sigma W^T and M = W Sigma^(1/2) U^T, where the rows of U are those of W* Sigma^(1/2) made
orthonormal. So no test set in dimension d is drawn. For isotropic inputs Q = W W^T, M = W W*^T.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import sobol_normals
from learnability.labels.channel import Channel
from learnability.learners.batch._descent import Covariance
from learnability.learners.batch._network import Network
from learnability.learners.networks.known_moments import knowing_weights
from learnability.targets.multi_index import MultiIndex

__all__ = ["error_path", "explained", "field_covariance"]

Array = NDArray[np.float64]

_LOG2_POINTS = 15


def field_covariance(target: MultiIndex, seed: int, d: int) -> Covariance | None:
    """Return covariances of fields W x with each other and with the hidden coordinates.

    Parameters
    ----------
    target : MultiIndex
        A target with Gaussian inputs.
    seed, d : int
        The seed and the dimension of the run.

    Returns
    -------
    callable or None
        Weights (p, d) -> (Q, M); None where Sigma is the identity.
    """
    directions = target.inputs.directions(seed, target.r, d)
    probe = np.ones((1, d))
    if np.array_equal(target.inputs.apply(probe, directions), probe):
        return None
    covered, hidden = target.inputs.apply(directions.hidden, directions), directions.hidden
    values, vectors = np.linalg.eigh(covered @ hidden.T)
    readers = (vectors / np.sqrt(values)) @ vectors.T @ covered  # z = (W* S W*^T)^(-1/2) W* x.

    def moments(W: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        rows = np.asarray(W, dtype=float)
        return target.inputs.apply(rows, directions) @ rows.T, rows @ readers.T

    return moments


def error_path(channel: Channel, network: Network, gram: Array, overlap: Array, seed: int) -> Array:
    """Return the mean squared error E (f - y)^2 against the noisy label, along a path.

    Parameters
    ----------
    channel : Channel
        The law of the labels.
    network : Network
        The network whose error is computed.
    gram, overlap : array, shapes (k, p, p) and (k, p, r)
        Q and M of the fields.
    seed : int
        The seed of the scrambled Sobol points; other seeds have independent errors.

    Returns
    -------
    array, shape (k,)
        NaN where the order parameters are not finite.
    """
    r = channel.link.r
    points = sobol_normals(r + network.width, _LOG2_POINTS, seed).T
    clean, noise = np.asarray(channel.link(points[:r].T)), channel.label_noise
    even = np.full(len(clean), 1 / len(clean))
    known = knowing_weights(clean, channel.label_mean, channel.label_variance - noise, even)
    found = np.full(len(gram), np.nan)
    for t, (Q, M) in enumerate(zip(gram, overlap, strict=True)):
        if np.isfinite(Q).all() and np.isfinite(M).all():
            values, vectors = np.linalg.eigh(Q - M @ M.T)
            spread = vectors * np.sqrt(np.maximum(values, 0.0))
            output = network.output(M @ points[:r] + spread @ points[r:])
            found[t] = max(float((output - clean) ** 2 @ known), 0.0) + noise
    return found


def explained(gram: Array, overlap: Array) -> tuple[Array, Array]:
    """Return cosines with the hidden directions and the share of their span that neurons span.

    Parameters
    ----------
    gram, overlap : array, shapes (..., p, p) and (..., p, r)
        W W^T and W W*^T.

    Returns
    -------
    cosine : array, shape (..., p, r)
    subspace_overlap : array, shape (...)
    """
    length = np.sqrt(np.einsum("...jj->...j", gram))
    cosine = overlap / np.maximum(length, 1e-150)[..., None]
    finite = np.asarray(np.isfinite(gram).all(axis=(-1, -2)))
    safe = np.where(finite[..., None, None], gram, np.eye(gram.shape[-1]))
    inverse = np.linalg.pinv(safe, rcond=1e-10, hermitian=True)
    share = np.einsum("...jk,...ji,...ik->...", overlap, inverse, overlap) / overlap.shape[-1]
    return cosine, np.where(finite, share, np.nan)
