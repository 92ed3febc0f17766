"""Runs of many seeds: to the times of observation, or until they have learned.

The bits of a seed do not depend on the other seeds. Compiled loops round alike for any number of
runs that is a multiple of eight, so the chain is filled up to one. Runs on all coordinates, whose
products round by their shapes, are made in groups whose size depends on d and the batch only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.inputs import Frame
from learnability.learners.networks.starts import Start, random_start, weights_at
from learnability.learners.online import _steps
from learnability.learners.online._chain import BLOCK, advance_chain
from learnability.learners.online._coordinates import advance_coordinates
from learnability.learners.online._steps import Numbers, Recipe, State
from learnability.targets.multi_index import MultiIndex

__all__ = ["Runs", "Setting", "recover", "run", "side_by_side"]

Array = NDArray[np.float64]
_MOST_SEEDS = 4096  # Largest number at once, so that random numbers stay below a gigabyte.
_LANES = 8
_GROWTH = 1.5  # Factor between the times at which it is checked which runs have learned.


class Setting(NamedTuple):
    """What is run.

    Attributes
    ----------
    recipe, rates
        The rule, and (step, look_ahead, second_step).
    target, frame, d
        Where the samples come from, and the marked axes of their inputs in dimension d.
    start, second : Start or None, array
        Order parameters, None for random ones, and the second layer.
    engine : {"reduced", "full"}
        The chain, or all coordinates.
    """

    recipe: Recipe
    rates: tuple[float, float, float]
    target: MultiIndex
    frame: Frame
    d: int
    start: Start | None
    second: Array
    engine: str


class Runs(NamedTuple):
    """Order parameters along the runs, with the seeds and then the times first.

    Attributes
    ----------
    rest, overlap, second : array, shapes (S, T, p, p), (S, T, p, k), (S, T, p)
        C = Q - M M^T, the overlaps M with the marked axes and the second layer; NaN once a run has
        diverged.
    diverged : array of bool, shape (S,)
    """

    rest: Array
    overlap: Array
    second: Array
    diverged: NDArray[np.bool_]


def run(setting: Setting, steps: NDArray[np.int64], seeds: list[int]) -> Runs:
    """Run seeds side by side, some thousands at a time, and record them at the given steps.

    Parameters
    ----------
    setting : Setting
        What is run.
    steps : array of int, shape (T,)
        Steps at which the runs are recorded, not decreasing.
    seeds : list of int
        The seeds.
    """
    parts = [
        _run(setting, steps, seeds[k : k + _MOST_SEEDS]) for k in range(0, len(seeds), _MOST_SEEDS)
    ]
    return Runs(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _run(setting: Setting, steps: NDArray[np.int64], seeds: list[int]) -> Runs:
    import jax

    with jax.enable_x64(True):
        values = _values(setting)
        state, seen, now = _begin(setting, seeds), [], 0
        for step in steps:
            state = _advance(setting, state, seeds, now, int(step), values)
            seen.append(_observed(setting, state))
            now = int(step)
        diverged = np.asarray(state.diverged)
    rest, overlap, second = (np.stack([look[k] for look in seen], axis=1) for k in range(3))
    return Runs(rest, overlap, second, diverged)


def recover(
    setting: Setting, last: int, seeds: list[int], correlation: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return steps after which fields first have a correlation, and divergence.

    The correlation is with a hidden coordinate; -1 stands for runs that have not reached it by the
    step `last`. Runs that have reached it are removed when they are three quarters of those left.
    """
    import jax

    reached = np.full(len(seeds), -1, dtype=np.int64)
    diverged = np.zeros(len(seeds), dtype=bool)
    running = np.arange(len(seeds))
    setting = setting._replace(recipe=setting.recipe._replace(watched=True))
    with jax.enable_x64(True):
        values = _values(setting, correlation)
        state = _begin(setting, seeds)
        now, then = 0, min(last, max(setting.d, 16 * BLOCK))
        while now < last:
            own = [seeds[k] for k in running]
            state = _advance(setting, state, own, now, then, values)
            reached[running], diverged[running] = state.reached, state.diverged
            open_ = (reached[running] < 0) & ~diverged[running]
            if not open_.any():
                break
            if open_.sum() <= len(running) / 4:
                running = running[open_]
                state = _each(lambda a, keep=open_: a[keep], state)
            now, then = then, min(last, int(_GROWTH * then))
    return reached, diverged


def _values(setting: Setting, correlation: float = 0.0) -> Numbers:
    recipe, rates, target, frame, d, *_ = setting
    values = _steps.numbers(recipe, frame, d, rates, target.noise, correlation)
    if setting.engine == "reduced":
        return values
    return Numbers(*(np.float32(value) for value in values._replace(series=np.zeros(0))))


def _begin(setting: Setting, seeds: list[int]) -> State:
    p = setting.recipe.width
    spherical, given, second = setting.recipe.spherical, setting.start, setting.second
    weights: tuple[Any, Any]
    if setting.engine == "reduced":
        starts = [
            given or random_start(seed, p, setting.frame, setting.d, spherical) for seed in seeds
        ]
        weights = tuple(np.array(part) for part in zip(*starts, strict=True))  # type: ignore[assignment]
    else:
        inputs, r = setting.target.inputs, setting.target.r
        axes = [inputs.directions(seed, r, setting.d).marked for seed in seeds]
        drawn = [
            _weights(seed, E, p, spherical, given) for seed, E in zip(seeds, axes, strict=True)
        ]
        weights = np.array(drawn, dtype=np.float32), np.array(axes, dtype=np.float32)
        second = second.astype(np.float32)
    count = len(seeds)
    return State(
        weights, np.tile(second, (count, 1)), np.zeros(count, dtype=bool), np.full(count, -1)
    )


def _weights(seed: int, axes: Array, p: int, spherical: bool, start: Start | None) -> Array:
    """Return weights (p, d) with given order parameters, or random ones."""
    rng = np.random.default_rng([seed, 12])
    if start is not None:
        return weights_at(rng, axes, start)
    d = axes.shape[1]
    weights: Array = rng.standard_normal((p, d)) / np.sqrt(d)
    if spherical:
        weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    return weights


def side_by_side(d: int, batch: int) -> int:
    """Return how many runs on all coordinates are made at once: as many as stay in the cache."""
    return 64 if d * batch <= 512 else _LANES if d * batch <= 8192 else 1


def _advance(
    setting: Setting, state: State, seeds: list[int], first: int, last: int, values: Numbers
) -> State:
    """Return the state after the step `last`; runs are filled up by copies of the first."""
    if last <= first:
        return state
    count = len(seeds)
    full = setting.engine == "full"
    lanes = side_by_side(setting.d, setting.recipe.batch) if full else _LANES
    filled = np.arange(-(-count // lanes) * lanes)
    filled[count:] = 0
    own, state = np.array(seeds)[filled], _each(lambda a: a[filled], state)
    if full:
        own, state = (
            own.reshape(-1, lanes),
            _each(lambda a: a.reshape(-1, lanes, *a.shape[1:]), state),
        )
    made = advance_coordinates if full else advance_chain
    found = made(setting.recipe)(state, own, first, last, values)
    if full:
        found = _each(lambda a: a.reshape(-1, *a.shape[2:]), found)
    return _each(lambda a: a[:count], found)


def _each(change: Any, state: State) -> State:
    """Return a state with every array changed."""
    import jax

    return State(*jax.tree.map(lambda array: change(np.asarray(array)), state))


def _observed(setting: Setting, state: State) -> tuple[Any, Any, Any]:
    """Return (C, M, a) of all seeds, NaN where a run has diverged."""
    C, M = (np.asarray(part, dtype=float) for part in state.weights)
    if setting.engine == "full":
        W, M = C, C @ np.swapaxes(M, 1, 2)
        C = W @ np.swapaxes(W, 1, 2) - M @ np.swapaxes(M, 1, 2)
    lost = np.asarray(state.diverged)[:, None]
    a = np.asarray(state.second, dtype=float)
    return (
        np.where(lost[..., None], np.nan, C),
        np.where(lost[..., None], np.nan, M),
        np.where(lost, np.nan, a),
    )
