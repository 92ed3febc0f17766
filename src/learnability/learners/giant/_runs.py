"""Runs on samples: the steps, the readouts, their errors and what was learned.

A feature is sigma(w . x + b), so what counts is the correlation of the field w . x with the
argument of the label. On inputs with a strong spike any step raises it, even one on uninformative
labels (half a power iteration on the covariance): the controls show what the labels contributed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.learners.base import Found
from learnability.learners.giant._gradient import label_correlations
from learnability.learners.giant._network import (
    Network,
    blocks,
    measured,
    readout_data,
)
from learnability.learners.giant._parameters import linear_part
from learnability.learners.giant._training import (
    Training,
    leading,
    neurons,
    samples,
    step_size,
    train,
)
from learnability.learners.linear_algebra.ridge import fit_readout
from learnability.learners.measurement import fresh_error, subspace_overlap
from learnability.learners.networks.features import ROWS, features
from learnability.results.schema import Status
from learnability.targets.base import Target, checked_memory

if TYPE_CHECKING:
    from learnability.learners.giant.learner import GiantSteps

__all__ = ["by_ridge", "check_memory", "compared", "finished", "parameters_of"]

Array = NDArray[np.float64]

CONTROLS = ("labels", "permuted", "none")
_TEST = 1_000_000  # Number of the target's first batch on which errors are measured.


class Readouts(NamedTuple):
    """Errors and status by samples and ridge."""

    error: Array
    train_error: Array
    status: NDArray[np.str_]


def check_memory(learner: GiantSteps, d: int, alphas: Sequence[float]) -> None:
    """Refuse runs whose features do not fit into memory.

    Raises
    ------
    LearnabilityError
        The message says how much memory they need.
    """
    p, most = neurons(learner, d), samples(max(alphas), d)
    largest = 4.0 * most * p + 12.0 * min(most, p) ** 2 + 12.0 * p * d
    checked_memory("The features of these samples", largest + 8.0 * ROWS * (p + d))


def by_ridge(learner: GiantSteps, values: NDArray[Any]) -> NDArray[Any]:
    """Return values whose last axis is the ridge; a single ridge has no axis."""
    return values if isinstance(learner.ridge, tuple) else values[..., 0]


def finished(learner: GiantSteps, target: Target, at: Mapping[str, Any], seed: int) -> Found:
    """Return the final values of the steps and the readouts of one seed, by alpha."""
    d, alphas = at["d"], at["alpha"]
    training = train(learner, target, d, seed)
    W = training.network.W
    readouts = _readouts(learner, target, training.network, training.used, at, seed)
    learned = np.nan
    if np.isfinite(W).all():
        update = leading(W - training.start.W, min(target.r, len(W), d), seed)
        learned = subspace_overlap(update, training.hidden)
    with np.errstate(all="ignore"):  # Divergence is a status.
        length = np.maximum(np.linalg.norm(W, axis=1, keepdims=True), 1e-30)
        cosine = training.overlaps[-1] / length
    once = {
        "overlap": training.overlaps[-1],
        "cosine": cosine,
        "subspace_overlap": learned,
        "overlap_trace": training.overlaps,
        "gradient_cosine": training.cosines,
        **parameters_of(learner, target, training),
    }
    about = {"step_size": step_size(learner, target, d) if learner.update == "add" else None}
    return Found(
        {**_named(learner, readouts), **_repeated(once, len(alphas))},
        {"time": np.arange(learner.steps + 1), "step": np.arange(1, learner.steps + 1)},
        about,
    )


def compared(learner: GiantSteps, target: Target, at: Mapping[str, Any], seed: int) -> Found:
    """Return errors of one seed: with its labels, with permuted ones, and without a step.

    Labels are permuted in the steps only; all three readouts see the same samples.
    """
    d = at["d"]
    trained = [train(learner, target, d, seed, permute=permute) for permute in (False, True)]
    labels, shuffled = trained
    networks = (labels.network, shuffled.network, labels.start)
    found = [_readouts(learner, target, one, labels.used, at, seed) for one in networks]
    along = []
    for network in networks:
        with np.errstate(all="ignore"):  # Divergence is a status.
            top, bottom = label_correlations(network.W, target.inputs, labels.directions)
            along.append(np.mean(top / np.maximum(bottom, 1e-30)))
    return Found(
        {
            **_named(learner, found[0]),
            "permuted_error": by_ridge(learner, found[1].error),
            "none_error": by_ridge(learner, found[2].error),
            **_repeated({"label_correlation": np.array(along)}, len(at["alpha"])),
        },
        {"control": list(CONTROLS)},
    )


def parameters_of(learner: GiantSteps, target: Target, training: Training) -> dict[str, float]:
    """Return spike, alignment, bulk and spread after one step, if the target has a linear part."""
    linear = linear_part(target, training.directions) if learner.steps == 1 else None
    return {} if linear is None else measured(training.network, linear)._asdict()


def _readouts(
    learner: GiantSteps,
    target: Target,
    network: Network,
    used: int,
    at: Mapping[str, Any],
    seed: int,
) -> Readouts:
    """Fit ridge regressions on the batches after the used ones, for every alpha and ridge."""
    ridges, activation, d = learner.ridges, learner.activation, at["d"]
    shape = (len(at["alpha"]), len(ridges))
    if not np.isfinite(network.W).all():
        nothing = np.full(shape, np.nan)
        return Readouts(nothing, nothing, np.full(shape, str(Status.DIVERGED)))
    weights, train_errors, status = [], [], []
    for alpha in at["alpha"]:
        n = samples(alpha, d)
        batch = blocks(target, seed, n, d, used)
        fitted = fit_readout(*readout_data(network, activation, batch, n), ridges)
        weights.append(fitted.weights)
        train_errors.append(fitted.train_error)
        status.append(list(fitted.status))
    single = [fitted.astype(np.float32) for fitted in weights]

    def predictor(X: NDArray[Any]) -> NDArray[Any]:
        seen = features(activation, X, network.W, network.b).T
        # One product per alpha, so that its bits do not depend on which other alphas are asked for.
        return np.concatenate([A @ seen for A in single])

    error = fresh_error(target, seed, d, predictor, first=_TEST)
    return Readouts(error.reshape(shape), np.array(train_errors), np.array(status))


def _named(learner: GiantSteps, found: Readouts) -> dict[str, NDArray[Any]]:
    return {name: by_ridge(learner, values) for name, values in found._asdict().items()}


def _repeated(once: Mapping[str, Any], count: int) -> dict[str, NDArray[Any]]:
    """Return what does not depend on alpha, for every alpha."""
    return {
        name: np.broadcast_to(values, (count, *np.shape(values))) for name, values in once.items()
    }
