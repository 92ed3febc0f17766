"""Errors of kernels and random features: in the limit, in dimension d, and with spikes.

Without `d` they are those of large dimension at samples of the order of d^l. In dimension d all
degrees up to seven are taken at once, at the lengths that inputs and neurons have there, and on
inputs with spikes the coordinates along these are treated exactly. The frame of the inputs decides
which theory applies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.inputs.base import Frame
from learnability.labels.hermite import expand
from learnability.learners.base import Found, Learner, Question, Side
from learnability.learners.lazy._length_blocks import DEGREE, FEW_NODES, NODES, target_parts
from learnability.learners.lazy._levels import limit_levels
from learnability.learners.lazy._spiked_kernel import SpikedKernel
from learnability.learners.lazy._spiked_points import (
    SCRAMBLES,
    Spikes,
    fresh_points,
    spiked_levels,
    training_points,
)
from learnability.learners.lazy._spiked_regression import Points, conditional_errors, limit_errors
from learnability.learners.measurement import FAR_MEAN, far_mean_note, mean_ratio
from learnability.targets.base import Target
from learnability.theory.equivalent import Levels, errors
from learnability.theory.length_equivalent import Blocks, length_errors
from learnability.theory.radial import harmonics

__all__ = ["FEWEST_SAMPLES", "VALUES", "KernelView", "along_ridges", "check_reach", "predicted"]

Array = NDArray[np.float64]

FEWEST_SAMPLES = 5
"""Samples; fewer are as different from one another as from what is typical."""

_SMALL, _ROUNDING = 300, 1e-7
"""Below this dimension sums over lengths have errors that can be seen; and those of all sums."""
_TOO_FEW = (
    "Errors are undecided (NaN) where fits of so few samples, or neurons, are too different for a "
    "typical one, and where so many samples learn degrees above seven: use `simulate`."
)

VALUES = Question(
    "values",
    "The errors of the regression on fresh samples and on its own.",
    ("error", "train_error"),
    simulate=Side(needs=("d", "alpha"), observables=("status",)),
    predict=Side(
        needs=("alpha",),
        takes=("d", "degree"),
        observables=("kappa",),
        seeds=True,
        inputs=("isotropic", "spiked"),
    ),
)
"""The one question of learners without features."""


class KernelView(NamedTuple):
    """A kernel or random features, as the theory needs them.

    Attributes
    ----------
    features : float
        Number of features per dimension; infinite for a kernel.
    weights : callable
        () -> weights of the kernel by degree, and that of all higher degrees.
    blocks : callable
        (d, largest number of samples, lengths) -> the kernel by angular degree and length.
    parts : callable
        ((1 + theta) / d of every spike, d, seed of sampled points) -> the kernel on spiked inputs.
    """

    features: float
    weights: Callable[[], tuple[Array, float]]
    blocks: Callable[[int, float, int], Blocks]
    parts: Callable[[Array, int, int], SpikedKernel]


def along_ridges(learner: Learner, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return arrays whose last axis is the ridge; a single ridge has no axis."""
    several = isinstance(getattr(learner, "ridge", None), tuple)
    return {k: np.asarray(v) if several else np.asarray(v)[..., 0] for k, v in values.items()}


def check_reach(target: Target, at: Mapping[str, Any]) -> None:
    """Refuse arguments that no theory covers together.

    Raises
    ------
    LearnabilityError
        When `degree` is given with `d`, d is 1, or the samples are too few, or on spikes too many.
    """
    if "d" not in at:
        return
    d = at["d"]
    if "degree" in at:
        raise LearnabilityError(
            "`degree` was given with `d`, but in dimension d all degrees are taken at once: leave "
            "out one of them."
        )
    if d < 2:
        raise LearnabilityError(f"`d` was given as {d!r}, but a whole number from 2 is accepted.")
    most, least = float(np.max(at["alpha"])), round(float(np.min(at["alpha"])) * d)
    if least < FEWEST_SAMPLES:
        raise LearnabilityError(
            f"`alpha` was given as {float(np.min(at['alpha'])):g} in dimension {d}, which is "
            f"{least} samples, but typical training sets are predicted from {FEWEST_SAMPLES} on: "
            "use `simulate`."
        )
    if target.channel.law is not None and not _frame(target, d).isotropic:
        raise LearnabilityError(
            f"The random label {target.channel.law.name} was given with spiked inputs, but their "
            "theory needs noise whose variance does not change along the spikes: give a function "
            "with Gaussian `noise`."
        )
    if not _frame(target, d).isotropic and most > math.sqrt(d):
        raise LearnabilityError(
            f"`alpha` was given as {most:g} on spiked inputs in dimension {d}, but the theory "
            f"holds for n up to d^(3/2), here alpha = {math.sqrt(d):g}: beyond, the bulk is "
            "learned to second order too."
        )


def predicted(
    learner: Learner,
    view: KernelView,
    target: Target,
    at: Mapping[str, Any],
    seeds: Sequence[int] | None,
) -> Found:
    """Return the errors by alpha, by seed where these are given, and by ridge.

    Parameters
    ----------
    learner : Learner
        The learner with its `ridge`.
    view : KernelView
        Its kernel.
    target, at, seeds
        As in `Learner.theory`.

    Raises
    ------
    LearnabilityError
        When seeds are given to a theory of typical training sets.
    """
    d, alphas = at.get("d"), at["alpha"]
    frame = None if d is None else _frame(target, d)
    if seeds is not None and (frame is None or not frame.spikes):
        raise LearnabilityError(
            "`seeds` was given, but a training set enters the theory through its coordinates along "
            "the spikes of the inputs, and there are none: leave it out."
        )
    if seeds is not None and math.isfinite(view.features):
        raise LearnabilityError(
            "`seeds` was given with features of finite width, whose errors are predicted for the "
            "typical training set only: leave it out, or use KernelRidge."
        )
    if d is None or frame is None:
        degree = at.get("degree", 1)
        levels = limit_levels(*view.weights(), target, degree)
        about: dict[str, Any] = {"degree": degree, "floor": levels.noise}
        if (ratio := mean_ratio(target)) > FAR_MEAN:
            about["note"] = far_mean_note(ratio)
        return Found(_curves(learner, levels, alphas, view.features), attrs=about)
    if frame.isotropic and seeds is None:
        neurons = view.features * d
        if math.isfinite(neurons):
            neurons = max(round(neurons), 1)  # As many as runs have.
        view.weights()  # Raises if the function is no kernel.
        values = _at_lengths(learner, view, target, d, np.round(alphas * d), neurons)
        found = {**values, "kappa": 1 + np.log(alphas) / math.log(d)}
        return Found(found, attrs={"note": _TOO_FEW} if np.isnan(values["error"]).any() else {})
    return _on_spikes(learner, view, target, Spikes.of(frame, d), at, seeds)


def _frame(target: Target, d: int) -> Frame:
    return target.inputs.frame(target.r, d)


def _curves(learner: Learner, levels: Levels, samples: Array, features: float) -> dict[str, Any]:
    found = np.array([[errors(levels, n, features, v) for v in learner.ridges] for n in samples])
    return along_ridges(learner, {"error": found[..., 0], "train_error": found[..., 1]})


def _at_lengths(
    learner: Learner, view: KernelView, target: Target, d: int, samples: Array, features: float
) -> dict[str, Any]:
    """Return the errors in dimension d, where inputs have different lengths, and what they lack."""

    def found_with(count: int) -> Array:
        blocks = view.blocks(d, float(samples.max()), count)
        parts = target_parts(target, d, len(blocks.sizes), count)
        return np.array(
            [
                [length_errors(blocks, parts, n, features, v) for v in learner.ridges]
                for n in samples
            ]
        )

    found = found_with(NODES)
    numbers = np.isfinite(found[..., :2])
    value = np.where(numbers, found[..., :2], 0.0)
    stated = np.maximum(found[..., 2:], _ROUNDING * value)
    if d < _SMALL:
        fewer = found_with(FEW_NODES)[..., :2]
        stated = stated + np.abs(np.where(numbers, fewer, 0.0) - value)
    # Of degrees beyond the last, samples learn a share that the theory takes as zero.
    share = np.minimum(samples, features) / harmonics(d, DEGREE + 1)
    share = np.where(view.blocks(d, float(samples.max()), FEW_NODES).tail.any(), share, 0.0)
    stated = np.where(numbers, stated + share[:, None, None] * value, np.nan)
    undecided = (share[:, None] > 1) | (numbers.all(axis=-1) & np.isnan(stated).any(axis=-1))
    found[..., 2:] = stated
    found[undecided] = np.nan
    names = ("error", "train_error", "error_stderr", "train_error_stderr")
    return along_ridges(learner, {name: found[..., k] for k, name in enumerate(names)})


def _on_spikes(
    learner: Learner,
    view: KernelView,
    target: Target,
    spikes: Spikes,
    at: Mapping[str, Any],
    seeds: Sequence[int] | None,
) -> Found:
    """Return the errors on spiked inputs, as means over sets of Sobol points where needed."""
    expand(target.link, 0)  # Raises if the label has no finite variance.
    d = at["d"]
    sizes = [max(round(float(alpha) * d), 1) for alpha in at["alpha"]]
    found: list[Any] = []
    for scramble in range(1 if spikes.exact else SCRAMBLES):
        parts = view.parts(spikes.t, d, scramble)
        fresh = fresh_points(parts, spikes, target, d, scramble)
        if seeds is None:
            found.append([_typical(learner, view, fresh, target, n, d) for n in sizes])
            continue
        trained = [[training_points(parts, spikes, target, s, n, d) for s in seeds] for n in sizes]
        found.append(
            [
                [
                    [conditional_errors(one, fresh, d, v, target.noise) for v in learner.ridges]
                    for one in row
                ]
                for row in trained
            ]
        )
    each = np.array(found, dtype=float)
    values = {"error": each.mean(axis=0)[..., 0], "train_error": each.mean(axis=0)[..., 1]}
    if not spikes.exact:
        spread = each.std(axis=0, ddof=1) / math.sqrt(SCRAMBLES)
        values |= {"error_stderr": spread[..., 0], "train_error_stderr": spread[..., 1]}
    method = "two levels" if math.isfinite(view.features) else "limit"
    return Found(
        along_ridges(learner, values),
        attrs={"method": method if seeds is None else "conditional"},
        lead=None if seeds is None else ("alpha", "seed"),
    )


def _typical(
    learner: Learner, view: KernelView, fresh: Points, target: Target, n: int, d: int
) -> list[tuple[float, float]]:
    """Return the errors of a typical training set by ridge."""
    if math.isinf(view.features):
        return [limit_errors(fresh, n, d, ridge, target.noise) for ridge in learner.ridges]
    levels, p = spiked_levels(fresh, d, target.noise), max(round(view.features * d), 1)
    return [errors(levels, n, p, ridge) for ridge in learner.ridges]
