"""The first gradient of the first layer, measured in runs and predicted for training sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.inputs import Inputs
from learnability.inputs.base import Directions
from learnability.labels.hermite import expand
from learnability.learners.base import Found
from learnability.learners.giant._gradient_theory import (
    Axes,
    Points,
    Prediction,
    gradient_theory,
    law_of_inputs,
    seen_axes,
)
from learnability.learners.giant._network import blocks, drawn, gradient, permuted
from learnability.learners.giant._training import neurons, samples
from learnability.targets.base import Target

if TYPE_CHECKING:
    from learnability.learners.giant.learner import GiantSteps

__all__ = ["check_gradient", "label_correlations", "measured_gradient", "predicted_gradient"]

_NAMES = {
    "gradient_alignment": "alignment",
    "gradient_correlation": "correlation",
    "singular_values": "outliers",
    "singular_alignment": "overlaps",
}
"""Observable -> part of a prediction."""


def label_correlations(
    W: NDArray[Any], inputs: Inputs, directions: Directions
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the squared covariance of every field w . x with z, and the field's variance.

    Parameters
    ----------
    W : array, shape (p, d)
        Weights.
    inputs : Inputs
        The law of x.
    directions : Directions
        The directions of the run.

    Returns
    -------
    tuple of array, shape (p,)
        |Cov(w . x, z)|^2 with the hidden coordinates z, and Var(w . x); their ratio is the squared
        correlation.
    """
    moved = inputs.apply(np.asarray(W, dtype=float), directions)
    hidden = directions.hidden
    values, vectors = np.linalg.eigh(inputs.apply(hidden, directions) @ hidden.T)
    along = moved @ hidden.T @ (vectors / np.sqrt(values))  # Up to a rotation of z.
    return np.sum(along**2, axis=1), np.sum(W * moved, axis=1)


def measured_gradient(
    learner: GiantSteps, target: Target, at: Mapping[str, Any], seed: int
) -> Found:
    """Return alignment, correlation and singular values of the first gradient of one seed."""
    d, n = at["d"], samples(learner.batch, at["d"])
    network = drawn(learner.init, seed, neurons(learner, d), d, learner.bias)
    batch = blocks(target, seed, n, d, 0)
    if at.get("control") == "permuted":
        batch = permuted(batch, seed, 0)
    with np.errstate(all="ignore"):  # What is not finite is refused below.
        G = gradient(network, learner.activation, batch, n).astype(float)
    if not np.isfinite(G).all():
        raise LearnabilityError(
            f"{target.link!r} and {learner.activation!r} give a gradient that is not finite."
        )
    directions = target.inputs.directions(seed, target.r, d)
    top, bottom = label_correlations(G, target.inputs, directions)
    _, values, vectors = np.linalg.svd(G, full_matrices=False)
    return Found(
        {
            "gradient_alignment": np.sum((G @ directions.hidden.T) ** 2)
            / max(float(np.sum(G**2)), 1e-300),
            "gradient_correlation": top.sum() / max(float(bottom.sum()), 1e-300),
            "singular_values": values,
            "singular_alignment": np.sum((vectors @ directions.hidden.T) ** 2, axis=1),
        },
        {"rank": np.arange(len(values))},
    )


def check_gradient(learner: GiantSteps, target: Target, d: int) -> None:
    """Refuse a gradient for which there is no theory.

    Raises
    ------
    LearnabilityError
        When there is more than one spike, a second layer with entries other than +-1, an activation
        of slope zero, or a label without a finite variance.
    """
    if learner.init not in ("ones", "signs", "symmetric"):
        raise LearnabilityError(
            f"The gradient was asked for init={learner.init!r}, but it is predicted for a_j = +-1: "
            "`simulate` measures it."
        )
    frame = target.inputs.frame(target.r, d)
    if int(np.sum(frame.scale != 1.0)) > 1:
        raise LearnabilityError(
            f"The gradient was asked for inputs with {frame.spikes} spikes, but it is predicted "
            "for at most one: `simulate` measures it."
        )
    expand(target.link, 0)
    if not expand(learner.activation.derivative(), 0).energy:
        raise LearnabilityError(
            f"`activation` was given as {learner.activation!r}, whose slope is 0, and so is the "
            "gradient: give one that is not constant."
        )


def predicted_gradient(
    learner: GiantSteps, target: Target, at: Mapping[str, Any], seeds: Sequence[int] | None
) -> Found:
    """Return the gradient on a typical training set, or on those of the seeds."""
    d, n = at["d"], samples(learner.batch, at["d"])
    axes = seen_axes(target.inputs.frame(target.r, d))

    def predicted(points: Points) -> Prediction:
        return gradient_theory(
            points, learner.activation, learner.bias, learner.init, axes.frame,
            n, neurons(learner, d), d,
        )  # fmt: skip

    if seeds is None:
        found = [predicted(points) for points in law_of_inputs(target, axes.frame)]
    else:
        found = [predicted(_training_set(target, axes, seed, n, d)) for seed in seeds]
    values: dict[str, Any] = {}
    for name, part in _NAMES.items():
        parts = np.array([getattr(one, part) for one in found])
        values[name] = parts if seeds is not None else parts.mean(axis=0)
        if seeds is None and len(found) > 1:
            values[f"{name}_stderr"] = parts.std(axis=0, ddof=1) / math.sqrt(len(found))
    coords = {"rank": np.arange(len(found[0].outliers))}
    note = "Singular values near the edge of the bulk are not predicted, nor is that edge."
    return Found(values, coords, {"note": note}, lead=() if seeds is None else ("seed",))


def _training_set(target: Target, axes: Axes, seed: int, n: int, d: int) -> Points:
    """Return the coordinates and labels of the samples of a step."""
    marked = target.inputs.directions(seed, target.r, d).marked
    E = axes.turn @ marked / axes.frame.scale[:, None]
    parts = [(sample.X @ E.T, sample.y) for sample in blocks(target, seed, n, d, 0)]
    c = np.concatenate([part[0] for part in parts]).astype(float)
    y = np.concatenate([part[1] for part in parts]).astype(float)
    return Points(c, y, np.full(n, 1 / n), np.zeros(n), True)
