"""New directions once some are known: what the label still says given their coordinates.

With known coordinates t the label is replaced by its residual: the rank of a number given t, a
class indicator less its probability given t. Residual functions e_j times {1, t_a} make features f
whose moments with the white rows outside the known directions vanish unless there is more to find,

    m_f = E[f z],      S_f = E[f (z z^T - I)];

the leading singular vectors of the first and the extreme eigenvectors of the second are the
proposals, the strongest against the edge of its null law first. An odd step, such as that of z2 in
sign(z1 z2), is visible in m_f, and an even one, such as (z2, z3) in z1^2 + sign(z1 z2 z3), in S_f.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from learnability.estimators._blind_amp import WhiteRows
from learnability.estimators._channel import standardised
from learnability.estimators._labels import Labels, mid_ranks
from learnability.estimators._location_channel import LocationChannel
from learnability.estimators._logit_channel import LogitChannel, bins_of

__all__ = ["proposals", "residual_features", "residual_labels", "strength"]

Array = NDArray[np.float64]


def residual_labels(labels: Labels, t: Array) -> tuple[Labels, Array]:
    """What is left of the labels given standard coordinates t (n, s).

    Returns
    -------
    tuple
        Labels to go on with (ranks given t; classes stay what they are), and residual functions of
        mean zero, shape (m, n).
    """
    n = len(t)
    if labels.kind == "classes":
        bins = bins_of(labels, 0, 0)
        law = LogitChannel(4 if t.shape[1] < 3 else 2, 2.0).fit(t, bins, 8).law(t, bins)
        seen = np.zeros_like(law)
        seen[np.arange(n), labels.codes] = 1.0
        return labels, ((seen - law) @ bins.psi).T
    mean, log_variance = (
        LocationChannel(width=0.6 if t.shape[1] == 1 else 1.0).fit(t, labels.scores).law(t)
    )
    ranks = ndtr((labels.scores - mean) / np.exp(log_variance / 2))
    codes = np.argsort(np.argsort(ranks))
    u = mid_ranks(codes, np.ones(n))
    e = np.sqrt(2) * np.cos(np.pi * np.arange(1, 3)[:, None] * u)
    return Labels("numbers", codes, u, np.arange(n)), e


def residual_features(labels: Labels, t: Array) -> Array:
    """Features of what the label says beyond standard coordinates t (n, s), shape (m, n).

    Each has mean zero and unit variance.
    """
    n = len(t)
    if t.shape[1]:
        e = residual_labels(labels, t)[1]
    elif labels.kind == "numbers":
        e = np.cos(np.pi * np.arange(1, 4)[:, None] * labels.ranks)
    else:
        e = bins_of(labels, 0, 0).psi[labels.codes].T
    tilts = np.column_stack([np.ones(n), t])
    features = (e[:, None, :] * tilts.T[None]).reshape(-1, n)
    features = features - features.mean(axis=1, keepdims=True)
    return np.asarray(features / (features.std(axis=1, keepdims=True) + 1e-12))


def strength(Z: Array, features: Array) -> float:
    """Largest moment of white rows Z (n, k) with the features, in units of its null edge."""
    n, k = Z.shape
    first = np.linalg.norm(features @ Z / n, 2) / (
        (np.sqrt(k) + np.sqrt(len(features))) / np.sqrt(n)
    )
    edge = 2 * np.sqrt(k / n) + k / n
    second = [np.abs(np.linalg.eigvalsh(Z.T @ (Z * f[:, None]) / n)).max() for f in features]
    return float(max(first, max(second) / edge))


def proposals(
    rows: WhiteRows, labels: Labels, known: Array, t: Array, r: int
) -> list[tuple[float, Array]]:
    """Starts for r new directions outside the known ones.

    Parameters
    ----------
    rows : WhiteRows
        The inputs.
    labels : Labels
        The labels.
    known : array, shape (k, s)
        Orthonormal known directions.
    t : array, shape (n, s)
        Their coordinates.
    r : int
        Number of new ones.

    Returns
    -------
    list of (strength, array of shape (k, r))
        Strongest first; a strength of one is the edge of the null law.
    """
    n, k = rows.shape
    features = residual_features(labels, standardised(t)[0])

    def outside(V: Array) -> Array:
        return V - known @ (known.T @ V)

    first = outside(rows.collect(features.T)) / n
    left, values, _ = np.linalg.svd(first, full_matrices=False)
    edge = (np.sqrt(k) + np.sqrt(len(features))) / np.sqrt(n)
    found = [(float(values[0] / edge), left)]
    edge = 2 * np.sqrt(k / n) + k / n
    Z = rows.project(np.eye(k)) if rows.Z is None else rows.Z
    for f in features:
        second = Z.T @ (Z * f[:, None]) / n
        second = outside(outside(second).T)
        values, vectors = np.linalg.eigh(second)
        order = np.argsort(-np.abs(values))
        found.append((float(abs(values[order[0]]) / edge), vectors[:, order[: max(r, 2)]]))
    found.sort(key=lambda pair: -pair[0])
    best = found[0][1]
    rest = [V for _, V in found[1:]]
    filled = []
    for strength, V in found[:3]:
        pool = np.column_stack([V[:, :r], *(other[:, :1] for other in (best, *rest))])
        basis = np.linalg.qr(outside(pool))[0][:, :r]
        filled.append((strength, basis))
    return filled
