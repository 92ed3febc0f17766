"""How to spend samples on one giant step and its readout: a search on the exact error curve."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import refuse
from learnability.fields import is_number
from learnability.learners.giant._theory import Curve
from learnability.targets import TargetLike, as_target

if TYPE_CHECKING:
    from learnability.learners.giant.learner import GiantSteps

__all__ = ["Split", "best_split"]

_STARTS = ((0.5, 0.3), (0.5, 1.5), (0.25, 3.0))
"""Starts of the search: the share of the samples for the step, and the size of the step."""
_RIDGE = 0.1
_TOLERANCE = 1e-4
_MARGIN = 0.02
_MOST = 10_000


class Split(NamedTuple):
    """The best way to spend samples.

    Attributes
    ----------
    batch, alpha : float
        Samples of the step and of the readout, divided by the dimension.
    step, ridge : float
        Size of the step and ridge of the readout.
    error : float
        Predicted error in the limit of large d.
    """

    batch: float
    alpha: float
    step: float
    ridge: float
    error: float


def best_split(
    learner: GiantSteps,
    target: TargetLike,
    alpha: float,
    *,
    bulk: str = "batch",
    evaluations: int = 90,
) -> Split:
    """Return the samples of the step and of the readout, step and ridge of the smallest error.

    This is a Nelder-Mead search on the error in the limit of one step, from the best of three
    starts. It returns the best of all settings that were tried, with its error; it may end in a
    local minimum.

    Parameters
    ----------
    learner : GiantSteps
        Its width, activation and second layer are used; batch, step and ridge are optimised.
    target : MultiIndex, Link or str
        A target with a linear part and isotropic inputs.
    alpha : float
        Samples of the step and the readout together, divided by the dimension.
    bulk : {"batch", "independent"}
        Law of the neurons, as for `predict`.
    evaluations : int
        The largest number of settings tried, up to 10 000, at about half a second each with
        bulk="batch".

    Returns
    -------
    Split

    Raises
    ------
    LearnabilityError
        Where the limit is not known for the learner and the target, or another argument is not
        accepted.
    """
    from scipy.optimize import minimize

    from learnability.learners.giant.learner import GiantSteps

    if not isinstance(learner, GiantSteps):
        raise refuse("learner", learner, "a learner of the kind GiantSteps")
    if not (is_number(alpha) and 0 < alpha < math.inf):
        raise refuse("alpha", alpha, "a number above 0")
    if bulk not in ("batch", "independent"):
        raise refuse("bulk", bulk, "one of batch, independent")
    whole = isinstance(evaluations, int) and not isinstance(evaluations, bool)
    if not (whole and 1 <= evaluations <= _MOST):
        raise refuse("evaluations", evaluations, f"a whole number from 1 to {_MOST}")
    learned = as_target(target).simplified()
    learner.check_target("values", "predict", learned, {"alpha": [alpha], "bulk": bulk})

    def split(x: NDArray[np.float64]) -> Split:
        share = _MARGIN + (1 - 2 * _MARGIN) / (1 + math.exp(-float(x[0])))
        step, ridge = math.exp(float(x[1])), math.exp(float(x[2]))
        chosen = replace(learner, batch=share * alpha, step=step, ridge=ridge)
        curve = Curve(chosen, learned, {"bulk": bulk})
        rest = (1 - share) * alpha
        return Split(share * alpha, rest, step, ridge, curve(rest, ridge).test)

    tried: list[Split] = []

    def error(x: NDArray[np.float64]) -> float:
        tried.append(split(np.clip(x, (-6.0, math.log(1e-3), math.log(1e-6)), (6.0, 5.0, 9.0))))
        return tried[-1].error

    places = [
        np.array([math.log(share / (1 - share)), math.log(step), math.log(_RIDGE)])
        for share, step in _STARTS
    ]
    first = min(places, key=error)
    simplex = np.vstack([first, first + np.diag([0.8, 0.7, 1.2])])
    minimize(
        error, first, method="Nelder-Mead",
        options={
            "initial_simplex": simplex, "maxfev": max(evaluations - len(places), 1),
            "fatol": _TOLERANCE, "xatol": 1e-2,
        },
    )  # fmt: skip
    return min(tried, key=lambda one: one.error)
