"""Giant gradient steps on the first layer of a network with two layers.

f(x) = p^-1 sum_j a_j sigma(w_j . x), rows of W drawn from N(0, I_d / d), a_j = +-1. A step on n
samples of the squared loss adds step a_j (1/n) sum_i (y_i - f(x_i)) sigma'(w_j . x_i) x_i to w_j:
its size eta is step times p. Samples are drawn and used in blocks of rows, so that neither a batch
nor its features are ever held as a whole.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, Yang, NeurIPS 2022; Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR
25 (2024).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.learners.networks.features import ROWS, features, first_layer
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import Sample

__all__ = [
    "INITS",
    "Network",
    "Parameters",
    "blocks",
    "drawn",
    "gradient",
    "measured",
    "readout_data",
]

INITS = ("ones", "signs", "symmetric")


class Network(NamedTuple):
    """First layer W (p, d) and signs a (p,)."""

    W: NDArray[np.float32]
    a: NDArray[np.float32]


class Parameters(NamedTuple):
    """A first layer after one step, w_j = bulk w~_j + a_j spike v with w~_j of unit length.

    Attributes
    ----------
    spike : float
        Length of the common part of every neuron.
    alignment : float
        Cosine of its direction v with the linear part of the target.
    bulk : float
        Length of the rest of a neuron.
    spread : float
        d times the variance of the squared length of the rest, over bulk^4: 0 for rows of one
        length, 2 for independent normal entries.
    """

    spike: float
    alignment: float
    bulk: float
    spread: float = 0.0


def drawn(init: str, seed: int, p: int, d: int) -> Network:
    """The network before any step.

    Parameters
    ----------
    init : {"ones", "signs", "symmetric"}
        All a_j = 1; signs at random; or pairs of equal neurons with opposite signs, so that f = 0,
        for which p is even.
    seed, p, d : int
        Of the run; its sizes.
    """
    if init == "symmetric":
        W = first_layer(seed, p // 2, d)
        ones = np.ones(p // 2, dtype=np.float32)
        return Network(np.vstack([W, W]), np.concatenate([ones, -ones]))
    a = np.ones(p, dtype=np.float32)
    if init == "signs":
        a = np.random.default_rng([seed, 12]).choice([-1.0, 1.0], p).astype(np.float32)
    return Network(first_layer(seed, p, d), a)


def blocks(target: MultiIndex, seed: int, n: int, d: int, first: int) -> Iterator[Sample]:
    """n samples in blocks of ROWS; they are the target's batches from number `first` on."""
    for k, start in enumerate(range(0, n, ROWS)):
        rows = min(ROWS, n - start)
        yield next(target.batches(seed, rows, d, first=first + k, dtype=np.float32))


def gradient(
    network: Network, activation: Link, batch: Iterator[Sample], n: int
) -> NDArray[np.float32]:
    """The direction (p, d) in which a step moves every neuron."""
    W, a = network
    slope = activation.derivative()
    total = np.zeros_like(W)
    for X, y, _, _ in batch:
        H = X @ W.T
        f = np.asarray(activation(H[..., None]), dtype=np.float32) @ a / np.float32(len(a))
        weights = np.asarray(slope(H[..., None]), dtype=np.float32)
        weights *= (y - f)[:, None]
        total += weights.T @ X
    total *= a[:, None] / np.float32(n)
    return total


def readout_data(
    W: NDArray[Any], activation: Link, batch: Iterator[Sample], n: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Features (n, p) and labels (n,) of a batch."""
    F, labels, start = np.empty((n, len(W)), dtype=np.float32), np.empty(n, dtype=np.float32), 0
    for X, y, _, _ in batch:
        rows = slice(start, start + len(X))
        F[rows], labels[rows] = features(activation, X, W), y
        start += len(X)
    return F, labels


@np.errstate(all="ignore")  # Divergence is told by the run.
def measured(network: Network, linear: NDArray[Any]) -> Parameters:
    """The parameters of a first layer after a step.

    Parameters
    ----------
    network : Network
        After the step.
    linear : array, shape (d,)
        Unit direction of the linear part of the target.
    """
    W, a = network.W.astype(np.float64), network.a.astype(np.float64)
    common = a @ W / len(a)
    spike = float(np.linalg.norm(common))
    v = common / spike
    along = W @ v
    rest = np.sum(W**2, axis=1) - along**2 + (along - a * spike) ** 2
    square = float(rest.mean())
    spread = W.shape[1] * float(rest.var()) / square**2
    return Parameters(spike, float(v @ linear), float(np.sqrt(square)), spread)
