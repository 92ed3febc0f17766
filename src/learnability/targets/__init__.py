"""Where data come from: a law of the label, a law of the inputs, and hidden weights."""

from collections.abc import Callable
from typing import Any

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.targets.base import Sample, Target
from learnability.targets.hierarchical import Hierarchical
from learnability.targets.multi_index import MultiIndex, SparseParity, SpikedIndex

TARGETS: dict[str, type[Target]] = {kind.kind: kind for kind in (MultiIndex, Hierarchical)}
"""Kind -> class; the command line and the conformance tests walk it."""

TargetLike = Target | Link | str | Callable[[Any], Any]
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


def as_target(target: TargetLike) -> Target:
    """A target as it is, or the MultiIndex of a link or its text.

    Raises
    ------
    LearnabilityError
        When neither was given.
    """
    if isinstance(target, Target):
        return target
    try:
        return MultiIndex(target)
    except TypeError:
        raise LearnabilityError(
            f"The target was given as {type(target).__name__}, but a target such as MultiIndex, a "
            "link or its text is accepted."
        ) from None
