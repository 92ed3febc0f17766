"""The errors that theory gives: in the limit of one step, and given the first layer of runs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.learners.giant._bulk import Batch, BatchRows, Bulk, IndependentRows
from learnability.learners.giant._conditional import features_given, label_nodes, labels_given
from learnability.learners.giant._hyperparameters import neurons, ridge_path, sigma, step_size
from learnability.learners.giant._layer import given_layer, layer_errors
from learnability.learners.giant._network import Parameters, measured
from learnability.learners.giant._parameters import linear_direction, one_step
from learnability.learners.giant._runs import trained
from learnability.learners.giant._spiked import Errors, Features, Labels, errors
from learnability.learners.protocol import dataset
from learnability.progress import tracked
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import checked_memory, checked_sizes

if TYPE_CHECKING:
    import xarray

    from learnability.learners.giant.learner import GiantSteps

__all__ = ["best_ridge", "check_limit", "limit", "predicted", "predicted_finite"]

Array = NDArray[np.float64]

_TYPICAL = 500
"""Dimension of the first layer whose spread of lengths is taken for that of the limit."""
_LOST = Errors(math.nan, math.nan, "diverged")


def limit(learner: GiantSteps, target: MultiIndex, bulk: str = "independent") -> Parameters:
    """Spike, alignment and bulk of one step, or a sentence."""
    _check_one_step(learner)
    step = step_size(learner, target, None)
    found = one_step(target, sigma(learner), learner.init, step, learner.batch)
    if bulk == "batch":
        network = trained(learner, target, _TYPICAL, seed=0).network
        found = found._replace(spread=measured(network, np.eye(_TYPICAL)[0]).spread)
    return found


def _check_one_step(learner: GiantSteps) -> None:
    if learner.steps != 1:
        raise LearnabilityError(
            f"The theory was asked for {learner.steps} steps, but exact errors and spectra are "
            "known after one: `hardness` has the staircase of later steps."
        )


def check_limit(learner: GiantSteps, bulk: str, independent: bool) -> None:
    """Refuse activations and signs whose first layer has no known limit."""
    if bulk not in ("independent", "batch"):
        raise LearnabilityError(
            f"`bulk` was given as {bulk!r}, but 'independent' or 'batch' is accepted."
        )
    activation = sigma(learner)
    shared = bulk == "independent" and not independent
    if shared and expand(activation, 2).is_zero(2) is not True:
        raise LearnabilityError(
            f"The errors after a step were asked for {activation!r} with E[sigma''] != 0, "
            "whose neurons share more of the batch than one spike: use bulk='batch', an "
            "activation such as tanh(z), or give `parameters` for independent neurons."
        )
    if learner.init == "ones":
        return
    z = np.linspace(0.0, 6.0, 97)[:, None]
    odd = np.allclose(activation(-z), -activation(z), rtol=1e-9, atol=1e-12)
    if learner.init == "symmetric" or not odd:
        raise LearnabilityError(
            f"The errors were asked for init={learner.init!r} and {activation!r}, but their limit "
            "is known for init='ones', and for init='signs' with an odd activation: use "
            "`predict_finite`."
        )


def predicted(
    learner: GiantSteps, target: MultiIndex, alphas: Array, given: Parameters, bulk: str
) -> xarray.Dataset:
    """Errors in the limit; see `GiantSteps.predict`."""
    direction = linear_direction(target)[1]
    inputs = features_given(sigma(learner), given)
    labels = labels_given(target, direction, given.alignment, inputs.kappa)
    rows: Bulk = IndependentRows(given.bulk**2, 1 + len(labels.linear))
    if bulk == "batch":
        step = step_size(learner, target, None)
        batch = _batch(target, sigma(learner), learner.init, step, learner.batch)
        rows = BatchRows(batch, given.alignment, given.bulk**2)
    found = [
        [
            _errors(inputs, labels, rows, float(a), learner.width, ridge)
            for ridge in ridge_path(learner)
        ]
        for a in np.atleast_1d(alphas)
    ]
    variables = _by_alpha(learner, found, ())
    variables |= {name: ((), value) for name, value in given._asdict().items()}
    return dataset(learner, target, "predict", alphas, variables, _coordinates(learner))


@lru_cache(maxsize=8)
def _batch(target: MultiIndex, activation: Link, init: str, step: float, size: float) -> Batch:
    """The samples of a step, with what they have computed."""
    bent = expand(activation, 2)
    slopes = expand(activation.derivative(), 0)
    s1, s2 = float(bent.tensors[1].item()), float(bent.tensors[2].item())
    z, y, weights = label_nodes(target, linear_direction(target)[1])
    e = y - (bent.mean if init == "ones" else 0.0)
    noise = step**2 * max(slopes.energy - s1**2 - s2**2, 0.0) / size
    return Batch(z, e, weights, size, step * s2, noise)


def _errors(
    inputs: Features, labels: Labels, rows: Bulk, alpha: float, beta: float, ridge: float
) -> Errors:
    """The errors; without a ridge their limit, infinite at the interpolation peak."""
    if ridge > 0:
        return errors(inputs, labels, rows, alpha, beta, ridge)
    power = float((inputs.bulk**2 * inputs.linear**2 + inputs.rest) @ inputs.weights)
    before = Errors(math.inf, math.inf, "stopped")
    for exponent in range(4, 10):
        small = power * 10.0**-exponent
        one, two = (errors(inputs, labels, rows, alpha, beta, k * small) for k in (1, 2))
        test, train = 2 * one.test - two.test, max(2 * one.train - two.train, 0.0)
        if abs(test - before.test) <= 1e-6 * test:
            return Errors(test, train, one.status)
        before = Errors(test, train, one.status)
    return Errors(math.inf, math.nan, "stopped")


def predicted_finite(
    learner: GiantSteps, target: MultiIndex, d: int, alphas: Array, seeds: Sequence[int]
) -> xarray.Dataset:
    """Errors given the first layers of runs; see `GiantSteps.predict_finite`."""
    _check_one_step(learner)
    linear = linear_direction(target)[1]
    if min(ridge_path(learner)) <= 0:
        raise LearnabilityError(
            "`ridge` is 0, but the errors of a given first layer are predicted for ridges above 0."
        )
    sizes = [
        checked_sizes(target.r, None, d, float(a), np.float32)[0] for a in np.atleast_1d(alphas)
    ]
    checked_memory("The covariances of these neurons", 8.0 * 20 * neurons(learner, d) ** 2)
    found, parameters = [], []
    for seed in tracked(seeds, "first layers"):
        training = trained(learner, target, d, seed)
        network = training.network
        parameters.append(measured(network, linear @ training.hidden))
        rows = [[_LOST for _ in ridge_path(learner)] for _ in sizes]
        # Divergence is a status.
        with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
            if np.isfinite(network.W).all():
                paired = learner.init == "symmetric"
                layer = given_layer(network, sigma(learner), target, training.hidden, paired)
                rows = [[layer_errors(layer, n, r) for r in ridge_path(learner)] for n in sizes]
        found.append([[one if math.isfinite(one.test) else _LOST for one in row] for row in rows])
    turned = [list(row) for row in zip(*found, strict=True)]  # By alpha, then seed.
    variables = _by_alpha(learner, turned, ("seed",))
    values = np.array(parameters)
    names = enumerate(Parameters._fields)
    variables |= {name: (("seed",), values[:, k]) for k, name in names}
    coordinates = {"seed": ("seed", list(seeds)), **(_coordinates(learner) or {})}
    return dataset(learner, target, "predict_finite", alphas, variables, coordinates, d=int(d))


def _by_alpha(
    learner: GiantSteps, found: Sequence[Any], between: tuple[str, ...]
) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Errors and status as labelled arrays, the axis of ridges last where there are several."""
    several = isinstance(learner.ridge, tuple)
    shape = np.shape(found)[: 2 + len(between)]
    flat = np.array(found, dtype=object).reshape(-1, 3)
    variables: dict[str, tuple[tuple[str, ...], Any]] = {}
    for k, (name, kind) in enumerate((("error", float), ("train_error", float), ("status", str))):
        values: Any = flat[:, k].astype(kind).reshape(shape)
        axes = ("alpha", *between, "ridge")
        variables[name] = (axes, values) if several else (axes[:-1], values[..., 0])
    return variables


def _coordinates(learner: GiantSteps) -> dict[str, Any] | None:
    if not isinstance(learner.ridge, tuple):
        return None
    return {"ridge": ("ridge", list(learner.ridge))}


def best_ridge(learner: GiantSteps, target: MultiIndex, alpha: float) -> tuple[float, float]:
    """The ridge with the smallest predicted error; see `GiantSteps.best_ridge`."""
    from scipy.optimize import minimize_scalar

    def error(log_ridge: float) -> float:
        one = dataclasses.replace(learner, ridge=math.exp(log_ridge))
        return float(one.predict(target, alpha=alpha).error)

    grid = np.linspace(math.log(1e-6), math.log(1e4), 24)
    k = int(np.clip(np.argmin([error(x) for x in grid]), 1, len(grid) - 2))
    found = minimize_scalar(error, bounds=(grid[k - 1], grid[k + 1]), method="bounded")
    return math.exp(float(found.x)), float(found.fun)
