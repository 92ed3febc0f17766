"""Runs of Bayes-optimal message passing that several figures share, and their sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from learnability.drawing.theory_and_runs import against

if TYPE_CHECKING:
    import xarray

    from learnability.targets import Target
    from learnability.theory import Step

__all__ = ["Size", "groups", "message_passing"]

_LAST = math.pi**2 / 4
"""The last threshold of the links of the literature."""


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


def message_passing(
    link: str, size: Size, store: Path | None = None, target: Target | None = None
) -> xarray.Dataset:
    """Return state evolution, runs of Bayes-optimal message passing, and the thresholds.

    Parameters
    ----------
    link : str
        The link of the literature as text.
    size : Size
        How much to compute; its ratios are those of the link of the literature.
    store : Path, optional
        File that keeps the runs: an interrupted figure continues from there.
    target : Target, optional
        The user's own target; ratios are then stretched to its last threshold.

    Returns
    -------
    xarray.Dataset
        Theory and runs, the variable `threshold`, and `group` by index: directions that open
        together have the same group.
    """
    from learnability.learners import BayesAMP
    from learnability.learners.base import check_support
    from learnability.reports import Hardness, hardness
    from learnability.studies import study
    from learnability.targets import as_target
    from learnability.theory.state_evolution import state_evolution

    own = target is not None
    target = target or as_target(link)
    learner = BayesAMP()
    side = learner.questions[0].predict
    assert side is not None
    check_support(learner, side, "the figure", target)
    report = hardness(target)
    assert isinstance(report, Hardness)
    thresholds = [
        s.alpha for s in report.staircase if s.alpha is not None and 0 < s.alpha < math.inf
    ]
    stretch = max(thresholds, default=_LAST) / _LAST if own else 1.0
    alphas = tuple(stretch * alpha for alpha in size.alphas)
    jump = state_evolution(target.channel).thresholds.alpha_algorithmic
    theory = learner.predict(target, alpha=_line_grid(alphas, size.theory, thresholds, jump))
    runs = study(learner, target, d=size.d, alpha=alphas, seeds=size.runs, store=store)
    data = against(theory, runs, thresholds)
    data["group"] = ("index", _groups(report.staircase, target.r))
    return data


def _groups(steps: Sequence[Step], r: int) -> list[int]:
    """Return the step that opens each coordinate; if a step opens combinations, each is alone."""
    weight = np.array([np.sum(step.directions**2, axis=0) for step in steps]).reshape(-1, r)
    aligned = np.all(np.minimum(weight, np.abs(1 - weight)) < 1e-6)
    if not aligned or not weight.any(axis=0).all():
        return list(range(r))
    return [int(step) for step in weight.argmax(axis=0)]


def groups(data: xarray.Dataset) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield directions that are drawn as one, and their name."""
    group = data["group"].values
    for which in dict.fromkeys(group.tolist()):
        members = tuple(int(i) for i in np.nonzero(group == which)[0])
        names = [f"$z_{i + 1}$" for i in members] if len(group) > 1 else ["$z$"]
        yield members, " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _line_grid(
    alphas: Sequence[float], points: int, kinks: Sequence[float], jump: float
) -> NDArray[np.float64]:
    """Return ratios of a line: evenly spaced ones, those of kinks, and both sides of a jump.

    The jump is NaN where there is none. Closer below it than 0.4 % the overlap is not resolved.
    """
    last = max(alphas) + 0.1
    even = np.linspace(0.02, last, points)
    special = [a for a in (*kinks, (1 - 4e-3) * jump, (1 + 1e-4) * jump) if a < last]
    return np.unique(np.concatenate([even, special]))
