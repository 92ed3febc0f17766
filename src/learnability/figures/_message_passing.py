"""Runs of Bayes-optimal message passing that several figures share, and their sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from learnability.drawing.theory_and_runs import against

if TYPE_CHECKING:
    import xarray

__all__ = ["Size", "message_passing"]


@dataclass(frozen=True)
class Size:
    """How much a figure computes.

    Attributes
    ----------
    d : int
        Dimension of the runs.
    runs : int
        Runs at each ratio.
    alphas : tuple of float
        Ratios n / d of the runs.
    theory : int
        Points of the line of theory.
    """

    d: int
    runs: int
    alphas: tuple[float, ...]
    theory: int


def message_passing(link: str, size: Size, store: Path | None = None) -> xarray.Dataset:
    """Bayes-optimal message passing: state evolution, runs and the report's thresholds.

    Parameters
    ----------
    link : str
        The link as text.
    size : Size
        How much to compute.
    store : Path, optional
        File that keeps the runs: a figure that was interrupted goes on from there.
    """
    from learnability.learners import BayesAMP
    from learnability.reports import hardness
    from learnability.studies import study
    from learnability.theory.state_evolution import state_evolution

    report = hardness(link)
    thresholds = [
        s.alpha for s in report.staircase if s.alpha is not None and 0 < s.alpha < math.inf
    ]
    jump = state_evolution(report.target.channel).thresholds.alpha_algorithmic
    learner = BayesAMP()
    theory = learner.predict(link, alpha=_line_grid(size, thresholds, jump))
    runs = study(learner, link, d=size.d, alpha=size.alphas, seeds=size.runs, store=store)
    return against(theory, runs, thresholds)


def _line_grid(size: Size, kinks: Sequence[float], jump: float) -> NDArray[np.float64]:
    """Ratios of a line: evenly up to the last runs, at kinks, and on both sides of a jump.

    The jump is NaN where there is none. Closer below it than this the overlap is not resolved.
    """
    last = max(size.alphas) + 0.1
    even = np.linspace(0.02, last, size.theory)
    special = [a for a in (*kinks, (1 - 4e-3) * jump, (1 + 1e-4) * jump) if a < last]
    return np.unique(np.concatenate([even, special]))
