"""Recipes and drifts on isotropic inputs, for tests of the equations of motion."""

from __future__ import annotations

from typing import Any

from learnability import MultiIndex, OnlineSGD
from learnability.inputs import Isotropic
from learnability.learners.online._motion import Averaging, Drift, drift_in
from learnability.learners.online._steps import Recipe


def recipe_of(link: str, **fields: Any) -> Recipe:
    """The recipe of a learner with these fields on a link."""
    target = MultiIndex(link)
    return OnlineSGD(**fields)._recipe(target, target.inputs.frame(target.r, 100))


def drift_of(recipe: Recipe, averages: Averaging | None) -> Drift:
    """The drift of order parameters on isotropic inputs."""
    assert averages is not None
    return drift_in(Isotropic().frame(recipe.link.r, 100), recipe, averages)
