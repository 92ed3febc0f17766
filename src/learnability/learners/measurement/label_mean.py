"""When the limit of large dimension is far because the label has a large mean.

A regression learns the mean of the label from its first samples, up to a share of the order of 1/d:
features of inputs of different lengths are not constant. That share of a large mean is an error
which the limit of large d does not have.
"""

from __future__ import annotations

from learnability.errors import LearnabilityError
from learnability.targets.base import Target

__all__ = ["FAR_MEAN", "far_mean_note", "lengths_count", "mean_ratio"]

FAR_MEAN = 10.0
"""Squared mean of a label over its variance from which the limit is far at usual dimensions."""

_SEEN = 1e-3
"""Share of the variance of the label that can be seen."""


def mean_ratio(target: Target) -> float:
    """Return the squared mean of the label over its variance; zero for a constant.

    It is zero, too, where both depend on a dimension that is not given.
    """
    try:
        mean, variance = target.label_mean, target.label_variance
    except LearnabilityError:
        return 0.0
    return mean**2 / variance if variance > 0 else 0.0


def lengths_count(target: Target, variance: float) -> bool:
    """Return whether inputs of different lengths cost what can be seen in an error.

    Parameters
    ----------
    target : Target
        The target.
    variance : float
        Relative variance of the squared length of the inputs, 2/d for isotropic ones.
    """
    return mean_ratio(target) * variance > _SEEN


def far_mean_note(ratio: float) -> str:
    """Return the sentence about a label of this ratio."""
    return (
        f"The squared mean of the label is {ratio:.3g} of its variance, and a share 1/d of it is "
        f"not learned: the limit is that of dimensions far above {ratio:.3g}. Give `d`, or take "
        "the mean off."
    )
