"""Checks of what the deep learners are given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learnability.errors import LearnabilityError
from learnability.learners.deep.mehler_stages import MehlerReadout, MehlerSecondLayer
from learnability.learners.deep.stages import PreconditionedSecondLayer, RidgeReadout
from learnability.learners.protocol import checked_alphas
from learnability.targets.hierarchical import Hierarchical
from learnability.targets.protocol import checked_sizes

__all__ = ["checked_hierarchical", "checked_layers", "checked_samples"]

SecondLayer = PreconditionedSecondLayer | MehlerSecondLayer
Readout = RidgeReadout | MehlerReadout


def checked_hierarchical(target: Any) -> Hierarchical:
    """A hierarchical target, or a sentence."""
    if not isinstance(target, Hierarchical):
        raise LearnabilityError(
            f"The target was given as {type(target).__name__}, but layers learn a Hierarchical: "
            'write Hierarchical("tanh(z)", "He2(z)").'
        )
    return target


def checked_samples(target: Hierarchical, d: int, alpha: ArrayLike) -> tuple[Any, list[int]]:
    """Ratios n / d as an array, and the numbers of samples."""
    alphas = checked_alphas(alpha)
    target.at(d)
    sizes = []
    for a in np.atleast_1d(alphas):
        n, _ = checked_sizes(1, max(round(float(a) * int(d)), 1), 1, None, np.float32)
        if n < 2:
            raise LearnabilityError(
                f"`alpha` = {float(a):g} gives {n} sample in dimension {d}, but 2 are needed."
            )
        sizes.append(n)
    return alphas, sizes


def checked_layers(layers: Any) -> tuple[Any, ...]:
    """A first layer, second layers and a readout, or a sentence."""
    found = tuple(layers) if isinstance(layers, Iterable) else ()
    inner = found[1:-1]
    if (
        len(found) < 2
        or not hasattr(found[0], "learn")
        or isinstance(found[0], SecondLayer | Readout)
        or not all(isinstance(layer, SecondLayer) for layer in inner)
        or not isinstance(found[-1], Readout)
    ):
        raise LearnabilityError(
            f"`layers` was given as {layers!r}, but a first layer, any number of "
            "PreconditionedSecondLayer or MehlerSecondLayer and a readout are accepted."
        )
    if any(isinstance(layer, MehlerSecondLayer | MehlerReadout) for layer in found[2:]):
        raise LearnabilityError(
            "A Mehler kernel takes the layer below as independent Gaussian variables, which the "
            "neurons of a second layer are not: use it next to the first layer, and "
            "PreconditionedSecondLayer or RidgeReadout further up."
        )
    return found
