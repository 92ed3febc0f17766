"""Observables from order parameters: overlaps, correlations, lengths and errors along paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.inputs import Frame
from learnability.labels.link import Link
from learnability.learners.measurement import overlaps_in_frame
from learnability.learners.networks.known_moments import knowing_weights
from learnability.learners.networks.starts import root_of
from learnability.learners.online._equations import Solution
from learnability.learners.online._motion import fields
from learnability.learners.online._nodes import nodes_for
from learnability.learners.online._runs import Runs
from learnability.learners.online._steps import Recipe
from learnability.results.schema import STDERR, Status
from learnability.targets.multi_index import MultiIndex

__all__ = ["divergence", "observed_runs", "observed_solutions"]

Array = NDArray[np.float64]


def observed_runs(target: MultiIndex, recipe: Recipe, frame: Frame, runs: Runs) -> dict[str, Any]:
    """Return observables of runs, with the seeds first: final values, and paths along the time."""
    error = squared_errors(target, recipe, frame, runs)[0]
    return _observed(target, frame, runs, error, Status.FINISHED)


def _observed(
    target: MultiIndex, frame: Frame, runs: Runs, error: Array, fine: Status
) -> dict[str, Any]:
    turns = np.array([symmetry_of(path @ frame.hidden.T, target.link) for path in runs.overlap])
    gram = runs.rest + runs.overlap @ np.swapaxes(runs.overlap, -1, -2)
    length = np.einsum("...jj->...j", runs.rest) + (runs.overlap**2).sum(axis=-1)
    paths = overlaps_in_frame(runs.overlap, length, frame)
    for name in ("overlap", "correlation"):
        paths[name] = paths[name] @ turns[:, None]
    paths["cosine"] = paths["overlap"] / np.sqrt(np.maximum(length, 1e-300))[..., None]
    paths["gram"], paths["second_layer"], paths["error"] = gram, runs.second, error
    found: dict[str, Any] = {name: path[:, -1] for name, path in paths.items()}
    found |= {f"{name}_trace": path for name, path in paths.items()}
    found["subspace_overlap"] = captured(gram[:, -1], found["overlap"])
    found["status"] = np.where(runs.diverged, str(Status.DIVERGED), str(fine))
    return found


def observed_solutions(
    target: MultiIndex, recipe: Recipe, frame: Frame, solutions: Sequence[Solution]
) -> dict[str, Any]:
    """Return observables of solutions, one from each start, with the standard errors of paths.

    That of the error is of its own nodes and of the order parameters, which differ by rule.
    """
    rest, overlap, second, diverged = (np.array(part) for part in zip(*solutions, strict=True))
    runs = Runs(rest.mean(axis=1), overlap.mean(axis=1), second.mean(axis=1), diverged)
    errors = squared_errors(target, recipe, frame, runs, fine=True)
    found = _observed(target, frame, runs, errors.mean(axis=0), Status.SOLVED)
    by_rule = [
        Runs(rest[:, k], overlap[:, k], second[:, k], diverged) for k in range(rest.shape[1])
    ]
    moved = [squared_errors(target, recipe, frame, one)[0] for one in by_rule]
    own = np.hypot(_standard_error(errors), _standard_error(np.array(moved)))
    spreads: dict[str, Any] = {"overlap": [], "gram": [], "error": own}
    for one, mean in zip(solutions, runs.overlap, strict=True):
        turn = symmetry_of(mean @ frame.hidden.T, target.link)
        spreads["overlap"].append(_standard_error(one.overlap @ frame.hidden.T @ turn))
        spreads["gram"].append(
            _standard_error(one.rest + one.overlap @ np.swapaxes(one.overlap, -1, -2))
        )
    for name, spread in spreads.items():
        found[name + STDERR] = np.array(spread)[:, -1]
        found[f"{name}_trace{STDERR}"] = np.array(spread)
    return found


def divergence(lost: NDArray[np.bool_]) -> str | None:
    """Return a sentence about runs that diverged."""
    if not lost.any():
        return None
    return (
        f"{lost.sum()} of {len(lost)} runs diverged and are NaN from there on: the weights grow "
        "without bound, as they do when `step` is too large."
    )


def symmetry_of(path: Array, link: Link) -> Array:
    """Return P^T (r, r) of the symmetry P of the link that maximises the last overlaps' trace."""
    if not np.isfinite(path[-1]).all():
        return np.eye(link.r)
    turns = [s.matrix.T for s in link.symmetries if s.character == 1]
    return np.asarray(max(turns, key=lambda turn: float(np.trace(path[-1] @ turn)) + 1e-12))


def captured(gram: Array, overlap: Array) -> Array:
    """Return ||P P*||_F^2 / r = Tr M^T Q^+ M / r of the span of the weights."""
    found = np.full(overlap.shape[:-2], np.nan)
    known = np.isfinite(gram).all(axis=(-1, -2))
    inverse = np.linalg.pinv(gram[known], rcond=1e-10, hermitian=True)
    M = overlap[known]
    found[known] = np.einsum("njk,njl,nlk->n", M, inverse, M) / overlap.shape[-1]
    return found


def squared_errors(
    target: MultiIndex, recipe: Recipe, frame: Frame, runs: Runs, fine: bool = False
) -> Array:
    """Return E[(f - y)^2] of fresh noisy labels, shape (rules, S, T).

    One rule of some ten thousand nodes, or the `fine` ones, whose spread is their error. They know
    E[y] and E[y^2], whatever the nodes miss of these.
    """
    p = recipe.width
    rest, overlap, tau = fields(runs.rest, runs.overlap, frame)
    if recipe.normalisation != "none":
        rest, overlap = rest / (tau[..., :, None] * tau[..., None, :]), overlap / tau[..., None]
    rules = nodes_for(target.link, recipe.activation, p, 0.0, True, fine=fine)
    mean, variance = target.label_mean, target.label_variance - target.noise
    found = np.full((len(rules), *rest.shape[:-2]), np.nan)
    for rule, nodes in zip(found, rules, strict=True):
        weights = knowing_weights(nodes.y, mean, variance, nodes.weights)
        for at in np.argwhere(np.isfinite(rest).all(axis=(-1, -2))):
            C, M, a = (part[tuple(at)] for part in (rest, overlap, runs.second))
            field = M @ nodes.hidden + root_of(C) @ nodes.own
            f = a @ recipe.activation(field[..., None])
            rule[tuple(at)] = target.noise + max(float((f - nodes.y) ** 2 @ weights), 0.0)
    return found


def _standard_error(values: Array) -> Array:
    """Return the error of the mean over the first axis; one rule alone is taken as exact."""
    if len(values) == 1:
        return np.zeros_like(values[0])
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(len(values)))
