"""Steps and staircases, as values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Staircase", "Step"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a staircase.

    Attributes
    ----------
    directions : array, shape (k, r)
        The new directions, orthonormal rows.
    kind : {"trivial", "easy", "hard", "csq"}
        By what they are found.
    alpha : float or None
        Samples over dimension at which they open when the earlier directions are known: 0.0 for
        trivial, inf for hard, None for CSQ steps.
    order : int or None
        Order of the conditional Hermite moment that shows them; None when none was found.
    alpha_error : float or None
        Error of `alpha`.
    alpha_self_consistent : float or None
        The same when the earlier directions are only as well known as they can be at that alpha;
        None where it has not been computed.
    """

    directions: Array = field(repr=False)
    kind: str
    alpha: float | None
    order: int | None
    alpha_error: float | None = None
    alpha_self_consistent: float | None = None

    def __post_init__(self) -> None:
        self.directions.setflags(write=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers; infinities become None."""
        return {
            "directions": self.directions.tolist(),
            "kind": self.kind,
            "alpha": _finite(self.alpha),
            "order": self.order,
            "alpha_error": _finite(self.alpha_error),
            "alpha_self_consistent": _finite(self.alpha_self_consistent),
        }


@dataclass(frozen=True)
class Staircase:
    """Steps, and sentences on what stayed in doubt.

    Attributes
    ----------
    steps : tuple of Step
        In their order.
    doubts : tuple of str
        Sentences on what stayed in doubt.
    methods : tuple of str
        How the steps were found.
    """

    steps: tuple[Step, ...]
    doubts: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
