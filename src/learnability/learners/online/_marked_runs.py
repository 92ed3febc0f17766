"""Runs of one-pass SGD on spiked data, and what is reported of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.learners.marked import correlations
from learnability.learners.online import _engines
from learnability.learners.online._engines import Numbers, Recipe, State
from learnability.learners.online._marked_chain import SpikeNumbers, advance_marked
from learnability.learners.online._residual_norms import quantile_series
from learnability.learners.online._starts import Start, random_start
from learnability.learners.protocol import dataset
from learnability.targets.spiked_index import Spike, SpikedIndex

if TYPE_CHECKING:
    import xarray

__all__ = ["recovery_on_spikes", "runs_on_spikes"]

Array = NDArray[np.float64]
_MOST_SEEDS = 8192  # Side by side, so that their random numbers stay below a gigabyte.
_GROWTH = 1.5  # Of the time between two looks at which runs have learned.


def _checked(learner: Any, d: int) -> None:
    if learner.engine != "reduced":
        raise LearnabilityError(
            'engine="full" was given with spiked data, which run by the exact chain: use '
            'engine="reduced".'
        )
    if learner.normalisation != "none" and learner.rule != "plain":
        raise LearnabilityError(
            f"`rule` was given as {learner.rule!r} with normalisation="
            f"{learner.normalisation!r}, but normalised steps use a sample once: rule='plain'."
        )
    if d < learner.width + 2:
        raise LearnabilityError(
            f"`d` was given as {d!r}, but spiked data need at least width + 2 = "
            f"{learner.width + 2}."
        )


def _arguments(
    learner: Any, recipe: Recipe, target: SpikedIndex, d: int, threshold: float
) -> tuple[Numbers, SpikeNumbers]:
    spike = target.at(d)
    rates: tuple[float, float, float] = learner._rates
    values = _engines.numbers(recipe, d, *rates, target.noise, threshold)
    freedom = d - recipe.width - 2
    series = quantile_series(freedom, max(min(recipe.batch, freedom), 0))
    return values._replace(series=series), SpikeNumbers(
        math.sqrt(1 + spike.strength), *spike.cosines
    )


def _begin(learner: Any, spike: Spike, d: int, seeds: list[int], start: Any) -> State:
    p = learner.width
    if start is None:
        starts = [random_start(seed, p, 2, d, learner.spherical) for seed in seeds]
    else:
        starts = [_given(start, p, spike)] * len(seeds)
    return _engines.initial_state(starts, learner._second)


def _given(start: Any, p: int, spike: Spike) -> Start:
    """Order parameters from (Q, m, s): W W^T, and overlaps with beta and mu."""
    try:
        Q, m, s = start
        Q, m, s = (
            np.array(Q, dtype=float, ndmin=2),
            *(np.atleast_1d(x).astype(float) for x in (m, s)),
        )
    except (TypeError, ValueError):
        Q, m, s = np.zeros((0, 0)), np.zeros(0), np.zeros(0)
    if Q.shape != (p, p) or m.shape != (p,) or s.shape != (p,):
        raise LearnabilityError(
            f"`start` was given as {start!r}, but for spiked data (Q, m, s) are accepted: W W^T "
            f"({p}, {p}), and the overlaps with the hidden direction and with the spike ({p},)."
        )
    a = spike.alignment
    other = math.sqrt(max(1 - a * a, 0.0))
    b = (m - a * s) / other if other > 1e-9 else np.zeros(p)
    M = np.column_stack([s, b])
    rest = Q - M @ M.T
    if not np.isfinite(rest).all() or np.linalg.eigvalsh(rest)[0] < -1e-9 * np.abs(Q).max():
        raise LearnabilityError(
            "`start` gives an outside part that is not positive: no weights have these order "
            "parameters."
        )
    return Start(rest, M)


def runs_on_spikes(
    learner: Any,
    target: SpikedIndex,
    d: int,
    times: Array,
    seeds: list[int],
    start: tuple[ArrayLike, ...] | None,
) -> xarray.Dataset:
    """Run seeds side by side and look at the given times; the arguments are those of `simulate`."""
    import jax

    spike = target.at(d)
    _checked(learner, d)
    recipe = learner._recipe(target)
    advance = advance_marked(recipe, learner.normalisation)
    steps = np.rint(np.atleast_1d(times) * d).astype(np.int64)
    parts = []
    for first in range(0, len(seeds), _MOST_SEEDS):
        group = seeds[first : first + _MOST_SEEDS]
        seen, now = [], 0
        with jax.enable_x64(True):
            values, numbers = _arguments(learner, recipe, target, d, 0.0)
            state = _begin(learner, spike, d, group, start)
            for step in steps:
                if step > now:
                    state = advance(state, np.array(group), now, int(step), values, numbers)
                    now = int(step)
                weights = [np.asarray(part, dtype=float) for part in state.weights]
                seen.append((*weights, np.asarray(state.second, dtype=float)))
            looks = [np.stack([look[k] for look in seen], axis=1) for k in range(3)]
            parts.append((*looks, np.asarray(state.diverged)))
    C, M, a, lost = (np.concatenate(part) for part in zip(*parts, strict=True))
    for part in (C, M, a):
        part[lost] = np.nan
    gram = C + M @ np.swapaxes(M, -1, -2)
    s = M[..., 0]
    m = spike.alignment * s + math.sqrt(max(1 - spike.alignment**2, 0.0)) * M[..., 1]
    lengths = np.diagonal(gram, axis1=-2, axis2=-1)
    rho = correlations(np.stack([m, s, lengths], axis=-1), spike)
    traces: dict[str, tuple[tuple[str, ...], Any]] = {
        "overlap": (("estimate", "index"), m[..., None]),
        "spike_overlap": (("estimate",), s),
        "correlation": (("estimate",), rho),
        "gram": (("estimate", "other_estimate"), gram),
        "second_layer": (("estimate",), a),
    }
    variables: dict[str, tuple[tuple[str, ...], Any]] = {}
    for name, (dims, path) in traces.items():
        variables[name] = (("seed", *dims), path[:, -1])
        axes = ("seed", "time", *dims) if times.ndim else ("seed", *dims)
        variables[f"{name}_trace"] = (axes, path if times.ndim else path[:, 0])
    variables["status"] = (("seed",), np.where(lost, "diverged", "finished"))
    coordinates: dict[str, Any] = {
        "seed": ("seed", seeds),
        "time": ("time", times) if times.ndim else float(times),
    }
    return dataset(
        learner, target, "simulate", None, variables, coordinates,
        d=int(d), spike=spike.strength, alignment=spike.alignment,
    )  # fmt: skip


def recovery_on_spikes(
    learner: Any,
    target: SpikedIndex,
    d: int,
    last: int,
    seeds: list[int],
    start: tuple[ArrayLike, ...] | None,
    correlation: float,
) -> xarray.Dataset:
    """Time at which |rho| of a neuron first reaches a correlation, as `simulate_recovery`."""
    import jax

    spike = target.at(d)
    _checked(learner, d)
    recipe = learner._recipe(target, watched=True)
    advance = advance_marked(recipe, learner.normalisation)
    reached, lost = np.full(len(seeds), -1, dtype=np.int64), np.zeros(len(seeds), dtype=bool)
    running = np.arange(len(seeds))
    with jax.enable_x64(True):
        values, numbers = _arguments(learner, recipe, target, d, correlation)
        state = _begin(learner, spike, d, seeds, start)
        now, then = 0, min(last, max(d, 16 * _engines.BLOCK))
        while now < last and len(running):
            own = np.array([seeds[k] for k in running])
            state = advance(state, own, now, then, values, numbers)
            reached[running], lost[running] = np.asarray(state.reached), np.asarray(state.diverged)
            open_ = (reached[running] < 0) & ~lost[running]
            if open_.sum() <= len(running) / 2:  # Fewer shapes to compile, little wasted.
                running = running[open_]
                state = State(*jax.tree.map(lambda a, keep=open_: np.asarray(a)[keep], state))
            now, then = then, min(last, int(_GROWTH * then))
    status = np.where(reached >= 0, "recovered", np.where(lost, "diverged", "stopped"))
    found = np.where(reached >= 0, reached / d, np.inf)
    return dataset(
        learner, target, "simulate_recovery", None,
        {"recovery_time": (("seed",), found), "status": (("seed",), status)},
        {"seed": ("seed", list(seeds))},
        d=int(d), spike=spike.strength, alignment=spike.alignment,
    )  # fmt: skip
