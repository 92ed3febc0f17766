"""The learners by the names that the command line knows them by."""

from __future__ import annotations

import dataclasses
from typing import Any

from learnability.errors import LearnabilityError
from learnability.learners.batch import BatchGD
from learnability.learners.bayes import BayesAMP
from learnability.learners.deep import Layerwise
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
    learner = LEARNERS[name]
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in _fields(learner):
            owners = [n for n, kind in LEARNERS.items() if option in _fields(kind)]
            raise LearnabilityError(
                f"`--{option.replace('_', '-')}` was given with {name}, but it belongs to "
                f"{' and '.join(owners)}."
            )
    whole = {field.name for field in dataclasses.fields(learner) if field.type == "int"}
    for option in whole & given.keys():  # The command line reads all numbers as decimals.
        value = given[option]
        given[option] = int(value) if float(value).is_integer() else value
    made: Learner = learner(**given)
    return made


def _fields(learner: type[Any]) -> set[str]:
    return {field.name for field in dataclasses.fields(learner)}
