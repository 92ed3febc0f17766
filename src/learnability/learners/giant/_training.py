"""Several giant steps, and what they have learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.learners.giant._network import Network, blocks, gradient
from learnability.learners.networks.features import ROWS
from learnability.targets.multi_index import MultiIndex

__all__ = ["Training", "leading", "take_steps"]


class Training(NamedTuple):
    """A first layer and how it came about.

    Attributes
    ----------
    network : Network
        After the last step: W (p, d) and the signs a (p,).
    start : array, shape (p, d)
        The first layer as it was drawn.
    hidden : array, shape (r, d)
        The hidden directions.
    overlaps : array, shape (steps + 1, p, r)
        W times the hidden directions, before and after every step.
    cosines : array, shape (steps, p, r)
        Of each neuron's step with the hidden directions.
    used : int
        Batches of the target that were used.
    """

    network: Network
    start: NDArray[np.float32]
    hidden: NDArray[np.float32]
    overlaps: NDArray[np.float32]
    cosines: NDArray[np.float32]
    used: int


def take_steps(
    target: MultiIndex,
    activation: Link,
    network: Network,
    sizes: Sequence[float],
    n: int,
    seed: int,
    reuse: bool,
) -> Training:
    """Train the first layer.

    Parameters
    ----------
    target : MultiIndex
        Where the samples come from.
    activation : Link
        The function sigma.
    network : Network
        As it was drawn.
    sizes : sequence of float
        Size over p of every step.
    n : int
        Samples of a step.
    seed : int
        Of the run.
    reuse : bool
        Whether all steps use the same batch.
    """
    start, a = network
    d = start.shape[1]
    hidden = next(target.batches(seed, 1, d, dtype=np.float32)).W
    overlaps, cosines = [start @ hidden.T], []
    count = -(-n // ROWS)
    with np.errstate(all="ignore"):  # Divergence is a status.
        for t, size in enumerate(sizes):
            move = gradient(
                network, activation, blocks(target, seed, n, d, 0 if reuse else t * count), n
            )
            length = np.linalg.norm(move, axis=1, keepdims=True)
            cosines.append(move @ hidden.T / np.maximum(length, 1e-30))
            network = Network(network.W + np.float32(size) * move, a)
            overlaps.append(network.W @ hidden.T)
    used = count * (1 if reuse else len(sizes))
    return Training(network, start, hidden, np.array(overlaps), np.array(cosines), used)


def leading(update: NDArray[Any], count: int, seed: int) -> NDArray[Any]:
    """The leading right singular vectors (count, d) of an update."""
    if count >= min(update.shape) - 1:
        return np.asarray(np.linalg.svd(update, full_matrices=False)[2][:count])
    from scipy.sparse.linalg import svds

    start = np.random.default_rng([seed, 13]).standard_normal(min(update.shape))
    start = start.astype(update.dtype)
    return np.asarray(svds(update, k=count, v0=start)[2])
