"""The learners by the names that the command line knows them by."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from learnability.errors import LearnabilityError
from learnability.learners.batch import BatchGD
from learnability.learners.bayes import BayesAMP
from learnability.learners.deep import (
    Layerwise,
    PreconditionedSecondLayer,
    RidgeReadout,
    SphericalFirstLayer,
)
from learnability.learners.flow import GradientFlow
from learnability.learners.giant import GiantSteps
from learnability.learners.lazy import KernelRidge, RandomFeatures
from learnability.learners.meanfield import MeanFieldLangevin
from learnability.learners.online import OnlineSGD
from learnability.learners.protocol import Learner
from learnability.learners.spectral import Spectral

__all__ = ["LEARNERS", "named"]

LEARNERS: dict[str, type[Any]] = {
    "bayes-amp": BayesAMP,
    "spectral": Spectral,
    "online-sgd": OnlineSGD,
    "batch-gd": BatchGD,
    "random-features": RandomFeatures,
    "kernel-ridge": KernelRidge,
    "giant-steps": GiantSteps,
    "layerwise": Layerwise,
    "gradient-flow": GradientFlow,
    "mean-field-langevin": MeanFieldLangevin,
}
"""Name on the command line -> class."""


def _layerwise(
    width: int = 1000, steps: int | str = "log", ridge: float | None = None
) -> Layerwise:
    """Three layers, whose options are those of the parts: one ridge for both regressions."""
    return Layerwise(
        (
            SphericalFirstLayer(width, steps),
            PreconditionedSecondLayer(ridge=ridge),
            RidgeReadout(ridge),
        )
    )


_MAKERS: dict[str, Callable[..., Any]] = {**LEARNERS, "layerwise": _layerwise}
"""Name -> what makes the learner of its options, most often the class."""


def named(name: str, **options: Any) -> Learner:
    """The learner of a name.

    Parameters
    ----------
    name : str
        One of `LEARNERS`.
    **options
        Its hyper-parameters; None stands for the default.
    """
    if name not in LEARNERS:
        raise LearnabilityError(
            f"The learner was given as {name!r}, but {' and '.join(LEARNERS)} are accepted."
        )
    maker = _MAKERS[name]
    accepted = signature(maker).parameters
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in accepted:
            owners = [n for n, make in _MAKERS.items() if option in signature(make).parameters]
            raise LearnabilityError(
                f"`--{option.replace('_', '-')}` was given with {name}, but it belongs to "
                f"{' and '.join(owners)}."
            )
    whole = {option for option, value in accepted.items() if value.annotation == "int"}
    for option in whole & given.keys():  # The command line reads all numbers as decimals.
        value = given[option]
        given[option] = int(value) if float(value).is_integer() else value
    made: Learner = maker(**given)
    return made
