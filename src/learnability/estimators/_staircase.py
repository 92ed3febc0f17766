"""New directions once some are known, from what the label depends on given their coordinates.

With known coordinates t the label is replaced by its residual: the rank of a number given t, or a
class indicator minus its probability given t. Residual functions e_j times {1, t_a} are features f
whose moments with the white rows outside the known directions vanish unless there is more to find,

    m_f = E[f z],      S_f = E[f (z z^T - I)];

the leading singular vectors of the first and the extreme eigenvectors of the second are the
proposals, ordered by their strength over the edge of the null law. An odd step, such as that of z2
in sign(z1 z2), shows in m_f, and an even one, such as (z2, z3) in z1^2 + sign(z1 z2 z3), in S_f.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from learnability.estimators._blind_amp import WhiteRows
from learnability.estimators._channel import standardised
from learnability.estimators._labels import Labels, mid_ranks
from learnability.estimators._location_channel import LocationChannel
from learnability.estimators._logit_channel import LogitChannel, bins_of
from learnability.estimators._products import products

__all__ = ["Residuals", "proposals", "residual_labels", "residuals", "strength"]

Array = NDArray[np.float64]


def residual_labels(labels: Labels, t: Array) -> Labels:
    """Return residual labels given standard coordinates t (n, s): the rank of a number given t.

    Classes, and numbers with few values, are unchanged.
    """
    if labels.coarse:
        return labels
    at = products(t, LocationChannel.degree)
    curve = LocationChannel(width=0.6 if t.shape[1] == 1 else 1.0)
    mean, log_variance = curve.fit(at, labels.scores, labels.weights).law(at)
    ranks = ndtr((labels.scores - mean) / np.exp(log_variance / 2))
    codes = np.argsort(np.argsort(ranks))
    u = mid_ranks(codes, labels.weights)
    return Labels("numbers", codes, u, np.arange(len(t)), labels.weights)


@dataclass(frozen=True)
class Residuals:
    """Functions of the label that have mean zero given the known coordinates.

    Attributes
    ----------
    e : array, shape (m, n)
        Values of the functions.
    t : array, shape (n, s)
        The standard coordinates.
    weights : array, shape (n,)
        Counts of the rows.
    law : array, shape (n, B), optional
        Probabilities of the classes given t; None for numbers.
    psi : array, shape (B, m), optional
        The functions of the classes; None for numbers.
    """

    e: Array
    t: Array
    weights: Array
    law: Array | None = None
    psi: Array | None = None

    def features(self) -> Array:
        """Return the functions times {1, t_a}, of unit variance, shape (m (1 + s), n)."""
        n = len(self.t)
        tilts = np.column_stack([np.ones(n), self.t])
        features = (self.e[:, None, :] * tilts.T[None]).reshape(-1, n)
        shares = self.weights / self.weights.sum()
        features = features - (features @ shares)[:, None]
        spread = np.sqrt(features**2 @ shares)
        return np.asarray(features / (spread[:, None] + 1e-12))

    def redrawn(self, rng: np.random.Generator) -> Residuals:
        """Return the same for a label that depends on t alone: ranks shuffled, classes redrawn."""
        if self.law is None or self.psi is None:
            return replace(self, e=self.e[:, rng.permutation(len(self.t))])
        drawn = (rng.random(len(self.t))[:, None] > np.cumsum(self.law, axis=1)).sum(axis=1)
        codes = np.minimum(drawn, self.law.shape[1] - 1)
        return replace(self, e=(self.psi[codes] - self.law @ self.psi).T)


def residuals(labels: Labels, t: Array) -> Residuals:
    """Return the residuals of the label given standard coordinates t (n, s)."""
    if not labels.coarse:
        given = residual_labels(labels, t) if t.shape[1] else labels
        order = np.arange(1, 3 if t.shape[1] else 4)
        return Residuals(np.cos(np.pi * order[:, None] * given.ranks), t, labels.weights)
    bins = bins_of(labels, 0, len(labels.values))
    at = products(t, 4 if t.shape[1] < 3 else 2)
    law = np.broadcast_to(bins.pi, (len(t), len(bins.pi)))
    if t.shape[1]:
        law = LogitChannel(at.degree, 2.0).fit(at, bins, 8).law(at, bins)
    e = (bins.psi[labels.codes] - law @ bins.psi).T
    return Residuals(e, t, labels.weights, law, bins.psi)


def bulk_ends(f: Array, ratio: float) -> tuple[float, float]:
    """Return ends of the spectrum of sum_i f_i z_i z_i^T / n for white z_i independent of f.

    f has both signs. With `ratio` the number of coordinates over that of rows, the upper end is the
    least value of 1 / s + mean of f_i / (1 - ratio s f_i) over 0 < s < 1 / (ratio max f), and the
    lower end is minus that of -f. A feature with heavy tails has wide ends, so that noise near them
    is not mistaken for a signal.

    References
    ----------
    Silverstein and Choi, J. Multivariate Anal. 54 (1995) 295.
    """

    def upper(f: Array) -> float:
        top = max(float(f.max()), 1e-12)

        def value(share: float) -> float:
            s = share / (ratio * top)
            return float(1 / s + np.mean(f / (1 - ratio * s * f)))

        return float(minimize_scalar(value, bounds=(1e-3, 1 - 1e-6), method="bounded").fun)

    return -upper(-f), upper(f)


def _against_ends(values: Array, f: Array, ratio: float) -> Array:
    """Return eigenvalues in units of the end of the bulk on their side."""
    low, high = bulk_ends(f, ratio)
    return np.where(values > 0, values / high, values / low)


def strength(Z: Array, features: Array, weights: Array) -> tuple[float, float]:
    """Return the largest first and second moment of white rows Z (n, k) with the features.

    Each is in units of its null edge.
    """
    n, k = weights.sum(), Z.shape[1]
    features = features * weights
    first = np.linalg.norm(features @ Z / n, 2) / (
        (np.sqrt(k) + np.sqrt(len(features))) / np.sqrt(n)
    )
    second = max(
        _against_ends(np.linalg.eigvalsh(Z.T @ (Z * f[:, None]) / n), f, k / n).max()
        for f in features
    )
    return float(first), float(second)


def proposals(
    rows: WhiteRows, labels: Labels, known: Array, t: Array, r: int
) -> list[tuple[float, Array]]:
    """Return starts for r new directions outside the known ones.

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
        Number of new directions.

    Returns
    -------
    list of (strength, array of shape (k, r))
        Strongest first; a strength of one is the edge of the null law.
    """
    n, k = labels.weights.sum(), rows.shape[1]
    open_part = residuals(labels, standardised(t, labels.weights)[0])
    features = open_part.features() * labels.weights

    def outside(V: Array) -> Array:
        return V - known @ (known.T @ V)

    first = outside(rows.collect(features.T)) / n
    left, values, _ = np.linalg.svd(first, full_matrices=False)
    edge = (np.sqrt(k) + np.sqrt(len(features))) / np.sqrt(n)
    found = [(float(values[0] / edge), left)]
    for f, second in zip(features, rows.seconds(features) / n, strict=True):
        values, vectors = np.linalg.eigh(outside(outside(second).T))
        strengths = _against_ends(values, f, k / n)
        order = np.argsort(-strengths)
        found.append((float(strengths[order[0]]), vectors[:, order[: max(r, 2)]]))
    found.sort(key=lambda pair: -pair[0])
    best = found[0][1]
    rest = [V for _, V in found[1:]]
    filled = []
    for strength, V in found[:3]:
        pool = np.column_stack([V[:, :r], *(other[:, :1] for other in (best, *rest))])
        basis = np.linalg.qr(outside(pool))[0][:, :r]
        filled.append((strength, basis))
    return filled
