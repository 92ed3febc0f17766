"""What runs of kernels and random features share: support, memory and measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.labels.laws import EVERY_LAW
from learnability.learners.base import Found, Learner, Support
from learnability.learners.lazy._theory import along_ridges
from learnability.learners.linear_algebra.ridge import Readout
from learnability.learners.measurement import fresh_error
from learnability.targets.base import Target, checked_memory, checked_sizes

__all__ = ["EVERYTHING", "check_memory", "measured"]

EVERYTHING = Support(
    targets=("multi-index", "hierarchical"),
    inputs=("isotropic", "spiked", "power-law", "signs"),
    laws=EVERY_LAW,
)
"""A regression takes samples of any law."""


def check_memory(at: Mapping[str, Any], needed: Callable[[int], float]) -> None:
    """Refuse runs that do not fit into memory.

    Parameters
    ----------
    at : mapping
        The sizes: d and the alphas.
    needed : callable
        n -> bytes that a run needs besides its samples.

    Raises
    ------
    LearnabilityError
        The message names the size.
    """
    d = at["d"]
    for alpha in at["alpha"]:
        n, _ = checked_sizes(1, None, d, float(alpha), np.float32)
        checked_memory(f"{n} samples with these features", needed(n) + 4.0 * n * d)


def measured(
    learner: Learner,
    target: Target,
    d: int,
    seed: int,
    fitted: Readout,
    predictor: Callable[[NDArray[Any]], NDArray[Any]],
) -> Found:
    """Return the errors of a fit on fresh samples and on its own, by ridge.

    Parameters
    ----------
    learner : Learner
        The learner with its `ridge`.
    target, d, seed
        The target, the dimension and the seed of the run.
    fitted : Readout
        The fit.
    predictor : callable
        Inputs (n, d) -> predictions (ridges, n).
    """
    error = fresh_error(target, seed, d, predictor)
    seen = {"error": error, "train_error": fitted.train_error, "status": fitted.status}
    return Found(along_ridges(learner, seen))
