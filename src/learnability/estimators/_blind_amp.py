"""Message passing without the link.

With white rows z_i of k coordinates, W (r, k), and a channel whose score g is learned from the
fields as they are,

    omega_i = W z_i - a_i s_i,       g = d log p(y_i | omega_i) / d omega,    A = g^T g / k,
    W <- (I + A)^{-1} (g^T Z / k + A W),

where s_i is the contribution of row i to its own field and a_i = |z_i|^2 / k. With damping the new
W is averaged with the old one, and s must be averaged in the same way,

    s <- (1 - delta) s + delta (g + c A s) (I + A)^{-1};

averaging g and the gain separately destroys even the best start in two steps. For iid rows c = 0:
the response of the others cancels A W. Whitening by the sample covariance removes a share c of that
response, c = 1 - (tr D^2 - E|z|^4 / n) / tr D with D = Z^T Z / n, which is k / n for D = I.

The score belongs to the field whatever its scale, so a wrong scale of the start does no harm. The
overlap that the run predicts for itself does not depend on the scale either: for posterior means
A M = q^2 / (1 - q) in each direction, where M is the covariance of the fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._channel import CrossFittedChannel
from learnability.estimators._labels import weighted_mean
from learnability.estimators._whitening import Whitening, row_blocks

__all__ = ["Passage", "WhiteRows", "pass_messages"]

Array = NDArray[np.float64]
_CHOICES = frozenset({0, 3, 8, 15, 25, 35})
"""Steps at which the channels compete."""
_AT_REST = 1e-4
"""The run has converged if 1 minus its overlap with the last subspace is less than this."""


class WhiteRows:
    """White rows that are only multiplied by thin matrices.

    `tails` is the mean fourth power of their length, divided by that of Gaussian rows.

    Parameters
    ----------
    X : array, shape (n, p)
        The table.
    whitening : Whitening
        The map to white coordinates.
    weights : array, shape (n,)
        Counts of the rows.
    """

    def __init__(self, X: Any, whitening: Whitening, weights: Array, *, most: float = 2e8) -> None:
        self.X, self.whitening, self.weights = X, whitening, weights
        n, k = X.shape[0], whitening.rank
        self.shape = (n, k)
        # A copy of a small table is faster; a large one is read where it lies.
        self.Z = whitening.rows(X) if 8.0 * n * k <= most else None
        squares, second = np.empty(n), np.zeros((k, k))
        for rows, part in self._blocks():
            squares[rows] = (part**2).sum(axis=1)
            second += part.T @ (part * weights[rows, None])
        total = weights.sum()
        second /= total
        self.lengths = squares / k
        self.tails = float(weights @ squares**2) / total / (k * (k + 2))
        trace = max(float(np.trace(second)), 1e-12)
        fourth = float(weights**2 @ squares**2) / total**2
        kept = (float((second**2).sum()) - fourth) / trace
        self.lost_response = float(np.clip(1 - kept, 0.0, 1.0))

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield white rows, a block at a time."""
        for rows in row_blocks(0, self.shape[0]):
            yield rows, self.whitening.rows(self.X[rows]) if self.Z is None else self.Z[rows]

    def seconds(self, features: Array) -> Array:
        """Return Z^T diag(f) Z of each feature f (m, n), shape (m, k, k)."""
        found = np.zeros((len(features), self.shape[1], self.shape[1]))
        for rows, part in self._blocks():
            for second, f in zip(found, features, strict=True):
                second += part.T @ (part * f[rows, None])
        return found

    def project(self, U: Array) -> Array:
        """Return Z U, shape (n, q)."""
        return self.whitening.project(self.X, U) if self.Z is None else self.Z @ U

    def collect(self, G: Array) -> Array:
        """Return Z^T G, shape (k, q)."""
        return self.whitening.collect(self.X, G) if self.Z is None else self.Z.T @ G


@dataclass(frozen=True)
class Passage:
    """A finished run.

    Attributes
    ----------
    U : array, shape (k, r)
        Orthonormal directions in white space, the best known first.
    information : float
        Cross-fitted mean of log p(y | omega) / p(y), in nats per row.
    error : float
        The standard error of the information.
    overlap : array, shape (r,)
        Squared overlap that the run predicts for each direction.
    fields : array, shape (n, r)
        Cavity fields of the directions.
    trace : array
        Information along the steps.
    status : {"converged", "stopped", "diverged"}
        How it ended.
    channel : tuple
        The channel that was used last.
    """

    U: Array
    information: float
    error: float
    overlap: Array
    fields: Array
    trace: Array
    status: str
    channel: Any


def pass_messages(
    rows: WhiteRows,
    channel: CrossFittedChannel,
    start: Array,
    *,
    steps: int,
    damping: float,
    outside: Array | None = None,
    patience: int | None = None,
) -> Passage:
    """Run message passing from a start.

    Parameters
    ----------
    rows : WhiteRows
        The inputs.
    channel : CrossFittedChannel
        The channel, which learns the score.
    start : array, shape (k, r)
        Directions to begin with.
    steps : int
        The largest number of iterations.
    damping : float
        Weight of the new iterate.
    outside : array, shape (k, s), optional
        Orthonormal directions to which the estimate is kept orthogonal.
    patience : int, optional
        Step at which a run ends if its information is below zero and does not rise.

    Returns
    -------
    Passage
    """
    n, k = rows.shape
    r = start.shape[1]
    eye = np.eye(r)

    def free(W: Array) -> Array:
        return W if outside is None else W - (W @ outside) @ outside.T

    W = free(np.linalg.qr(start)[0].T) * np.sqrt(0.1)
    own = np.zeros((n, r))
    status, last, trace = "stopped", None, []
    for step in range(steps):
        omega = rows.project(W.T) - rows.lengths[:, None] * own
        g, ratio = channel.step(omega, choose=step in _CHOICES)
        if not np.isfinite(g).all():
            status = "diverged"
            break
        trace.append(weighted_mean(ratio, rows.weights)[0])
        counted = g * rows.weights[:, None]
        A = g.T @ counted / k
        gain = np.linalg.inv(eye + A)
        W = (1 - damping) * W + damping * free(gain @ (rows.collect(counted).T / k + A @ W))
        own = (1 - damping) * own + damping * (counted + rows.lost_response * own @ A) @ gain
        if step == patience and trace[-1] <= min(0.0, trace[-4]):
            break
        basis = np.linalg.qr(W.T)[0]
        if last is not None and step > 8:
            moved = 1 - float(((last.T @ basis) ** 2).sum()) / r
            if moved < _AT_REST and step - 1 not in _CHOICES:
                status = "converged"
                break
        last = basis
    if not trace:
        return Passage(
            np.linalg.qr(start)[0], -np.inf, 0.0, np.zeros(r), np.zeros((n, r)), np.zeros(0),
            status, None,
        )  # fmt: skip
    overlap, turn = _predicted_overlap(A, omega, rows.weights)
    vectors = np.linalg.qr(W.T @ turn)[0]
    fields = rows.project(vectors) - rows.lengths[:, None] * (
        own @ (np.linalg.pinv(W.T) @ vectors) if r else own
    )
    error = weighted_mean(ratio, rows.weights)[1]
    return Passage(
        vectors, trace[-1], error, overlap, fields, np.array(trace), status, channel.chosen,
    )  # fmt: skip


def _predicted_overlap(A: Array, omega: Array, weights: Array) -> tuple[Array, Array]:
    """Return the overlap of each direction, largest first, and its combination of the fields.

    q solves q^2 / (1 - q) = eigenvalue of A Cov(omega).
    """
    M = omega.T @ (omega * weights[:, None]) / weights.sum()
    values, vectors = np.linalg.eigh(M)
    half = (vectors * np.sqrt(np.maximum(values, 1e-12))) @ vectors.T
    products, turn = np.linalg.eigh(half @ A @ half)
    products, turn = np.maximum(products[::-1], 0.0), turn[:, ::-1]
    overlap = (np.sqrt(products**2 + 4 * products) - products) / 2
    return overlap, np.linalg.solve(half, turn)
