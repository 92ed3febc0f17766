"""Paths of order parameters and errors as labelled variables.

Both sides hand over paths by alpha, run and time. For runs the second axis is the seed; for theory
it counts independent solutions, whose mean and standard error are what is reported.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.learners.batch._generalisation import explained

__all__ = ["PATHS", "observables"]

Array = NDArray[np.float64]
Labelled = tuple[tuple[str, ...], Any]

PATHS = ("overlap", "gram", "error", "train_error")
"""What is followed along the iterations."""
_LARGEST = 1e8
"""Squared lengths of weights beyond this count as divergence."""
_DIMS: dict[str, tuple[str, ...]] = {
    "overlap": ("estimate", "index"),
    "cosine": ("estimate", "index"),
    "gram": ("estimate", "other"),
    "subspace_overlap": (),
    "error": (),
    "train_error": (),
}


def observables(
    paths: dict[str, Array], replicates: bool
) -> tuple[dict[str, Labelled], int | None]:
    """Final values, paths and the status.

    Parameters
    ----------
    paths : dict
        Each of `PATHS` -> array (alpha, seed, time, ...).
    replicates : bool
        Whether the second axis counts solutions of the theory and is to be averaged.

    Returns
    -------
    dict
        Name -> (dims, values); NaN after a divergence.
    int or None
        The first iteration at which weights diverged, if any did.
    """
    lost = ~_bounded(paths["gram"])
    kept = {
        name: np.where(lost.reshape(lost.shape + (1,) * (path.ndim - lost.ndim)), np.nan, path)
        for name, path in paths.items()
    }
    final = {name: path[:, :, -1] for name, path in kept.items()}
    final["cosine"], final["subspace_overlap"] = explained(final.pop("gram"), final["overlap"])
    axes: tuple[str, ...] = ("alpha", "seed")
    found: dict[str, Labelled] = {
        name: ((*axes, *_DIMS[name]), value) for name, value in final.items()
    }
    for name, path in kept.items():
        found[f"{name}_trace"] = ((*axes, "time", *_DIMS[name]), path)
    diverged = lost[:, :, -1]
    if replicates:
        found, axes = _averaged(found), ("alpha",)
        diverged = np.asarray(diverged.any(axis=1))
    found["status"] = (axes, np.where(diverged, "diverged", "finished"))
    return found, int(lost.any(axis=(0, 1)).argmax()) if diverged.any() else None


def _averaged(found: dict[str, Labelled]) -> dict[str, Labelled]:
    """Means over the replicates and their standard errors, without the axis "seed"."""
    averages = {}
    for name, ((alpha, _, *rest), value) in found.items():
        dims = (alpha, *rest)
        averages[name] = (dims, value.mean(axis=1))
        error = value.std(axis=1, ddof=1) / math.sqrt(value.shape[1])
        averages[f"{name}_stderr"] = (dims, error)
    return averages


def _bounded(gram: Array) -> NDArray[np.bool_]:
    """Whether a path of W W^T is still bounded; once it is not, it never is again."""
    with np.errstate(invalid="ignore"):
        good = (np.abs(gram) <= _LARGEST).all(axis=(-1, -2))
    return np.logical_and.accumulate(good, axis=-1)
