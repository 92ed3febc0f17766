"""Runs of one-pass SGD on spiked data, and what is reported of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.learners.marked import correlations
from learnability.learners.online import _engines
from learnability.learners.online._engines import Numbers, Recipe, State
from learnability.learners.online._marked_chain import SpikeNumbers, advance_marked
from learnability.learners.online._marked_full import advance_marked_full
from learnability.learners.online._residual_norms import quantile_series
from learnability.learners.online._results import labelled
from learnability.learners.online._runs import Runs
from learnability.learners.online._starts import Start, random_start, start_weights
from learnability.learners.protocol import dataset
from learnability.targets.protocol import checked_sizes
from learnability.targets.spiked_index import Spike, SpikedIndex

if TYPE_CHECKING:
    import xarray

__all__ = ["given_start", "labelled_on_spikes", "recovery_on_spikes", "runs_on_spikes"]

Array = NDArray[np.float64]
_MOST_SEEDS = 8192  # Side by side, so that their random numbers stay below a gigabyte.
_GROWTH = 1.5  # Of the time between two looks at which runs have learned.


def _checked(learner: Any, d: int) -> None:
    if learner.normalisation != "none" and learner.rule != "plain":
        raise LearnabilityError(
            f"`rule` was given as {learner.rule!r} with normalisation="
            f"{learner.normalisation!r}, but normalised steps use a sample once: rule='plain'."
        )
    if learner.engine == "full":
        return
    if d < learner.width + 2:
        raise LearnabilityError(
            f"`d` was given as {d!r}, but spiked data need at least width + 2 = "
            f'{learner.width + 2}; engine="full" accepts less.'
        )


def _arguments(
    learner: Any, recipe: Recipe, target: SpikedIndex, d: int, threshold: float
) -> tuple[Numbers, SpikeNumbers]:
    spike = target.at(d)
    rates: tuple[float, float, float] = learner._rates
    values = _engines.numbers(recipe, d, *rates, target.noise, threshold)
    numbers = SpikeNumbers(math.sqrt(1 + spike.strength), *spike.cosines)
    if learner.engine == "full":
        small = {k: np.float32(getattr(values, k)) for k in values._fields[:-1]}
        values = values._replace(**small, series=values.series[:0].astype(np.float32))
        return values, SpikeNumbers(*(np.float32(v) for v in numbers))
    freedom = d - recipe.width - 2
    series = quantile_series(freedom, max(min(recipe.batch, freedom), 0))
    return values._replace(series=series), numbers


def _engine(learner: Any, recipe: Recipe) -> Callable[..., State]:
    made = advance_marked_full if learner.engine == "full" else advance_marked
    return made(recipe, learner.normalisation)


def _begin(learner: Any, target: SpikedIndex, d: int, seeds: list[int], start: Any) -> State:
    p = learner.width
    given = None if start is None else given_start(start, p, target.at(d), learner.spherical)
    if learner.engine == "reduced":
        starts = [given or random_start(seed, p, 2, d, learner.spherical) for seed in seeds]
        return _engines.initial_state(starts, learner._second)
    size = len(seeds) * (p + 2 + learner.batch)
    checked_sizes(3, size, d, None, np.float32)
    frames = [target.frame(seed, d) for seed in seeds]
    weights = [
        start_weights(seed, frame, p, learner.spherical, given)
        for seed, frame in zip(seeds, frames, strict=True)
    ]
    return State(
        (np.array(weights, dtype=np.float32), np.array(frames, dtype=np.float32)),
        np.tile(learner._second.astype(np.float32), (len(seeds), 1)),
        np.zeros(len(seeds), dtype=bool),
        np.full(len(seeds), -1),
    )


def _observed(learner: Any, state: State) -> tuple[Array, Array, Array]:
    """C, M and the second layer of all seeds."""
    first, other = (np.asarray(part, dtype=float) for part in state.weights)
    second = np.asarray(state.second, dtype=float)
    if learner.engine == "reduced":
        return first, other, second
    M = first @ np.swapaxes(other, 1, 2)
    return first @ np.swapaxes(first, 1, 2) - M @ np.swapaxes(M, 1, 2), M, second


def given_start(start: Any, p: int, spike: Spike, spherical: bool) -> Start:
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
    if spherical and not np.allclose(np.diag(Q), 1):
        raise LearnabilityError(
            f"`start` gives squared lengths {np.diag(Q)}, but weights on the sphere have length 1."
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
    advance = _engine(learner, recipe)
    steps = np.rint(np.atleast_1d(times) * d).astype(np.int64)
    parts = []
    for first in range(0, len(seeds), _MOST_SEEDS):
        group = seeds[first : first + _MOST_SEEDS]
        seen, now = [], 0
        with jax.enable_x64(True):
            values, numbers = _arguments(learner, recipe, target, d, 0.0)
            state = _begin(learner, target, d, group, start)
            for step in steps:
                if step > now:
                    state = advance(state, np.array(group), now, int(step), values, numbers)
                    now = int(step)
                seen.append(_observed(learner, state))
            looks = [np.stack([look[k] for look in seen], axis=1) for k in range(3)]
            parts.append((*looks, np.asarray(state.diverged)))
    C, M, a, lost = (np.concatenate(part) for part in zip(*parts, strict=True))
    for part in (C, M, a):
        part[lost] = np.nan
    found = Runs(C, M, a, lost)
    return labelled_on_spikes(learner, target, "simulate", times, found, seeds, spike, d=int(d))


def labelled_on_spikes(
    learner: Any,
    target: SpikedIndex,
    verb: str,
    times: Array,
    runs: Runs,
    seeds: list[int] | None,
    spike: Spike,
    **about: Any,
) -> xarray.Dataset:
    """Label runs or solutions, whose overlaps (S, T, p, 2) are those with the frame."""
    C, M, a, lost = runs
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
        variables[f"{name}_trace"] = (("seed", "time", *dims), path)
    fine = "finished" if verb == "simulate" else "solved"
    variables["status"] = (("seed",), np.where(lost, "diverged", fine))
    return labelled(
        learner, target, verb, times, variables, seeds, runs,
        spike=spike.strength, alignment=spike.alignment, **about,
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
    advance = _engine(learner, recipe)
    reached, lost = np.full(len(seeds), -1, dtype=np.int64), np.zeros(len(seeds), dtype=bool)
    running = np.arange(len(seeds))
    with jax.enable_x64(True):
        values, numbers = _arguments(learner, recipe, target, d, correlation)
        state = _begin(learner, target, d, seeds, start)
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
