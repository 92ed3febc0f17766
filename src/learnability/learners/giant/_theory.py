"""Errors predicted by theory: in the limit of one step, and given the first layers of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.learners.base import Found
from learnability.learners.base.sizes import check_size
from learnability.learners.giant._bulk import Batch, BatchRows, Bulk, IndependentRows
from learnability.learners.giant._conditional import (
    check_resolved,
    features_given,
    label_nodes,
    labels_given,
)
from learnability.learners.giant._given_layer import given_layer
from learnability.learners.giant._layer_errors import layer_errors
from learnability.learners.giant._limit_errors import Errors, Features, Labels, errors
from learnability.learners.giant._network import Parameters, measured
from learnability.learners.giant._parameters import (
    Bends,
    bends,
    checked_parameters,
    linear_direction,
    one_step,
)
from learnability.learners.giant._runs import by_ridge, parameters_of
from learnability.learners.giant._training import neurons, samples, step_size, train
from learnability.learners.measurement import FAR_MEAN, far_mean_note, mean_ratio
from learnability.progress import tracked
from learnability.results.schema import Status
from learnability.targets.base import Target, checked_memory

if TYPE_CHECKING:
    from learnability.learners.giant.learner import GiantSteps

__all__ = [
    "Curve",
    "batch_law",
    "batch_of",
    "best_ridges",
    "check_limit",
    "limit",
    "predicted",
    "predicted_finite",
]

Array = NDArray[np.float64]

_TYPICAL = 500
"""Dimension of the first layer whose spread of lengths stands for that of the limit."""
_FEW, _NOISE, _LARGEST_BATCH = 500.0, 1e-3, 5000.0
"""Samples over dimension of that layer: more are not drawn where noise adds a smaller share to the
squared lengths of the rows; and the most that are drawn."""
_SOON = 10.0
"""Dimensions in use are far above 1/spike^2 if that is below this number; else there is a note."""
_LOST = Errors(math.nan, math.nan, str(Status.DIVERGED))
_NONE = 1e-12
"""A spike of this length is none."""
_FURTHER = 12
"""Ridges beyond the usual ones, each 2.7 times further, at which the smallest error is sought."""
_HUGE = 1e12
"""Weights beyond this size count as diverged."""


def limit(learner: GiantSteps, target: Target, bulk: str = "independent") -> Parameters:
    """Return the spike, alignment and bulk of one step.

    Raises
    ------
    LearnabilityError
        When the second layer does not consist of signs.
    """
    if learner.init not in ("ones", "signs", "symmetric"):
        raise LearnabilityError(
            f"The limit of one step was asked for init={learner.init!r}, but it is known for a_j = "
            "+-1: give `d`, for the errors of first layers in that dimension."
        )
    step = step_size(learner, target, None)
    found = one_step(target, learner.activation, learner.init, step, learner.batch)
    check_resolved(target, found.alignment)
    if bulk == "batch":
        # Signs with an odd activation are the same as ones.
        enough = replace(learner, init="ones", batch=_enough(learner, target, step))
        network = train(enough, target, _TYPICAL).network
        found = found._replace(spread=measured(network, np.eye(_TYPICAL)[0]).spread)
    return found


def _enough(learner: GiantSteps, target: Target, step: float) -> float:
    """Return the batch from which the noise of a step does not change the lengths of the rows.

    Raises
    ------
    LearnabilityError
        When that is too large to be drawn.
    """
    words = target, learner.activation, "ones", step
    few, many = (one_step(*words, batch) for batch in (1.0, 1e12))
    noise = few.bulk**2 - many.bulk**2 + few.spike**2 - many.spike**2  # It falls as 1 / batch.
    enough = min(learner.batch, max(_FEW, noise / (_NOISE * many.bulk**2)))
    if enough > _LARGEST_BATCH:
        raise LearnabilityError(
            f"The limit of a step of size {step:.3g} on {learner.batch:.3g} d samples was asked "
            f"for, but the lengths of its rows take a first layer on more than {_LARGEST_BATCH:g} "
            "d samples: use a smaller `step` or `batch`, or give `parameters`."
        )
    return enough


def check_limit(learner: GiantSteps, bulk: str, independent: bool) -> None:
    """Refuse activations and second layers whose first layer has no known limit.

    Parameters
    ----------
    learner : GiantSteps
        The learner.
    bulk : {"independent", "batch"}
        Law of the neurons apart from the spike.
    independent : bool
        Whether the user has asked for independent neurons by giving their parameters.

    Raises
    ------
    LearnabilityError
        The message says what to use instead.
    """
    activation = learner.activation
    shared = bulk == "independent" and not independent
    if shared and expand(activation, 2).is_zero(2) is not True:
        raise LearnabilityError(
            f"The errors after a step were asked for {activation!r} with E[sigma''] != 0 and "
            "bulk='independent', but these neurons share more of the batch than a spike: use "
            "bulk='batch', which is the default, or give `parameters` for independent neurons."
        )
    if learner.init == "ones":
        return
    z = np.linspace(0.0, 6.0, 97)[:, None]
    odd = np.allclose(activation(-z), -activation(z), rtol=1e-9, atol=1e-12)
    if learner.init != "signs" or not odd:
        raise LearnabilityError(
            f"The errors were asked for init={learner.init!r} and {activation!r}, but their limit "
            "is known for init='ones', and for init='signs' with an odd activation: give `d`, for "
            "the errors of first layers in that dimension."
        )


class Curve:
    """The error in the limit as a function of alpha and ridge; all else is computed once."""

    def __init__(self, learner: GiantSteps, target: Target, at: Mapping[str, Any]) -> None:
        asked = at.get("parameters")
        bulk = at.get("bulk", "batch" if asked is None else "independent")
        check_limit(learner, bulk, independent=asked is not None)
        direction = linear_direction(target)[1]
        given = limit(learner, target, bulk) if asked is None else checked_parameters(asked)
        self.parameters, self.width = given, learner.width
        self.features = features_given(learner.activation, given)
        self.labels = labels_given(target, direction, given.alignment, self.features.kappa)
        self.rows: Bulk = IndependentRows(given.bulk**2, 1 + len(self.labels.linear))
        if bulk == "batch":
            step = step_size(learner, target, None)
            batch = batch_law(target, learner.activation, learner.init, step, learner.batch)
            self.rows = BatchRows(batch, given.alignment, given.bulk**2)

    def __call__(self, alpha: float, ridge: float) -> Errors:
        return _errors(self.features, self.labels, self.rows, alpha, self.width, ridge)


def predicted(learner: GiantSteps, target: Target, at: Mapping[str, Any]) -> Found:
    """Return errors in the limit, by alpha."""
    curve = Curve(learner, target, at)
    found = [[curve(float(a), ridge) for ridge in learner.ridges] for a in at["alpha"]]
    once = curve.parameters._asdict()
    if curve.parameters.spike < _NONE:
        once["alignment"] = math.nan
    repeated = {name: np.full(len(at["alpha"]), value) for name, value in once.items()}
    about: dict[str, Any] = {}
    needed = 1 / max(curve.parameters.spike, 1e-9) ** 2
    if curve.parameters.spike < _NONE:
        about["note"] = (
            f"{learner.activation!r} has E[sigma'] = 0, so that a step on a batch of order d adds "
            "no spike: nothing has an alignment, and the errors are those of neurons that share "
            "their batch alone."
        )
    elif needed > _SOON:
        about["note"] = (
            f"The limit of a small step holds in dimensions far above 1/spike^2 = {needed:.3g}; "
            "below, the readout hardly sees the step: give `d`."
        )
    if (ratio := mean_ratio(target)) > FAR_MEAN:
        about["note"] = " ".join([*about.values(), far_mean_note(ratio)])
    return Found({**_named(learner, found), **repeated}, attrs=about)


@lru_cache(maxsize=8)
def batch_law(target: Target, activation: Link, init: str, step: float, size: float) -> Batch:
    """Return the law of the samples of a step, kept with all that is computed from it."""
    z, y, weights = label_nodes(target, linear_direction(target)[1])
    return batch_of(z, y, weights, bends(activation), init, step, size)


def batch_of(
    z: Array,
    y: Array,
    weights: Array,
    known: Bends,
    init: str | tuple[float, ...],
    step: float,
    size: float,
) -> Batch:
    """Return the samples of a step from their coordinates (k, r), labels and weights."""
    e = y - (known.mean if init == "ones" else 0.0)
    noise = step**2 * max(known.power - known.slope**2 - known.bend**2, 0.0) / size
    return Batch(z, e, weights, size, step * known.bend, noise)


def _errors(
    inputs: Features, labels: Labels, rows: Bulk, alpha: float, beta: float, ridge: float
) -> Errors:
    """Return the errors; without a ridge their limit, infinite at the interpolation peak."""
    if ridge > 0:
        return errors(inputs, labels, rows, alpha, beta, ridge)
    power = float((inputs.bulk**2 * inputs.linear**2 + inputs.rest) @ inputs.weights)
    before = Errors(math.inf, math.inf, str(Status.STOPPED))
    for exponent in range(4, 10):
        small = power * 10.0**-exponent
        one, two = (errors(inputs, labels, rows, alpha, beta, k * small) for k in (1, 2))
        test, train_error = 2 * one.test - two.test, max(2 * one.train - two.train, 0.0)
        if abs(test - before.test) <= 1e-6 * test:
            return Errors(test, train_error, one.status)
        before = Errors(test, train_error, one.status)
    return Errors(math.inf, math.nan, str(Status.STOPPED))


def predicted_finite(
    learner: GiantSteps, target: Target, at: Mapping[str, Any], seeds: Sequence[int]
) -> Found:
    """Return errors given the first layers of runs, by alpha and seed."""
    d = at["d"]
    if min(learner.ridges) <= 0:
        raise LearnabilityError(
            "`ridge` is 0, but the errors of a given first layer are predicted for ridges above 0."
        )
    sizes = [samples(alpha, d) for alpha in at["alpha"]]
    check_size("predict giant-steps with `d`", learner, target, {"d": d})
    checked_memory("The covariances of these neurons", 8.0 * 20 * neurons(learner, d) ** 2)
    found, parameters = [], []
    for seed in tracked(list(seeds), "first layers"):
        training = train(learner, target, d, seed)
        network = training.network
        parameters.append(parameters_of(learner, target, training))
        rows = [[_LOST for _ in learner.ridges] for _ in sizes]
        # Divergence is reported by the status.
        with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
            if np.isfinite(network.W).all() and np.abs(network.W).max() < _HUGE:
                paired = learner.init == "symmetric"
                layer = given_layer(
                    network, learner.activation, target, training.directions, paired
                )
                rows = [[layer_errors(layer, n, ridge) for ridge in learner.ridges] for n in sizes]
        found.append([[_told(one) for one in row] for row in rows])
    turned = [list(row) for row in zip(*found, strict=True)]  # By alpha, then seed.
    repeated = {
        name: np.broadcast_to([one[name] for one in parameters], (len(sizes), len(seeds)))
        for name in parameters[0]
    }
    return Found({**_named(learner, turned), **repeated}, lead=("alpha", "seed"))


def _told(one: Errors) -> Errors:
    """Return errors that have converged; others become NaN."""
    if not math.isfinite(one.test):
        return _LOST
    return (
        one if one.status == str(Status.CONVERGED) else one._replace(test=math.nan, train=math.nan)
    )


def _named(learner: GiantSteps, found: Sequence[Any]) -> dict[str, NDArray[Any]]:
    """Return errors and status, nested lists of `Errors`, as arrays."""
    flat = np.array(found, dtype=object)
    kinds = (("error", float), ("train_error", float), ("status", str))
    return {
        name: by_ridge(learner, flat[..., k].astype(kind)) for k, (name, kind) in enumerate(kinds)
    }


def best_ridges(learner: GiantSteps, target: Target, at: Mapping[str, Any]) -> Found:
    """Return the ridge of the smallest predicted error, and that error; NaN where it is at an end.

    The error is looked at from 1e-6 to 1e4, and further where it still falls there.
    """
    from scipy.optimize import minimize_scalar

    curve = Curve(learner, target, at)
    ridges, least, lost = [], [], False
    for alpha in at["alpha"]:

        def error(log_ridge: float, alpha: float = float(alpha)) -> float:
            return curve(alpha, math.exp(log_ridge)).test

        grid = np.linspace(math.log(1e-6), math.log(1e4), 24)
        values = [error(x) for x in grid]
        step = grid[1] - grid[0]
        for _ in range(_FURTHER):
            k = int(np.argmin(values))
            if k == 0:
                grid = np.append(grid[0] - step, grid)
                values.insert(0, error(grid[0]))
            elif k == len(grid) - 1:
                grid = np.append(grid, grid[-1] + step)
                values.append(error(grid[-1]))
            else:
                break
        k = int(np.argmin(values))
        if k in (0, len(grid) - 1):
            lost = True
            ridges.append(math.nan)
            least.append(math.nan)
            continue
        found = minimize_scalar(error, bounds=(grid[k - 1], grid[k + 1]), method="bounded")
        ridges.append(math.exp(float(found.x)))
        least.append(float(found.fun))
    values_by_name = {"best_ridge": np.array(ridges), "error": np.array(least)}
    return Found(values_by_name, attrs={"note": _NO_BEST} if lost else {})


_NO_BEST = (
    "Where there is no best ridge the error falls with every larger ridge, as for a label that is "
    "almost all noise, or with every smaller one: give the ridges that you have in mind."
)
