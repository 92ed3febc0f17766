"""A network that is trained layer by layer: each layer is trained once and then frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.fields import Declared, Whole
from learnability.learners.base import Side, check_support
from learnability.learners.deep.samples import ROWS, Samples
from learnability.learners.deep.stages import Blocks, same
from learnability.targets.base import checked_memory
from learnability.targets.hierarchical import Hierarchical

if TYPE_CHECKING:
    from learnability.learners.deep.layerwise import Layerwise

__all__ = ["Network", "train", "train_over"]

FRESH_BATCH = 500_000
"""Number of the batch at which the samples of the later layers begin, when they are fresh."""


class Network(NamedTuple):
    """A trained network.

    Attributes
    ----------
    W : array, shape (p, d)
        First layer.
    outputs : callable
        Inputs (n, d) -> (n, 2): the fitted function of the second stage, and the network's output.
    functions : callable
        Inputs -> the functions (n, k) that the second stage has found.
    ridges : tuple of float
        Ridges of the stages after the first.
    sizes : tuple of int
        Numbers of samples that the stages after the first have read.
    layers : callable
        Inputs -> pre-activations (n, p) of every layer, the output last, for `layer_probes`.
    """

    W: NDArray[np.float32]
    outputs: Callable[[NDArray[Any]], NDArray[Any]]
    functions: Callable[[NDArray[Any]], NDArray[Any]]
    ridges: tuple[float, ...]
    sizes: tuple[int, ...]
    layers: Callable[[NDArray[Any]], list[NDArray[Any]]]


def train(learner: Layerwise, target: Hierarchical, *, n: int, d: int, seed: int = 0) -> Network:
    """Train one network.

    Parameters
    ----------
    learner : Layerwise
        Gives the layers, and whether those after the first get samples of their own.
    target : Hierarchical
        Where the samples come from.
    n, d, seed : int
        Samples per layer, dimension and seed.

    Returns
    -------
    Network

    Raises
    ------
    LearnabilityError
        When the target is of another kind, or there are fewer than two samples.
    """
    check_support(learner, Side(), "Training layer by layer", target)
    n = Declared(Whole(at_least=2), "Samples of a layer.").read("n", n)
    checked_memory(f"A batch of {ROWS} samples and its features", 4.0 * ROWS * (d + 4096))
    first, *rest = learner.stack
    batch = Samples(target, seed, d, n)
    W = first.learn(batch)
    later = Samples(target, seed, d, n, FRESH_BATCH) if learner.fresh else batch
    # A first layer may pass on features of its variables in place of the variables.
    lifted = first.lifted(batch) if hasattr(first, "lifted") else same
    return train_over(rest, W, later, lifted)


def train_over(
    layers: Sequence[Any],
    W: NDArray[np.float32],
    samples: Samples,
    lifted: Callable[[NDArray[Any]], NDArray[Any]] = same,
) -> Network:
    """Train the layers after the first, given the first.

    Parameters
    ----------
    layers : sequence
        Second layers and a readout.
    W : array, shape (p, d)
        First layer.
    samples : Samples
        The samples on which these layers are trained.
    lifted : callable
        Variables W x (n, p) -> what the second layer reads, by default the variables.

    Returns
    -------
    Network
    """
    y = samples.labels

    def first() -> Iterable[NDArray[Any]]:
        return (lifted(X @ W.T) for X, _ in samples)

    below: Blocks = first
    trained, sizes = [], []
    for place, layer in enumerate(layers, 1):
        one = layer.learn(below, y, samples.seed, place)
        trained.append(one)
        sizes.append(one.used or len(y))
        below, y = _one_block(one.left_out), y[one.used :]

    def functions(X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(trained[0].functions(lifted(X @ W.T)))

    def outputs(X: NDArray[Any]) -> NDArray[Any]:
        fitted = functions(X)
        u = trained[0].spread(fitted)
        for one in trained[1:]:
            u = one.forward(u)
        return np.concatenate([fitted[:, :1], u], axis=1)

    def values(X: NDArray[Any]) -> list[NDArray[Any]]:
        found = [lifted(X @ W.T)]
        for one in trained:
            found.append(one.forward(found[-1]))
        return found

    ridges = tuple(one.ridge for one in trained)
    return Network(W, outputs, functions, ridges, tuple(sizes), values)


def _one_block(values: NDArray[Any]) -> Blocks:
    """Return values in memory as a source of one block."""
    return lambda: [values]
