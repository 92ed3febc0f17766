"""The equations of motion of a learner on a target: which averages, their error, the solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.learners.online._averages import nodes_for
from learnability.learners.online._engines import Recipe
from learnability.learners.online._erf_kernels import closed_drift
from learnability.learners.online._flat_axis import flat_axis_drifts
from learnability.learners.online._marked_motion import label_correlation, marked_drifts
from learnability.learners.online._motion import Drift, Point, Rates, averaged_drift, flow
from learnability.learners.online._one_neuron import growth, series_drift
from learnability.learners.online._starts import Start
from learnability.learners.online._termwise import linear_terms
from learnability.targets.spiked_index import Spike

__all__ = ["Equations", "Solution"]

Array = NDArray[np.float64]
_TIGHT, _LOOSE = 1e-6, 1e-4
"""Tolerances of the integration for exact averages and for those with an error of their own."""
_RULES = {1: "Gauss rules", 2: "Gauss rules and even grids"}
"""Number of rules -> what they are."""


class Solution(NamedTuple):
    """Order parameters at the asked times, with the standard errors of M and of Q."""

    rest: Array
    overlap: Array
    second: Array
    overlap_error: Array
    gram_error: Array
    status: str


class Equations:
    """Equations of motion.

    Parameters
    ----------
    recipe : Recipe
        The learner and the link.
    noise : float
        Variance of the label noise.
    rates : tuple of float
        (step, look_ahead, second_step).
    schedule : Link or None
        Factor of the steps.
    spike : Spike, optional
        Of spiked inputs; overlaps are then those with their frame.
    normalisation : str
        Of the rule on these.
    """

    def __init__(
        self,
        recipe: Recipe,
        noise: float,
        rates: tuple[float, float, float],
        schedule: Link | None,
        spike: Spike | None = None,
        normalisation: str = "none",
    ) -> None:
        self.recipe, self.rates, self.schedule = recipe, rates, schedule
        self.closeness: Callable[[Point], float] | None = None
        if spike is None:
            self.drifts, self.method = self._averages(noise)
        else:
            self.drifts = marked_drifts(recipe, normalisation, spike, noise)
            self.method = _RULES.get(len(self.drifts), "Sobol points")
            self.closeness = lambda at: label_correlation(at, spike)

    def _averages(self, noise: float) -> tuple[list[Drift], str]:
        """Drifts whose spread is their error, and what they are."""
        recipe = self.recipe
        plain = recipe.rule == "plain"
        for name, known in (("closed form", closed_drift), ("Hermite series", series_drift)):
            drift = known(recipe, noise)
            if drift is not None:
                return [drift], name
        drifts = flat_axis_drifts(recipe, noise)
        if drifts:
            return drifts, "one coordinate between its breaks, Gauss rules and even grids"
        rules = nodes_for(recipe.link, recipe.activation, recipe.width, noise, plain)
        method = _RULES.get(len(rules), "Sobol points")
        linear = linear_terms(recipe) if len(rules) > 2 else None
        if linear is not None:
            method = "pairs of fields, squared terms by Sobol points"
        return [averaged_drift(recipe, nodes, linear) for nodes in rules], method

    def _at(self, time: float) -> Rates:
        step, look_ahead, second_step = self.rates
        factor = 1.0 if self.schedule is None else float(self.schedule(np.array([time])))
        step *= factor
        inner = step if self.recipe.rule == "repetition" else look_ahead
        if self.recipe.rule != "sam":
            inner /= self.recipe.batch
        return Rates(step, inner, second_step * factor)

    def solve(self, start: Start, second: Array, times: Array) -> Solution:
        """Order parameters at given times."""
        tolerance = _TIGHT if len(self.drifts) == 1 else _LOOSE
        point = Point(start.rest, start.overlap, second)
        recipe = self.recipe
        paths = [
            flow(drift, point, times, self._at, recipe.spherical, recipe.trained, tolerance)[0]
            for drift in self.drifts
        ]
        overlaps = np.array([path.overlap for path in paths])
        rests = np.array([path.rest for path in paths])
        lost = any(path.status == "diverged" for path in paths)
        return Solution(
            rests.mean(axis=0),
            overlaps.mean(axis=0),
            np.mean([path.second for path in paths], axis=0),
            _standard_error(overlaps),
            _standard_error(rests + overlaps @ np.swapaxes(overlaps, -1, -2)),
            "diverged" if lost else "solved",
        )

    def recovery(self, start: Start, second: Array, last: float, overlap: float) -> float:
        """When the largest cosine gets to `overlap`; infinite if not by `last`."""
        point = Point(start.rest, start.overlap, second)
        recipe = self.recipe
        return flow(
            self.drifts[0],
            point,
            np.array([last]),
            self._at,
            recipe.spherical,
            recipe.trained,
            _LOOSE,
            overlap,
            self.closeness,
        )[1]

    def scaling(self, second: Array) -> str:
        """How the number of steps to weak recovery grows with d; see `_one_neuron`."""
        return growth(self.recipe, self.drifts[0], self._at(0.0), second)


def _standard_error(values: Array) -> Array:
    """Of the mean over the first axis; zero for a single one, which is exact to many digits."""
    if len(values) == 1:
        return np.zeros_like(values[0])
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(len(values)))
