"""The equations of motion of a learner on a target: which averages, their error, the solution."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.inputs import Frame
from learnability.labels.hermite import expand
from learnability.learners.measurement import overlaps_in_frame
from learnability.learners.networks.starts import Start
from learnability.learners.online._averages import node_averages
from learnability.learners.online._erf_kernels import closed_averages
from learnability.learners.online._flat_axis import flat_axis_averages
from learnability.learners.online._motion import Averaging, Point, Rates, drift_in, flow
from learnability.learners.online._nodes import nodes_for
from learnability.learners.online._one_neuron import growth, series_averages
from learnability.learners.online._steps import Recipe
from learnability.learners.online._termwise import linear_terms

__all__ = ["Equations", "Solution"]

Array = NDArray[np.float64]
_TIGHT, _LOOSE = 1e-6, 1e-4
"""Tolerances of the integration for exact averages and for averages with an error of their own."""
_RULES = {1: "Gauss rules", 2: "Gauss rules and even grids"}
"""Number of rules -> what they are."""


class Solution(NamedTuple):
    """Order parameters by averaging rule and time; the spread over the rules is their error.

    Attributes
    ----------
    rest, overlap, second : array, shapes (n, T, p, p), (n, T, p, k), (n, T, p)
        C, M and the second layer.
    diverged : bool
        Whether one of the solutions diverged.
    """

    rest: Array
    overlap: Array
    second: Array
    diverged: bool


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
    frame : Frame
        Marked axes of the inputs.

    Raises
    ------
    LearnabilityError
        When the link or the activation is not square-integrable.
    """

    def __init__(
        self, recipe: Recipe, noise: float, rates: tuple[float, float, float], frame: Frame
    ) -> None:
        self.recipe, self.rates, self.frame = recipe, rates, frame
        for function in (recipe.link, recipe.activation):
            expand(function, 0)
        averages, self.method = _averages(recipe, noise)
        self.drifts = [drift_in(frame, recipe, one) for one in averages]

    def _at(self, time: float) -> Rates:
        step, look_ahead, second_step = self.rates
        schedule = self.recipe.schedule
        factor = 1.0 if schedule is None else float(schedule(np.array([time])))
        step *= factor
        inner = step if self.recipe.rule == "repetition" else look_ahead
        if self.recipe.rule != "sam":
            inner /= self.recipe.batch
        return Rates(step, inner, second_step * factor)

    def solve(self, start: Start, second: Array, times: Array) -> Solution:
        """Return order parameters at given times."""
        tolerance = _TIGHT if len(self.drifts) == 1 else _LOOSE
        point = Point(start.rest, start.overlap, second)
        recipe = self.recipe
        paths = [
            flow(drift, point, times, self._at, recipe.spherical, recipe.trained, tolerance)[0]
            for drift in self.drifts
        ]
        rest, overlap, moved, lost = (np.array(part) for part in zip(*paths, strict=True))
        return Solution(rest, overlap, moved, bool(lost.any()))

    def recovery(
        self, start: Start, second: Array, last: float, correlation: float
    ) -> tuple[Array, bool]:
        """Return when a field first has a correlation, for each rule of averages, and divergence.

        A time is infinite where that is not so by `last`.
        """

        def gap(at: Point) -> float:
            length = np.diag(at.rest) + (at.overlap**2).sum(axis=1)
            found = overlaps_in_frame(at.overlap, length, self.frame)["correlation"]
            return float(np.abs(found).max()) - correlation

        point, recipe = Point(start.rest, start.overlap, second), self.recipe
        found = [
            flow(
                drift,
                point,
                np.array([last]),
                self._at,
                recipe.spherical,
                recipe.trained,
                _LOOSE,
                gap,
            )
            for drift in self.drifts
        ]
        times = np.array([ended for _, ended in found])
        return times, any(path.diverged for path, _ in found)

    def scaling(self, second: Array) -> str:
        """Return how the number of steps to weak recovery grows with d; see `_one_neuron`."""
        return growth(self.recipe, self.drifts[0], self._at(0.0), second)


def _averages(recipe: Recipe, noise: float) -> tuple[list[Averaging], str]:
    """Return averages whose spread is their error, and the name of their method."""
    plain = recipe.rule == "plain"
    for name, known in (("closed form", closed_averages), ("Hermite series", series_averages)):
        averages = known(recipe, noise)
        if averages is not None:
            return [averages], name
    flat = flat_axis_averages(recipe, noise)
    if flat:
        return flat, "one coordinate between its breaks, Gauss rules and even grids"
    rules = nodes_for(recipe.link, recipe.activation, recipe.width, noise, plain)
    method = _RULES.get(len(rules), "Sobol points")
    linear = linear_terms(recipe) if len(rules) > 2 else None
    if linear is not None:
        method = "pairs of fields, squared terms by Sobol points"
    return [node_averages(recipe, nodes, linear) for nodes in rules], method
