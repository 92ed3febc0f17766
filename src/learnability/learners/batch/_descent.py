"""Full-batch gradient descent on one data set.

With inputs of any law, unit hidden directions W* and a step in units of 1/d, every iteration reads
the same n samples:

    W <- (1 - step * ridge) W - (step / d) G X,    G = force(W X^T, y).

The force on a sample depends on its own fields only, so X is read once per iteration, block of rows
after block of rows; each block is multiplied twice while it is in cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.learners.batch._network import Network
from learnability.learners.linear_algebra.thin_products import collect, project

__all__ = ["Covariance", "Path", "descend"]

Array = NDArray[np.float64]

Covariance = Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]
"""Weights (p, d) -> covariance of their fields (p, p), and with the hidden coordinates (p, r)."""

_BLOCK_BYTES = 2**23
_THIN = 3
"""For at most this many neurons, one vector after another is faster than a matrix product."""


class Path(NamedTuple):
    """What is recorded along the iterations 0 ... steps.

    Attributes
    ----------
    overlap : array, shape (steps + 1, p, r)
        W W*^T.
    gram : array, shape (steps + 1, p, p)
        W W^T.
    train_error : array, shape (steps + 1,)
        Mean squared error on the samples.
    field_overlap, field_gram : array, shapes (steps + 1, p, r) and (steps + 1, p, p)
        Covariances of the fields W x of a fresh sample with its hidden coordinates and with each
        other; for isotropic inputs `overlap` and `gram`.
    """

    overlap: Array
    gram: Array
    train_error: Array
    field_overlap: Array
    field_gram: Array


def descend(
    X: NDArray[Any],
    y: NDArray[Any],
    network: Network,
    start: NDArray[Any],
    hidden: NDArray[Any],
    *,
    step: float,
    ridge: float,
    steps: int,
    covariance: Covariance | None = None,
) -> Path:
    """Run gradient descent; a path that overflows continues with infinities and NaN.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples; read, never copied.
    y : array, shape (n,)
        Labels.
    network : Network
        What is trained.
    start : array, shape (p, d)
        The first weights.
    hidden : array, shape (r, d)
        W*, used for the overlaps only.
    step, ridge : float
        As in the update above.
    steps : int
        Number of iterations.
    covariance : callable, optional
        Covariances of the fields; None for isotropic inputs.

    Returns
    -------
    Path
    """
    kind = X.dtype.type
    W = np.asarray(start, dtype=X.dtype)
    hidden = np.asarray(hidden, dtype=X.dtype)
    shrink, rate = kind(1 - step * ridge), kind(step / X.shape[1])
    seen: list[tuple[Any, ...]] = []
    with np.errstate(all="ignore"):
        for t in range(steps + 1):
            overlap, gram = W @ hidden.T, W @ W.T
            fields, with_label = (gram, overlap) if covariance is None else covariance(W)
            push, squares = _pass(X, y, network, W, last=t == steps)
            seen.append((overlap, gram, squares / len(y), with_label, fields))
            W = shrink * W - rate * push
    return Path(*(np.array(values, dtype=float) for values in zip(*seen, strict=True)))


def _pass(
    X: NDArray[Any], y: NDArray[Any], network: Network, W: NDArray[Any], last: bool
) -> tuple[NDArray[Any], float]:
    """Return G X, shape (p, d), zero in the last pass, and the sum of squared errors."""
    push, squares = np.zeros_like(W), 0.0
    for rows in _blocks(X):
        block, labels = X[rows], y[rows]
        fields = project(block, W) if len(W) <= _THIN else W @ block.T
        output = network.output(fields)
        squares += float(np.sum((output - labels) ** 2, dtype=float))
        if not last:
            force = network.force(fields, output, labels)
            push += collect(block, force) if len(W) <= _THIN else force @ block
    return push, squares


def _blocks(X: NDArray[Any]) -> Iterator[slice]:
    height = max(_BLOCK_BYTES // (X.shape[1] * X.itemsize), 1)
    return (slice(start, start + height) for start in range(0, len(X), height))
