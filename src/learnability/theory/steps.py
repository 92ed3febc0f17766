"""Steps and staircases, as values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Staircase", "Step"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """One step of a staircase.

    Attributes
    ----------
    directions : array, shape (k, r)
        The new directions, orthonormal rows.
    kind : {"trivial", "easy", "hard", "csq"} or None
        How hard it is to find them; None when undecided.
    alpha : float or None
        Samples per dimension at which they open when the earlier directions are known: 0.0 for
        trivial, inf for hard, None for CSQ steps and when undecided.
    order : int or None
        Order of the conditional Hermite moment that shows them; None when none was found.
    alpha_error : float or None
        Error of `alpha`.
    alpha_self_consistent : float or None
        The same when the earlier directions are only as well known as they can be at that alpha;
        None where it has not been computed.
    """

    directions: Array
    kind: str | None
    alpha: float | None
    order: int | None
    alpha_error: float | None = None
    alpha_self_consistent: float | None = None

    def __post_init__(self) -> None:
        self.directions.setflags(write=False)

    def __repr__(self) -> str:
        error = f" +- {self.alpha_error:.1g}" if self.alpha_error else ""
        at = "" if self.alpha is None else f" at alpha = {self.alpha:.6g}{error}"
        rows = (np.round(self.directions, 4) + 0.0).tolist()  # Without negative zeros.
        return f"<Step: {self.kind}{at}, order {self.order}, directions {rows}>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers; infinities become None."""
        return {
            "directions": self.directions.tolist(),
            "kind": self.kind,
            "alpha": finite(self.alpha),
            "order": self.order,
            "alpha_error": finite(self.alpha_error),
            "alpha_self_consistent": finite(self.alpha_self_consistent),
        }


@dataclass(frozen=True)
class Staircase:
    """The steps of a staircase, and what stayed in doubt.

    Attributes
    ----------
    steps : tuple of Step
        The steps in their order.
    doubts : tuple of str
        Sentences on what stayed in doubt.
    methods : tuple of str
        How the steps were found.
    """

    steps: tuple[Step, ...]
    doubts: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()


def finite(value: float | None) -> float | None:
    """Return a number, or None in place of an infinite one."""
    return None if value is None or not math.isfinite(value) else value
