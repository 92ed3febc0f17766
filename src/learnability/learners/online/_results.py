"""Order parameters of runs and of solutions under the names that all results have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.learners.online._equations import Solution
from learnability.learners.online._observables import aligned, captured, cosines, squared_errors
from learnability.learners.online._runs import Runs
from learnability.learners.protocol import dataset
from learnability.targets.multi_index import MultiIndex

if TYPE_CHECKING:
    import xarray

__all__ = ["divergence", "labelled", "labelled_paths", "labelled_runs"]

Array = NDArray[np.float64]
Variables = dict[str, tuple[tuple[str, ...], Any]]


def labelled_runs(
    learner: Any, target: MultiIndex, times: Array, runs: Runs, seeds: list[int], d: int
) -> xarray.Dataset:
    """Label runs; their arrays have seeds and times first."""
    variables = _variables(target, learner.activation, runs, "finished")
    return labelled(learner, target, "simulate", times, variables, seeds, runs, d=d)


def labelled_paths(
    learner: Any,
    target: MultiIndex,
    times: Array,
    paths: list[Solution],
    seeds: list[int] | None,
    **about: Any,
) -> xarray.Dataset:
    """Label solutions, one from each start; without seeds there is one."""
    rest, overlap, second, overlap_error, gram_error = (
        np.array([path[k] for path in paths]) for k in range(5)
    )
    found = Runs(rest, overlap, second, np.array([path.status == "diverged" for path in paths]))
    variables = _variables(target, learner.activation, found, "solved")
    for name, values in (("overlap", overlap_error), ("gram", gram_error)):
        variables[f"{name}_error"] = (variables[f"{name}_trace"][0], values)
    return labelled(learner, target, "predict", times, variables, seeds, found, **about)


def divergence(count: int, total: int) -> str:
    """A sentence about runs that diverged, empty for none."""
    if not count:
        return ""
    return (
        f"{count} of {total} runs diverged and are NaN from there on: the weights grow without "
        "bound, as they do when `step` is too large."
    )


def _variables(target: MultiIndex, activation: Link, runs: Runs, fine: str) -> Variables:
    overlap = np.array([aligned(path, target.link) for path in runs.overlap])
    cosine = cosines(runs.rest, overlap)
    error = squared_errors(target, activation, runs.rest, runs.overlap, runs.second)
    gram = runs.rest + runs.overlap @ np.swapaxes(runs.overlap, -1, -2)
    matrix = ("estimate", "index")
    return {
        "overlap": (("seed", *matrix), overlap[:, -1]),
        "cosine": (("seed", *matrix), cosine[:, -1]),
        "subspace_overlap": (("seed",), captured(runs.rest[:, -1], overlap[:, -1])),
        "error": (("seed",), error[:, -1]),
        "status": (("seed",), np.where(runs.diverged, "diverged", fine)),
        "overlap_trace": (("seed", "time", *matrix), overlap),
        "cosine_trace": (("seed", "time", *matrix), cosine),
        "gram_trace": (("seed", "time", "estimate", "other_estimate"), gram),
        "second_layer_trace": (("seed", "time", "estimate"), runs.second),
        "error_trace": (("seed", "time"), error),
    }


def labelled(
    learner: Any,
    target: Any,
    verb: str,
    times: Array,
    variables: Variables,
    seeds: list[int] | None,
    runs: Runs,
    **about: Any,
) -> xarray.Dataset:
    """Label variables over seed and time; one time, or no seeds, take the axis away."""
    coordinates: dict[str, Any] = {"time": ("time", times) if times.ndim else float(times)}
    if times.ndim == 0:
        variables = {k: _without("time", *v) for k, v in variables.items()}
    if seeds is None:
        variables = {k: _without("seed", *v) for k, v in variables.items()}
    else:
        coordinates["seed"] = ("seed", seeds)
    note = divergence(int(runs.diverged.sum()), len(runs.diverged))
    return dataset(learner, target, verb, None, variables, coordinates, note=note, **about)


def _without(axis: str, dims: tuple[str, ...], values: Any) -> tuple[tuple[str, ...], Any]:
    """A variable without an axis of length one."""
    if axis not in dims:
        return dims, values
    return tuple(d for d in dims if d != axis), np.take(values, 0, axis=dims.index(axis))
