"""The memory and time of a run, estimated from its fields and arguments before it starts.

The estimate counts floating-point operations and bytes by the conventions that learners share: n =
alpha d samples, `width` neurons (per d where its unit says so), `steps` passes over `batch` or all
samples, or `time` d single steps. It is right within a factor of ten or so, which is enough to
refuse what cannot end, and to ask before what takes hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from learnability.errors import LearnabilityError
from learnability.fields import declared, is_number
from learnability.targets.base import checked_memory

__all__ = ["LONGEST", "Size", "check_size", "size_of", "spelled"]

LONGEST = 30 * 86400.0
"""A run that would take more seconds than this is refused."""

_SPEED = 5e9  # Floating-point operations per second of one core, as measured on full batches.
_STEP = 1e-6  # Seconds that a step of a compiled loop takes at least.
_UNITS = ((365.25 * 86400, "years"), (86400, "days"), (3600, "hours"), (60, "minutes"))
_BYTES = 4.0  # Runs are in float32.


@dataclass(frozen=True)
class Size:
    """What one run needs.

    Attributes
    ----------
    bytes : float
        Memory held at once.
    seconds : float
        Time on one core.
    """

    bytes: float
    seconds: float


def size_of(learner: Any, target: Any, at: Mapping[str, Any]) -> Size:
    """Return the estimate of one run.

    Parameters
    ----------
    learner : Learner
        Whose fields are read.
    target : Target
        Its number of hidden directions is read.
    at : mapping
        Arguments of the question.
    """
    d = float(np.max(at.get("d", 1)))
    samples = float(np.max(at.get("alpha", 0.0))) * d
    width = _count(learner, "width", 1.0) * (d if _per_dimension(learner, "width") else 1.0)
    batch = _count(learner, "batch", 0.0) * (d if _per_dimension(learner, "batch") else 1.0)
    work = 2.0 * (width + target.r)
    if "time" in at:  # A step takes the time 1/d if `step` is in units of 1/d, else `step`.
        single = _per_dimension(learner, "step")
        steps = float(np.max(at["time"])) * (d if single else 1.0 / _count(learner, "step", 1.0))
        rows = max(batch, 1.0)
        wide = getattr(learner, "engine", "full") == "full"
        operations = steps * rows * work * (d if wide else width + target.r)
        held = _BYTES * (d * (rows + width) if wide else width**2)
    else:
        steps = _count(learner, "steps", 1.0)
        rows = batch or samples
        operations = work * d * (steps * rows + samples)
        held = _BYTES * d * (max(rows, samples) + width)
    return Size(held, steps * _STEP + operations / _SPEED)


def _count(learner: Any, name: str, otherwise: float) -> float:
    value = getattr(learner, name, otherwise)
    return float(value) if is_number(value) else otherwise


def _per_dimension(learner: Any, name: str) -> bool:
    """Return whether a field is in units of the dimension."""
    kind: type = type(learner)
    return name in _fields_per_dimension(kind)


@lru_cache(maxsize=64)
def _fields_per_dimension(kind: type) -> frozenset[str]:
    return frozenset(field.name for field, about in declared(kind) if "/d" in about.unit)


def check_size(who: str, learner: Any, target: Any, at: Mapping[str, Any]) -> None:
    """Refuse a run that would not fit into the memory, or would take more than a month.

    Parameters
    ----------
    who : str
        Learner, verb and question, for sentences.
    learner, target, at
        As in `size_of`.

    Raises
    ------
    LearnabilityError
        Naming the size or the time.
    """
    size = size_of(learner, target, at)
    checked_memory(f"{who}: the samples and weights of one run", size.bytes)
    if size.seconds > LONGEST:
        raise LearnabilityError(
            f"{who} would take about {spelled(size.seconds)} for one run, but at most "
            f"{spelled(LONGEST)} are accepted: use smaller sizes, fewer steps or a shorter time."
        )


def spelled(seconds: float) -> str:
    """Return a time in words: "3 hours".

    Parameters
    ----------
    seconds : float
        The time.
    """
    for unit, name in _UNITS:
        if seconds >= 2 * unit:
            return f"{seconds / unit:.2g} {name}"
    whole = max(round(seconds), 1)
    return f"{whole} second{'s' if whole > 1 else ''}"
