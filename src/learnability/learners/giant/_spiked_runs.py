"""One giant step on spiked inputs, with the two controls that tell what the labels gave.

The step is that of the correlation loss, as of a network that begins with output 0. A feature is
w.x, so what counts is its correlation rho with the argument of the label,
rho^2 = <w, Sigma beta>^2 / (kappa w^T Sigma w): for spikes above d^(1/2) any step, also one on
permuted labels, brings it close to 1 (half a power iteration). Every run is therefore made three
times: with its labels, with its labels permuted, and without a step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.learners.fresh_samples import fresh_error
from learnability.learners.giant._hyperparameters import neurons, sigma
from learnability.learners.giant._spiked_gradient import (
    Inputs,
    gradient_on_spikes,
    law_of_inputs,
)
from learnability.learners.linear_algebra.ridge import fit_readout
from learnability.learners.networks.features import ROWS, first_layer
from learnability.learners.protocol import checked_alphas, checked_seeds, dataset
from learnability.progress import tracked
from learnability.targets.protocol import checked_memory, checked_sizes
from learnability.targets.spiked_index import Spike, SpikedIndex

if TYPE_CHECKING:
    import xarray

__all__ = ["CONTROLS", "predict_gradient_on_spikes", "simulate_on_spikes"]

CONTROLS = ("labels", "permuted", "none")
_TEST = 1_000_000  # Number of the target's first batch on which errors are measured.


class _Run(NamedTuple):
    error: NDArray[Any]
    train_error: NDArray[Any]
    status: NDArray[Any]
    label_correlation: NDArray[Any]
    gradient_alignment: NDArray[Any]
    gradient_correlation: NDArray[Any]
    singular_values: NDArray[Any]
    singular_alignment: NDArray[Any]


def simulate_on_spikes(
    learner: Any, target: SpikedIndex, d: int, alpha: ArrayLike, seeds: int | Sequence[int]
) -> xarray.Dataset:
    """Runs with labels, permuted labels and no step; the arguments are those of `simulate`."""
    _check(learner)
    alphas, chosen, spike = checked_alphas(alpha), checked_seeds(seeds), target.at(d)
    sizes = [checked_sizes(3, None, d, float(a), np.float32)[0] for a in np.atleast_1d(alphas)]
    n, d = checked_sizes(3, None, d, learner.batch, np.float32)
    p = neurons(learner, d)
    largest = 4.0 * (max(*sizes, n) * (p + d) + 4 * p * d) + 12.0 * min(max(sizes), p) ** 2
    checked_memory("The features of these samples", largest)
    found = [
        _run(learner, target, spike, sizes, n, p, d, seed) for seed in tracked(chosen, "steps")
    ]
    several = isinstance(learner.ridge, tuple)
    variables: dict[str, tuple[tuple[str, ...], Any]] = {}
    for name in ("error", "train_error", "status"):
        # (seed, control, alpha, ridge)
        values = np.moveaxis(np.array([getattr(run, name) for run in found]), 2, 0)
        values = values if several else values[..., 0]
        axes = ("alpha", "seed", "ridge") if several else ("alpha", "seed")
        for k, control in enumerate(CONTROLS):
            label = name if k == 0 else f"{control}_{name}"
            variables[label] = (axes, values[:, :, k])
    for name in _Run._fields[3:]:
        values = np.array([getattr(run, name) for run in found])
        dims: tuple[str, ...] = ("seed", "control", "rank")[: values.ndim]
        variables[name] = (dims, values)
    coordinates: dict[str, Any] = {
        "seed": ("seed", chosen),
        "control": ("control", list(CONTROLS)),
        "rank": ("rank", np.arange(min(p, d))),
    }
    if several:
        coordinates["ridge"] = ("ridge", list(learner.ridge))
    return dataset(
        learner, target, "simulate", alphas, variables, coordinates,
        d=d, spike=spike.strength, alignment=spike.alignment,
    )  # fmt: skip


def _check(learner: Any) -> None:
    if learner.steps != 1:
        raise LearnabilityError(
            f"`steps` was given as {learner.steps}, but on spiked data one step is taken."
        )


def _run(
    learner: Any,
    target: SpikedIndex,
    spike: Spike,
    sizes: Sequence[int],
    n: int,
    p: int,
    d: int,
    seed: int,
) -> _Run:
    ridges = learner.ridge if isinstance(learner.ridge, tuple) else (learner.ridge,)
    start = first_layer(seed, p, d)
    rng = np.random.default_rng([seed, 14])
    bias = (learner.bias * rng.standard_normal(p)).astype(np.float32)
    sample = target.sample(seed, n=n, d=d, dtype=np.float32)
    mu, beta = target.frame(seed, d)[0], sample.W[0].astype(float)
    layers, seen = [], []
    for control in CONTROLS:
        if control == "none":
            layers.append(start)
            continue
        y = sample.y if control == "labels" else rng.permutation(sample.y)
        G = _gradient(sigma(learner), start, bias, sample.X, y)
        layers.append(_moved(start, G, learner.step, mu, spike))
        seen.append(_spectrum(G.astype(float), mu, beta, spike))
    errors, trains, statuses = [], [], []
    readouts = [next(target.batches(seed, m, d, first=1, dtype=np.float32)) for m in sizes]
    for W in layers:
        fits = [
            fit_readout(_features(sigma(learner), batch.X, W, bias), batch.y, ridges)
            for batch in readouts
        ]
        A = np.concatenate([fit.weights for fit in fits]).astype(np.float32)

        def predictor(X: NDArray[Any], A: Any = A, W: Any = W) -> NDArray[Any]:
            return np.asarray(A @ _features(sigma(learner), X, W, bias).T)

        errors.append(fresh_error(target, seed, d, predictor, first=_TEST).reshape(len(sizes), -1))
        trains.append([fit.train_error for fit in fits])
        statuses.append([list(fit.status) for fit in fits])
    along = [_correlations(W.astype(float), mu, beta, spike) for W in layers]
    return _Run(
        np.array(errors),
        np.array(trains),
        np.array(statuses),
        np.array([np.mean(top / np.maximum(bottom, 1e-30)) for top, bottom in along]),
        *(np.array(part) for part in zip(*seen, _none(p, d), strict=True)),
    )


def _gradient(
    activation: Link, W: NDArray[Any], bias: NDArray[Any], X: NDArray[Any], y: NDArray[Any]
) -> NDArray[Any]:
    """(1/n) sum_i y_i sigma'(w_j.x_i + b_j) x_i, shape (p, d)."""
    slope = activation.derivative()
    total = np.zeros_like(W)
    for first in range(0, len(X), ROWS):
        rows = slice(first, first + ROWS)
        weights = np.asarray(slope((X[rows] @ W.T + bias)[..., None]), dtype=np.float32)
        total += (weights * y[rows, None]).T @ X[rows]
    return total / np.float32(len(X))


def _moved(
    start: NDArray[Any], G: NDArray[Any], step: float | None, mu: NDArray[Any], spike: Spike
) -> NDArray[Any]:
    """After a step; without a size the gradient alone, with fields of unit variance.

    Neurons that no sample reaches have no gradient and stay as they are.
    """
    if step is not None:
        return start + np.float32(step) * G
    power = np.sum(G.astype(float) ** 2, axis=1) + spike.strength * (G @ mu) ** 2
    alive = power > 1e-20
    scale = np.where(alive, 1 / np.sqrt(np.where(alive, power, 1.0)), 0.0)
    return np.where(alive[:, None], scale[:, None] * G, start).astype(np.float32)


def _features(
    activation: Link, X: NDArray[Any], W: NDArray[Any], bias: NDArray[Any]
) -> NDArray[Any]:
    """p^(-1/2) sigma(W x + b), shape (n, p)."""
    fields = (X @ W.T + bias)[..., None]
    return np.asarray(activation(fields), dtype=X.dtype) / np.float32(math.sqrt(len(W)))


def _correlations(
    W: NDArray[Any], mu: NDArray[Any], beta: NDArray[Any], spike: Spike
) -> tuple[NDArray[Any], NDArray[Any]]:
    """<w, Sigma beta>^2 / kappa and w^T Sigma w of each neuron."""
    on_spike = W @ mu
    along = W @ beta + spike.strength * spike.alignment * on_spike
    return along**2 / spike.variance, np.sum(W**2, axis=1) + spike.strength * on_spike**2


def _spectrum(
    G: NDArray[Any], mu: NDArray[Any], beta: NDArray[Any], spike: Spike
) -> tuple[Any, Any, Any, Any]:
    """Alignment, correlation, singular values of the gradient and their vectors' alignment."""
    norm = np.sum(G**2)
    top, bottom = _correlations(G, mu, beta, spike)
    _, values, vectors = np.linalg.svd(G, full_matrices=False)
    return (
        np.sum((G @ beta) ** 2) / max(norm, 1e-300),
        top.sum() / max(float(bottom.sum()), 1e-300),
        values,
        (vectors @ beta) ** 2,
    )


def _none(p: int, d: int) -> tuple[Any, Any, Any, Any]:
    """Without a step there is no gradient."""
    nothing = np.full(min(p, d), np.nan)
    return np.nan, np.nan, nothing, nothing


def predict_gradient_on_spikes(
    learner: Any, target: SpikedIndex, d: int, seeds: int | Sequence[int] | None
) -> xarray.Dataset:
    """The gradient on a typical training set, or on those of the seeds."""
    _check(learner)
    spike = target.at(d)
    n, d = checked_sizes(3, None, d, learner.batch, np.float32)
    p = neurons(learner, d)
    expand(target.link, 0)  # A sentence where the label has no finite variance.
    if not expand(sigma(learner).derivative(), 0).energy:
        raise LearnabilityError(
            f"`activation` was given as {sigma(learner)!r}, whose slope is 0, and so is the "
            "gradient: give one that is not constant."
        )
    chosen = None if seeds is None else checked_seeds(seeds)
    if chosen is None:
        inputs = [law_of_inputs(target, spike)]
    else:
        inputs = [_training_set(target, spike, seed, n, d) for seed in chosen]
    found = [
        gradient_on_spikes(one, sigma(learner), learner.bias, spike, n, p, d) for one in inputs
    ]
    names = ("gradient_alignment", "gradient_correlation", "singular_values", "singular_alignment")
    parts = ("alignment", "correlation", "outliers", "overlaps")
    variables: dict[str, tuple[tuple[str, ...], Any]] = {}
    for name, part in zip(names, parts, strict=True):
        values = np.array([getattr(one, part) for one in found])
        axes = ("seed", "rank")[: values.ndim]
        variables[name] = (axes, values) if chosen is not None else (axes[1:], values[0])
    coordinates: dict[str, Any] = {} if chosen is None else {"seed": ("seed", chosen)}
    coordinates["rank"] = ("rank", np.arange(len(found[0].outliers)))
    return dataset(
        learner, target, "predict_gradient", None, variables, coordinates,
        d=d, spike=spike.strength, alignment=spike.alignment,
    )  # fmt: skip


def _training_set(target: SpikedIndex, spike: Spike, seed: int, n: int, d: int) -> Inputs:
    c, y = target.coordinates(seed, n, d)
    h = c @ np.array(spike.cosines)
    return Inputs(c[:, 0], h, y, y**2, np.full(n, 1 / n), True)
