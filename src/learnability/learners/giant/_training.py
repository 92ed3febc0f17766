"""The steps on the first layer: their sizes in dimension d, and what they learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.inputs import Inputs
from learnability.inputs.base import Directions
from learnability.learners.giant._network import Network, blocks, drawn, gradient, permuted
from learnability.learners.networks.features import ROWS
from learnability.targets import TargetLike, as_target
from learnability.targets.base import Target
from learnability.theory.csq import leap_staircase

if TYPE_CHECKING:
    from learnability.learners.giant.learner import GiantSteps

__all__ = [
    "Training",
    "leading",
    "neurons",
    "samples",
    "step_size",
    "train",
]


class Training(NamedTuple):
    """A first layer and the history of its training.

    Attributes
    ----------
    network : Network
        The network after the last step: W (p, d), the second layer a (p,) and the biases.
    start : Network
        The network as it was drawn.
    directions : Directions
        The hidden directions and the marked axes of the inputs.
    overlaps : array, shape (steps + 1, p, r)
        W times the hidden directions, before and after every step.
    cosines : array, shape (steps, p, r)
        Cosines of each neuron's step with the hidden directions.
    used : int
        Number of batches of the target that were used.
    """

    network: Network
    start: Network
    directions: Directions
    overlaps: NDArray[np.float32]
    cosines: NDArray[np.float32]
    used: int

    @property
    def hidden(self) -> NDArray[np.float32]:
        """The hidden directions (r, d)."""
        return self.directions.hidden.astype(np.float32)


# ---- what the fields of the learner mean in dimension d


def samples(ratio: float, d: int) -> int:
    """Return the number of samples of a ratio n / d."""
    return max(round(float(ratio) * d), 1)


def neurons(learner: GiantSteps, d: int) -> int:
    """Return the number p of neurons, even for pairs."""
    p = max(round(learner.width * d), 1)
    return 2 * max(round(p / 2), 1) if learner.init == "symmetric" else p


def step_size(learner: GiantSteps, target: Target, d: int | None) -> float:
    """Return the size of a step divided by p, from the leap where it is not given.

    Parameters
    ----------
    learner : GiantSteps
        The learner with its field `step`.
    target : Target
        The target whose leap is used.
    d : int or None
        Dimension; None for the limit.

    Raises
    ------
    LearnabilityError
        When the leap is not known, or the size would grow with d in the limit.
    """
    if learner.step is not None:
        return learner.step
    orders = [s.order for s in leap_staircase(target.link).steps if s.order]
    if not orders:
        raise LearnabilityError(
            f"The leap of {target.link!r} is not known, so there is no default size of a step: "
            "give `step`."
        )
    if d is None and max(orders) > 1:
        raise LearnabilityError(
            f"The leap of {target.link!r} is {max(orders)}, so the default size of a step "
            "grows with d: give `step`."
        )
    return float(d) ** ((max(orders) - 1) / 2) if d is not None else 1.0


# ---- the steps


def train(
    learner: GiantSteps, target: TargetLike, d: int, seed: int = 0, *, permute: bool = False
) -> Training:
    """Return the first layer of a run, without the readout.

    Parameters
    ----------
    learner : GiantSteps
        Its fields say which steps are taken.
    target : MultiIndex, Link or str
        Where the samples come from.
    d : int
        Dimension of the inputs.
    seed : int
        The seed of the run.
    permute : bool
        Whether the steps see permuted labels.

    Returns
    -------
    Training
    """
    target, activation = as_target(target), learner.activation
    size = step_size(learner, target, d) if learner.update == "add" else None
    n = samples(learner.batch, d)
    network = start = drawn(learner.init, seed, neurons(learner, d), d, learner.bias)
    directions = target.inputs.directions(seed, target.r, d)
    hidden = directions.hidden.astype(np.float32)
    overlaps, cosines = [network.W @ hidden.T], []
    count = -(-n // ROWS)
    with np.errstate(all="ignore"):  # Divergence is reported by the status.
        for t in range(learner.steps):
            first = 0 if learner.reuse else t * count
            batch = blocks(target, seed, n, d, first)
            if permute:
                batch = permuted(batch, seed, first)
            move = gradient(network, activation, batch, n)
            length = np.linalg.norm(move, axis=1, keepdims=True)
            cosines.append(move @ hidden.T / np.maximum(length, 1e-30))
            if size is None:
                W = _replaced(network.W, move, target.inputs, directions)
            else:
                W = network.W + np.float32(size) * move
            network = network._replace(W=W)
            overlaps.append(W @ hidden.T)
    used = count * (1 if learner.reuse else learner.steps)
    return Training(network, start, directions, np.array(overlaps), np.array(cosines), used)


def _replaced(
    W: NDArray[np.float32], move: NDArray[np.float32], inputs: Inputs, directions: Directions
) -> NDArray[np.float32]:
    """Return the gradient of every neuron, scaled so that its field has unit variance.

    Neurons whose gradient is zero stay as they are.
    """
    G = move.astype(float)
    power = np.sum(G * inputs.apply(G, directions), axis=1)
    alive = ~(power <= 1e-20)  # NaN counts as alive, stays NaN, and is reported.
    G *= (1 / np.sqrt(np.where(alive, power, 1.0)))[:, None]
    return np.where(alive[:, None], G, W).astype(np.float32)


def leading(update: NDArray[Any], count: int, seed: int) -> NDArray[Any]:
    """Return the leading right singular vectors (count, d) of an update."""
    if count >= min(update.shape) - 1:
        return np.asarray(np.linalg.svd(update, full_matrices=False)[2][:count])
    from scipy.sparse.linalg import svds

    start = np.random.default_rng([seed, 13]).standard_normal(min(update.shape))
    start = start.astype(update.dtype)
    return np.asarray(svds(update, k=count, v0=start)[2])
