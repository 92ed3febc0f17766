"""Reports shared by tests, and how to compare what they hold."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from learnability.labels import Link
from learnability.reports import Hardness, hardness
from learnability.theory import Step

from tests.geometry import projector

Array = NDArray[np.float64]


@cache
def report_on(text: str, noise: float = 0.0, r: int | None = None) -> Hardness:
    """The report on a formula; a report with continuous labels takes seconds, so it is kept."""
    return hardness(Link(text, r=r), noise=noise)


def opened(steps: tuple[Step, ...]) -> list[Array]:
    """The projectors on what each step adds."""
    return [projector(step.directions) for step in steps]
