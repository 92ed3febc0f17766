"""Final values, paths and the status of paths of order parameters and errors.

Runs and theory both pass paths with the axes alpha, run and time. For runs the second axis is the
seed; for theory it counts independent solutions, whose mean and standard error are reported.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.learners.batch._generalisation import explained
from learnability.results.schema import STDERR, Status

__all__ = ["PATHS", "observables"]

Array = NDArray[np.float64]

PATHS = ("overlap", "gram", "error", "train_error")
"""What is followed along the iterations."""
_LARGEST = 1e8
"""Squared lengths of weights beyond this count as divergence."""


def observables(paths: dict[str, Array], replicates: bool) -> tuple[dict[str, Any], int | None]:
    """Return the final values, paths and the status.

    Parameters
    ----------
    paths : dict
        Each of `PATHS` -> array (alpha, seed, time, ...).
    replicates : bool
        Whether the second axis counts solutions of the theory and is to be averaged.

    Returns
    -------
    dict
        Name -> array (alpha, seed, ...) or, averaged, (alpha, ...); NaN after a divergence.
    int or None
        The first iteration at which weights diverged, if any did.
    """
    lost = ~_bounded(paths["gram"])
    kept = {
        name: np.where(lost.reshape(lost.shape + (1,) * (path.ndim - lost.ndim)), np.nan, path)
        for name, path in paths.items()
    }
    found: dict[str, Any] = {name: path[:, :, -1] for name, path in kept.items()}
    found["cosine"], found["subspace_overlap"] = explained(found.pop("gram"), found["overlap"])
    found |= {f"{name}_trace": path for name, path in kept.items()}
    diverged = lost[:, :, -1]
    if replicates:
        found = _averaged(found)
        diverged = np.asarray(diverged.any(axis=1))
    found["status"] = np.where(diverged, str(Status.DIVERGED), str(Status.FINISHED))
    return found, int(lost.any(axis=(0, 1)).argmax()) if diverged.any() else None


def _averaged(found: dict[str, Any]) -> dict[str, Any]:
    """Return means over the replicates, the second axis, and their standard errors."""
    averages = {}
    for name, value in found.items():
        averages[name] = value.mean(axis=1)
        averages[name + STDERR] = value.std(axis=1, ddof=1) / math.sqrt(value.shape[1])
    return averages


def _bounded(gram: Array) -> NDArray[np.bool_]:
    """Return whether a path of W W^T is still bounded; once it is not, it never is again."""
    with np.errstate(invalid="ignore"):
        good = (np.abs(gram) <= _LARGEST).all(axis=(-1, -2))
    return np.logical_and.accumulate(good, axis=-1)
