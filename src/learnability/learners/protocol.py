"""What every learner offers, and the checks and the shape of results that they share."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

import learnability
from learnability.errors import LearnabilityError
from learnability.targets.hierarchical import Hierarchical
from learnability.targets.multi_index import MultiIndex
from learnability.targets.spiked_index import SpikedIndex

if TYPE_CHECKING:
    import xarray

__all__ = [
    "Learner",
    "checked_alphas",
    "checked_data",
    "checked_seeds",
    "checked_target",
    "dataset",
    "subspace_overlap",
]

Array = NDArray[np.float64]


@runtime_checkable
class Learner(Protocol):
    """A learner whose natural axis is alpha = n / d."""

    def simulate(
        self, target: MultiIndex, *, d: int, alpha: ArrayLike, seeds: int | Sequence[int]
    ) -> xarray.Dataset:
        """Run the algorithm on samples in dimension d."""

    def predict(self, target: MultiIndex, *, alpha: ArrayLike) -> xarray.Dataset:
        """What the theory says the algorithm does as d grows."""


def checked_target(target: Any) -> MultiIndex:
    """A multi-index target, made from a link or its text where one is given."""
    if isinstance(target, MultiIndex):
        return target
    if hasattr(target, "sample"):
        raise LearnabilityError(
            f"The target was given as {type(target).__name__}, but this learner accepts a "
            "MultiIndex."
        )
    try:
        return MultiIndex(target)
    except TypeError:
        raise LearnabilityError(
            f"The target was given as {type(target).__name__}, but a MultiIndex is accepted."
        ) from None


def checked_data(target: Any) -> Any:
    """A target with another law of the data as it is, or a multi-index target."""
    return target if isinstance(target, SpikedIndex | Hierarchical) else checked_target(target)


def checked_alphas(alpha: ArrayLike) -> Array:
    """Ratios n / d as an array of shape () or (k,), or a sentence."""
    try:
        values = np.asarray(alpha, dtype=float)
    except (TypeError, ValueError):
        values = np.zeros((0, 0))
    if values.ndim > 1 or not values.size:
        raise LearnabilityError(
            f"`alpha` was given as {alpha!r}, but a number or a list of numbers is accepted."
        )
    wrong = values[~((values > 0) & np.isfinite(values))].ravel()
    if len(wrong):
        raise LearnabilityError(
            f"`alpha` holds {wrong[0]:g}, but finite numbers above 0 are accepted."
        )
    return values


def checked_seeds(seeds: int | Sequence[int]) -> list[int]:
    """The seeds 0 ... k - 1 for a number k, a list of whole numbers as it is, or a sentence."""
    if isinstance(seeds, int | np.integer) and not isinstance(seeds, bool) and seeds >= 1:
        return list(range(int(seeds)))
    if isinstance(seeds, Iterable) and not isinstance(seeds, str):
        found = list(seeds)
        whole = all(isinstance(s, int | np.integer) and not isinstance(s, bool) for s in found)
        if found and whole and min(found) >= 0:
            if len(set(found)) < len(found):
                raise LearnabilityError(f"`seeds` was given as {found!r}, but one of them twice.")
            return [int(s) for s in found]
    raise LearnabilityError(
        f"`seeds` was given as {seeds!r}, but a number of seeds from 1 or a list of whole numbers "
        "from 0 is accepted."
    )


def subspace_overlap(estimate: NDArray[Any], W: NDArray[Any]) -> float:
    """||P_estimate P_*||_F^2 / r of the row spaces of an estimate (p, d) and of W (r, d)."""
    basis, size, _ = np.linalg.svd(np.asarray(estimate, dtype=float).T, full_matrices=False)
    kept = basis[:, size > 1e-6 * max(float(size[0]), 1e-300)]
    return float(np.sum((np.asarray(W, dtype=float) @ kept) ** 2) / len(W))


def dataset(
    learner: Any,
    target: Any,
    verb: str,
    alpha: Array | None,
    variables: dict[str, tuple[tuple[str, ...], Any]],
    coordinates: dict[str, Any] | None = None,
    **attributes: Any,
) -> xarray.Dataset:
    """Label a result and write down where it comes from.

    Parameters
    ----------
    learner, target, verb
        For the provenance; `verb` is "simulate" or "predict".
    alpha : array, shape () or (k,), or None
        A scalar becomes a scalar coordinate: the leading axis "alpha" is then dropped. None for
        learners with another axis.
    variables : dict
        Name -> (dims, values); the dims start with "alpha" where they have it.
    coordinates : dict
        Further coordinates.
    **attributes
        Further provenance, such as d.
    """
    import xarray

    scalar = alpha is not None and alpha.ndim == 0
    data = {}
    for name, (dims, values) in variables.items():
        array = np.asarray(values)
        if scalar and dims[:1] == ("alpha",):
            dims, array = dims[1:], array[0]
        data[name] = (dims, array)
    names = [field.name for field in dataclasses.fields(learner)]
    settings = ", ".join(f"{name}={getattr(learner, name)!r}" for name in names)
    attrs = {
        "learner": f"{type(learner).__name__}({settings})",
        "verb": verb,
        "link": target.link.text or repr(target.link),
        "r": target.r,
        "noise": target.noise,
        "version": learnability.__version__,
        **attributes,
    }
    axis = {} if alpha is None else {"alpha": alpha if scalar else ("alpha", alpha)}
    return xarray.Dataset(data, {**axis, **(coordinates or {})}, attrs)
