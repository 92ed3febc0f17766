"""A network of two layers, its gradient, and the parameters of its first layer after one step.

The network is f(x) = p^-1 sum_j a_j sigma(w_j . x + b_j), with rows of W drawn from N(0, I_d / d)
and a_j of any law. A step on n samples of the squared loss moves w_j along
a_j (1/n) sum_i (y_i - f(x_i)) sigma'(w_j . x_i + b_j) x_i. Samples are drawn and used in blocks of
rows, so that neither a batch nor its features are ever held as a whole.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, Yang, NeurIPS 2022; Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR
25 (2024).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.fields import Kind, is_number
from learnability.labels.link import Link
from learnability.learners.networks.features import ROWS, features, first_layer
from learnability.targets.base import Sample, Target

__all__ = [
    "Network",
    "Parameters",
    "SecondLayer",
    "blocks",
    "drawn",
    "gradient",
    "measured",
    "permuted",
    "readout_data",
]

WORDS = ("ones", "signs", "symmetric", "gaussian")


class SecondLayer(Kind):
    """A law of the second layer before the steps: a word, or values that neurons take in turn."""

    accepted = "ones, signs, symmetric, gaussian, or numbers that the neurons take in turn,"
    type_name = "str or sequence of float"
    examples = (*WORDS, (1.0, -0.5))

    def read(self, value: Any) -> Any:
        """Return the word, or a tuple of numbers.

        Raises
        ------
        ValueError
            When it is another word, not a list of numbers, or a list of zeros.
        """
        if isinstance(value, str):
            if value not in WORDS:
                raise ValueError
            return value
        if not isinstance(value, Sequence | np.ndarray) or not all(is_number(v) for v in value):
            raise ValueError
        if not any(value):
            raise ValueError
        return tuple(float(v) for v in value)

    def parse(self, text: str) -> Any:
        """Return the word, or numbers between commas."""
        return text if text in WORDS else tuple(float(part) for part in text.split(","))


class Network(NamedTuple):
    """First layer W (p, d), second layer a (p,) and biases b (p,), None where there are none."""

    W: NDArray[np.float32]
    a: NDArray[np.float32]
    b: NDArray[np.float32] | None = None


class Parameters(NamedTuple):
    """A first layer after one step, w_j = bulk w~_j + a_j spike v with w~_j of unit length.

    Attributes
    ----------
    spike : float
        Length of the common part of a neuron with a_j = 1.
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


def drawn(init: str | tuple[float, ...], seed: int, p: int, d: int, bias: float = 0.0) -> Network:
    """Return the network before any step.

    Parameters
    ----------
    init : {"ones", "signs", "symmetric", "gaussian"} or tuple of float
        All a_j = 1; signs at random; pairs of equal neurons with opposite signs, so that f = 0, for
        which p is even; standard normal; or values that the neurons take in turn.
    seed, p, d : int
        The seed of the run and its sizes.
    bias : float
        Standard deviation of the biases.
    """
    pairs = 2 if init == "symmetric" else 1
    W, a, b = first_layer(seed, p // pairs, d), np.ones(p, dtype=np.float32), None
    if bias:
        own = np.random.default_rng([seed, 14]).standard_normal(p // pairs)
        b = np.tile((bias * own).astype(np.float32), pairs)
    if init == "symmetric":
        W = np.vstack([W, W])
        a[p // 2 :] = -1
    if init == "signs":
        a = np.random.default_rng([seed, 12]).choice([-1.0, 1.0], p).astype(np.float32)
    if init == "gaussian":
        a = np.random.default_rng([seed, 12]).standard_normal(p).astype(np.float32)
    if isinstance(init, tuple):
        a = np.resize(np.array(init, dtype=np.float32), p)
    return Network(W, a, b)


def blocks(target: Target, seed: int, n: int, d: int, first: int) -> Iterator[Sample]:
    """Yield n samples in blocks of ROWS: the target's batches from number `first` on."""
    for k, start in enumerate(range(0, n, ROWS)):
        rows = min(ROWS, n - start)
        yield next(target.batches(seed, rows, d, first=first + k, dtype=np.float32))


def permuted(batch: Iterator[Sample], seed: int, first: int) -> Iterator[Sample]:
    """Yield the inputs with the labels of every block permuted; `first` is that of `blocks`."""
    for k, sample in enumerate(batch):
        rng = np.random.default_rng([seed, 15, first + k])
        yield sample._replace(y=rng.permutation(sample.y))


def gradient(
    network: Network, activation: Link, batch: Iterator[Sample], n: int
) -> NDArray[np.float32]:
    """Return the direction (p, d) in which a step moves every neuron."""
    W, a, b = network
    slope = activation.derivative()
    total = np.zeros_like(W)
    for X, y, _, _ in batch:
        H = X @ W.T
        if b is not None:
            H += b
        f = np.asarray(activation(H[..., None]), dtype=np.float32) @ a / np.float32(len(a))
        weights = np.asarray(slope(H[..., None]), dtype=np.float32)
        weights *= (y - f)[:, None]
        total += weights.T @ X
    total *= a[:, None] / np.float32(n)
    return total


def readout_data(
    network: Network, activation: Link, batch: Iterator[Sample], n: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return features (n, p) and labels (n,) of a batch."""
    W, _, b = network
    F, labels, start = np.empty((n, len(W)), dtype=np.float32), np.empty(n, dtype=np.float32), 0
    for X, y, _, _ in batch:
        rows = slice(start, start + len(X))
        F[rows], labels[rows] = features(activation, X, W, b), y
        start += len(X)
    return F, labels


@np.errstate(all="ignore")  # The status of the run reports divergence.
def measured(network: Network, linear: NDArray[Any]) -> Parameters:
    """Return the parameters of a first layer after a step.

    Parameters
    ----------
    network : Network
        The network after the step.
    linear : array, shape (d,)
        Unit direction of the linear part of the target.
    """
    W, a = network.W.astype(np.float64), network.a.astype(np.float64)
    common = a @ W / (a @ a)
    spike = float(np.linalg.norm(common))
    v = common / spike
    along = W @ v
    rest = np.sum(W**2, axis=1) - along**2 + (along - a * spike) ** 2
    square = float(rest.mean())
    spread = W.shape[1] * float(rest.var()) / square**2
    return Parameters(spike, float(v @ linear), float(np.sqrt(square)), spread)
