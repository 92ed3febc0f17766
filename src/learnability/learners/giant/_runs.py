"""Runs on samples: the steps, the readouts, their errors and what was learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.labels.hermite import expand
from learnability.learners.fresh_samples import fresh_error
from learnability.learners.giant._hyperparameters import neurons, ridge_path, sigma, step_size
from learnability.learners.giant._network import Parameters, blocks, drawn, measured, readout_data
from learnability.learners.giant._parameters import linear_direction
from learnability.learners.giant._training import Training, leading, take_steps
from learnability.learners.linear_algebra.ridge import fit_readout
from learnability.learners.networks.features import ROWS, features
from learnability.learners.protocol import dataset, subspace_overlap
from learnability.progress import tracked
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import checked_memory, checked_sizes

if TYPE_CHECKING:
    import xarray

    from learnability.learners.giant.learner import GiantSteps

__all__ = ["simulated", "trained"]

Array = NDArray[np.float64]

_TEST = 1_000_000  # Number of the target's first batch on which errors are measured.


class Run(NamedTuple):
    """One seed: errors by samples and ridge, and what the first layer has learned."""

    error: Array
    train_error: Array
    status: list[list[str]]
    overlap_trace: NDArray[Any]
    cosine: NDArray[Any]
    gradient_cosine: NDArray[Any]
    subspace_overlap: float
    parameters: Parameters | None


def trained(learner: GiantSteps, target: MultiIndex, d: int, seed: int) -> Training:
    """The first layer of a run."""
    n, d = checked_sizes(target.r, None, d, learner.batch, np.float32)
    network = drawn(learner.init, seed, neurons(learner, d), d)
    sizes = [step_size(learner, target, d)] * learner.steps
    return take_steps(target, sigma(learner), network, sizes, n, seed, learner.reuse)


def simulated(
    learner: GiantSteps, target: MultiIndex, d: int, alphas: Array, seeds: Sequence[int]
) -> xarray.Dataset:
    """All runs as one result; see `GiantSteps.simulate`."""
    sizes = [
        checked_sizes(target.r, None, d, float(a), np.float32)[0] for a in np.atleast_1d(alphas)
    ]
    p, step = neurons(learner, d), step_size(learner, target, d)
    largest = 4.0 * max(sizes) * p + 12.0 * min(max(sizes), p) ** 2 + 12.0 * p * d
    checked_memory("The features of these samples", largest + 8.0 * ROWS * (p + d))
    found = [_run(learner, target, sizes, d, seed) for seed in tracked(seeds, "giant steps")]

    def stacked(name: str) -> Any:
        return np.array([getattr(run, name) for run in found])

    several = isinstance(learner.ridge, tuple)
    axes = ("alpha", "seed", "ridge") if several else ("alpha", "seed")
    variables: dict[str, tuple[tuple[str, ...], Any]] = {}
    for name in ("error", "train_error", "status"):
        values = np.moveaxis(stacked(name), 1, 0)
        variables[name] = (axes, values if several else values[..., 0])
    paths = stacked("overlap_trace")
    variables |= {
        "overlap": (("seed", "estimate", "index"), paths[:, -1]),
        "cosine": (("seed", "estimate", "index"), stacked("cosine")),
        "subspace_overlap": (("seed",), stacked("subspace_overlap")),
        "overlap_trace": (("seed", "time", "estimate", "index"), paths),
        "gradient_cosine": (("seed", "step", "estimate", "index"), stacked("gradient_cosine")),
    }
    if found[0].parameters is not None:
        values = stacked("parameters")
        names = enumerate(Parameters._fields)
        variables |= {name: (("seed",), values[:, k]) for k, name in names}
    coordinates: dict[str, Any] = {
        "seed": ("seed", list(seeds)),
        "time": ("time", np.arange(learner.steps + 1)),
        "step": ("step", np.arange(1, learner.steps + 1)),
    }
    if several:
        coordinates["ridge"] = ("ridge", list(ridge_path(learner)))
    return dataset(
        learner, target, "simulate", alphas, variables, coordinates, d=int(d), step_size=step
    )


def _run(learner: GiantSteps, target: MultiIndex, sizes: Sequence[int], d: int, seed: int) -> Run:
    ridges, activation = ridge_path(learner), sigma(learner)
    training = trained(learner, target, d, seed)
    W = training.network.W
    p, shape = len(W), (len(sizes), len(ridges))
    overlaps = training.overlaps
    with np.errstate(all="ignore"):  # Divergence is a status.
        length = np.maximum(np.linalg.norm(W, axis=1, keepdims=True), 1e-30)
        cosine = overlaps[-1] / length
    parameters = None
    if learner.steps == 1 and expand(target.link, 1).is_zero(1) is False:
        parameters = measured(training.network, linear_direction(target)[1] @ training.hidden)
    if not np.isfinite(W).all():
        nothing = np.full(shape, np.nan)
        status = [["diverged"] * len(ridges)] * len(sizes)
        return Run(nothing, nothing, status, overlaps, cosine, training.cosines, np.nan, parameters)
    weights, train, status = [], [], []
    for n in sizes:
        batch = blocks(target, seed, n, d, training.used)
        fitted = fit_readout(*readout_data(W, activation, batch, n), ridges)
        weights.append(fitted.weights)
        train.append(fitted.train_error)
        status.append(list(fitted.status))
    A = np.concatenate(weights).astype(np.float32).reshape(-1, p)
    error = fresh_error(target, seed, d, lambda X: A @ features(activation, X, W).T, first=_TEST)
    learned = leading(W - training.start, min(target.r, p, d), seed)
    return Run(
        error.reshape(shape),
        np.array(train),
        status,
        overlaps,
        cosine,
        training.cosines,
        subspace_overlap(learned, training.hidden),
        parameters,
    )
