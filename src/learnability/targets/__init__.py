"""Where data come from: a law of the label, a law of the inputs, and hidden weights."""

from collections.abc import Callable
from typing import Any

from learnability.errors import LearnabilityError
from learnability.labels.laws import Law
from learnability.labels.link import Link
from learnability.targets.base import Sample, Target
from learnability.targets.hierarchical import Hierarchical
from learnability.targets.multi_index import MultiIndex, SparseParity, SpikedIndex

TARGETS: dict[str, type[Target]] = {kind.kind: kind for kind in (MultiIndex, Hierarchical)}
"""Kind -> class; the command line and the conformance tests walk it."""

TargetLike = Target | Link | Law | str | Callable[[Any], Any]
"""A target, or a link of which a MultiIndex with standard normal inputs is made."""

__all__ = [
    "TARGETS",
    "Hierarchical",
    "MultiIndex",
    "Sample",
    "SparseParity",
    "SpikedIndex",
    "Target",
    "TargetLike",
    "as_target",
]


def as_target(target: TargetLike, r: int | None = None, noise: float | None = None) -> Target:
    """Return a target as it is, or the MultiIndex of a link or its text.

    Parameters
    ----------
    target : Target, Link, str or callable
        The target, or its link.
    r : int, optional
        Number of hidden directions of a link; needed for a callable.
    noise : float, optional
        Variance of the label noise of a link.

    Raises
    ------
    LearnabilityError
        When it is neither a target nor a link, or `r` or `noise` was given together with a target.
    """
    if isinstance(target, Target):
        if r is not None or noise is not None:
            raise LearnabilityError(
                "`r` and `noise` belong to the target: give them to MultiIndex."
            )
        return target
    if not isinstance(target, str | Link | Law) and not callable(target):
        raise LearnabilityError(
            f"The target was given as {type(target).__name__}, but a target such as MultiIndex, a "
            "link or its text is accepted."
        )
    return MultiIndex(target, r=r, noise=0.0 if noise is None else noise)
