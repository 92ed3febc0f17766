"""Runs of many seeds: to the times at which they are looked at, or until they have learned."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.learners.online import _engines
from learnability.learners.online._engines import Numbers, Recipe, State
from learnability.learners.online._starts import Start, random_start, start_weights
from learnability.targets.multi_index import MultiIndex

__all__ = ["Runs", "recover", "run"]

Array = NDArray[np.float64]
_MOST_SEEDS = 4096  # Side by side, so that their random numbers stay below a gigabyte.
_GROWTH = 1.5  # Of the time between two looks at which runs have learned.


class Runs(NamedTuple):
    """Order parameters along the runs, with the seeds and then the times first.

    Attributes
    ----------
    rest, overlap, second : array, shapes (S, T, p, p), (S, T, p, r), (S, T, p)
        Q - M M^T, M and the second layer; NaN once a run has diverged.
    diverged : array of bool, shape (S,)
    """

    rest: Array
    overlap: Array
    second: Array
    diverged: NDArray[np.bool_]


def run(
    recipe: Recipe,
    rates: tuple[float, float, float],
    target: MultiIndex,
    d: int,
    steps: NDArray[np.int64],
    seeds: list[int],
    start: tuple[Start | None, Array],
    engine: str,
) -> Runs:
    """Run seeds side by side, some thousands at a time, and look at the given steps.

    Parameters
    ----------
    recipe, rates
        The rule, and (step, look_ahead, second_step).
    target, d, seeds
        Where the samples come from.
    steps : array of int, shape (T,)
        When to look; not decreasing.
    start : (Start or None, array)
        Order parameters, None for random ones, and the second layer.
    engine : {"reduced", "full"}
        See `_engines`.
    """
    groups = [seeds[k : k + _MOST_SEEDS] for k in range(0, len(seeds), _MOST_SEEDS)]
    parts = [_run(recipe, rates, target, d, steps, group, start, engine) for group in groups]
    return Runs(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _run(
    recipe: Recipe,
    rates: tuple[float, float, float],
    target: MultiIndex,
    d: int,
    steps: NDArray[np.int64],
    seeds: list[int],
    start: tuple[Start | None, Array],
    engine: str,
) -> Runs:
    import jax

    with jax.enable_x64(True):
        values = _engines.numbers(recipe, d, *rates, target.noise, 0.0)
        state = _begin(recipe, target, d, seeds, start, engine)
        seen, now = [], 0
        for step in steps:
            state = _advance(recipe, engine, state, seeds, now, int(step), values)
            seen.append(_observed(recipe, state, engine))
            now = int(step)
        diverged = np.asarray(state.diverged)
    rest, overlap, second = (np.stack([look[k] for look in seen], axis=1) for k in range(3))
    return Runs(rest, overlap, second, diverged)


def recover(
    recipe: Recipe,
    rates: tuple[float, float, float],
    target: MultiIndex,
    d: int,
    last: int,
    seeds: list[int],
    start: tuple[Start | None, Array],
    engine: str,
    overlap: float,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Steps after which runs first have the overlap (-1: not by `last`), and whether they diverged.

    Runs that are there are left out when three quarters of those under way are.
    """
    import jax

    reached = np.full(len(seeds), -1, dtype=np.int64)
    diverged = np.zeros(len(seeds), dtype=bool)
    running = np.arange(len(seeds))
    with jax.enable_x64(True):
        values = _engines.numbers(recipe, d, *rates, target.noise, overlap)
        state = _begin(recipe, target, d, seeds, start, engine)
        now, then = 0, min(last, max(d, 16 * _engines.BLOCK))
        while now < last:
            own = [seeds[k] for k in running]
            state = _advance(recipe, engine, state, own, now, then, values)
            reached[running], diverged[running] = (
                np.asarray(state.reached),
                np.asarray(state.diverged),
            )
            open_ = (reached[running] < 0) & ~diverged[running]
            if not open_.any():
                break
            if open_.sum() <= len(running) / 4:
                running = running[open_]
                state = State(*jax.tree.map(lambda a, keep=open_: np.asarray(a)[keep], state))
            now, then = then, min(last, int(_GROWTH * then))
    return reached, diverged


def _begin(
    recipe: Recipe,
    target: MultiIndex,
    d: int,
    seeds: list[int],
    start: tuple[Start | None, Array],
    engine: str,
) -> State:
    given, second = start
    p, r = recipe.width, recipe.link.r
    if engine == "reduced":
        starts = [given or random_start(seed, p, r, d, recipe.spherical) for seed in seeds]
        return _engines.initial_state(starts, second)
    hidden = [target.sample(seed, n=1, d=d, dtype=np.float64).W for seed in seeds]
    weights = [
        start_weights(seed, W, p, recipe.spherical, given)
        for seed, W in zip(seeds, hidden, strict=True)
    ]
    count = len(seeds)
    return State(
        (np.array(weights, dtype=np.float32), np.array(hidden, dtype=np.float32)),
        np.tile(second.astype(np.float32), (count, 1)),
        np.zeros(count, dtype=bool),
        np.full(count, -1),
    )


def _advance(
    recipe: Recipe,
    engine: str,
    state: State,
    seeds: list[int],
    first: int,
    last: int,
    values: Numbers,
) -> State:
    if last <= first:
        return state
    if engine == "reduced":
        return _engines.advance_reduced(recipe)(state, np.array(seeds), first, last, values)
    series = values.series[:0].astype(np.float32)
    small = values._replace(**{k: np.float32(getattr(values, k)) for k in values._fields[:-1]})
    small = small._replace(series=series)
    return _engines.advance_full(recipe)(state, np.array(seeds), first, last, small)


def _observed(recipe: Recipe, state: State, engine: str) -> tuple[Any, Any, Any]:
    """(C, M, a) of all seeds, NaN where a run has diverged."""
    first, other = (np.asarray(part, dtype=float) for part in state.weights)
    if engine == "reduced":
        C, M = first, other
    else:
        M = first @ np.swapaxes(other, 1, 2)
        C = first @ np.swapaxes(first, 1, 2) - M @ np.swapaxes(M, 1, 2)
    lost = np.asarray(state.diverged)[:, None]
    a = np.asarray(state.second, dtype=float)
    return (
        np.where(lost[..., None], np.nan, C),
        np.where(lost[..., None], np.nan, M),
        np.where(lost, np.nan, a),
    )
