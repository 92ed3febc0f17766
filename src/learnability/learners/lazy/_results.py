"""What random features and kernels share: loops over runs and predictions, labelled results."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.learners.lazy._levels import (
    HIGHEST_DEGREE,
    finite_levels,
    limit_levels,
    residual_energy,
)
from learnability.learners.lazy._spiked_kernel import SpikedKernel
from learnability.learners.lazy._spiked_results import predict_spiked
from learnability.learners.protocol import (
    checked_alphas,
    checked_data,
    checked_seeds,
    checked_target,
    dataset,
)
from learnability.progress import tracked
from learnability.targets.hierarchical import Hierarchical
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import checked_memory, checked_sizes
from learnability.targets.spiked_index import SpikedIndex
from learnability.theory.equivalent import Levels, errors

if TYPE_CHECKING:
    import xarray

__all__ = ["Lazy", "Run", "runs"]

Array = NDArray[np.float64]


class Run(NamedTuple):
    """One fit: errors and a status for each ridge."""

    error: Array
    train_error: Array
    status: tuple[str, ...]


def runs(
    learner: Any,
    target: Any,
    d: int,
    alpha: ArrayLike,
    seeds: int | Sequence[int],
    run: Callable[[Any, int, int, int, Sequence[float]], Run],
    memory: Callable[[int], float],
) -> xarray.Dataset:
    """Run a learner for every alpha and seed.

    Parameters
    ----------
    learner, target, d, alpha, seeds
        As in `simulate`.
    run : callable
        (target, n, d, seed, ridges) -> Run.
    memory : callable
        n -> bytes that a run needs beside its samples.
    """
    checked: Any = checked_data(target)
    alphas, chosen = checked_alphas(alpha), checked_seeds(seeds)
    ridges, axes = _ridges(learner)
    sizes = [
        checked_sizes(checked.r, None, d, float(a), np.float32)[0] for a in np.atleast_1d(alphas)
    ]
    for n in sizes:
        checked_memory(f"{n} samples with these features", memory(n) + 4.0 * n * d)
    tasks = [(n, seed) for n in sizes for seed in chosen]
    found = [run(checked, n, int(d), seed, ridges) for n, seed in tracked(tasks, "ridge fits")]

    def stacked(name: str) -> Any:
        rows = [np.asarray(getattr(one, name)) for one in found]
        values = np.array(rows).reshape(len(sizes), len(chosen), len(ridges))
        return values if axes else values[..., 0]

    return dataset(
        learner,
        checked,
        "simulate",
        alphas,
        {name: (("alpha", "seed", *axes), stacked(name)) for name in Run._fields},
        {"seed": ("seed", chosen), **_ridge_coordinate(learner)},
        d=int(d),
    )


class Lazy(ABC):
    """The predictions of learners whose kernel is fixed.

    Attributes
    ----------
    ridge : float or tuple of float
        A field of the learner.
    """

    ridge: float | tuple[float, ...]

    @property
    @abstractmethod
    def _degrees(self) -> tuple[Array, float]:
        """Weights of the kernel by degree, and of all higher degrees."""

    @property
    @abstractmethod
    def _features(self) -> float:
        """Number of features over dimension; may be infinite."""

    def _finite_levels(self, target: MultiIndex | Hierarchical, d: int) -> Levels:
        """The levels of the kernel and the target in dimension d."""
        return finite_levels(*self._degrees, target, d)

    @abstractmethod
    def _spiked_kernel(self, t: float, d: int) -> SpikedKernel:
        """Parts of the kernel on inputs with a spike t = (1 + theta) / d."""

    def predict(
        self,
        target: MultiIndex | SpikedIndex | Link | str,
        *,
        alpha: ArrayLike,
        degree: int = 1,
        d: int | None = None,
        seeds: int | Sequence[int] | None = None,
    ) -> xarray.Dataset:
        """The errors in the limit of large dimension; on spiked data with the spike of one.

        Parameters
        ----------
        target : MultiIndex, SpikedIndex, Link or str
            Where the samples come from.
        alpha : float or sequence of float
            Samples over d^l / l!, with l the degree: n / d by default.
        degree : int
            The degree l, from 1 to 6, that is partly learned; lower ones are learned, and
            higher ones act as noise. A `width` is then p over d^l / l!.
        d : int, optional
            For a SpikedIndex, and only then: the dimension, which fixes its spike.
        seeds : int or sequence of int, optional
            For a SpikedIndex and a kernel: predict the errors of the training sets of these seeds,
            from the coordinates of their samples along the spike.

        Returns
        -------
        xarray.Dataset
            `error` and `train_error` by alpha and, if there are several, ridge. The attribute
            `floor` is the error with endless samples and features of this order.
        """
        if isinstance(target, SpikedIndex):
            kernel, features = self._spiked_kernel, self._features
            return predict_spiked(self, target, alpha, d, seeds, kernel, features)
        if isinstance(target, Hierarchical):
            raise LearnabilityError(
                "The limit of large dimension was asked for a Hierarchical, whose size grows with "
                "d: use predict_finite(target, d=..., alpha=...)."
            )
        if d is not None or seeds is not None:
            raise LearnabilityError(
                "`d` and `seeds` were given, but they belong to spiked data: use `predict_finite` "
                "for a MultiIndex in dimension d."
            )
        target, alphas = checked_target(target), checked_alphas(alpha)
        whole = isinstance(degree, int | np.integer) and not isinstance(degree, bool)
        if not whole or not 1 <= degree <= HIGHEST_DEGREE:
            raise LearnabilityError(
                f"`degree` was given as {degree!r}, "
                f"but a whole number from 1 to {HIGHEST_DEGREE} is accepted."
            )
        levels = limit_levels(*self._degrees, target, int(degree))
        return dataset(
            self,
            target,
            "predict",
            alphas,
            _curves(self, levels, np.atleast_1d(alphas), self._features),
            _ridge_coordinate(self),
            degree=int(degree),
            floor=residual_energy(target, int(degree)),
        )

    def predict_finite(
        self, target: MultiIndex | Hierarchical | Link | str, *, d: int, alpha: ArrayLike
    ) -> xarray.Dataset:
        """The errors in dimension d at any number of samples, all degrees up to 7 at once.

        Between the powers of d this follows the floors |P_{> l} f|^2, and near them the curves of
        `predict`. Corrections are of order 1 / d.

        Parameters
        ----------
        target : MultiIndex, Hierarchical, Link or str
            Where the samples come from.
        d : int
            Dimension.
        alpha : float or sequence of float
            Samples over dimension; any power of d may be given.

        Returns
        -------
        xarray.Dataset
            `error`, `train_error` and `kappa` = log n / log d.
        """
        checked: Any = checked_data(target)
        alphas = checked_alphas(alpha)
        if isinstance(d, bool) or not isinstance(d, int | np.integer) or d < max(checked.r, 2):
            raise LearnabilityError(
                f"`d` was given as {d!r}, but a whole number from {max(checked.r, 2)} is accepted."
            )
        levels = self._finite_levels(checked, int(d))
        flat = np.atleast_1d(alphas)
        variables = _curves(self, levels, flat * d, self._features * d)
        variables["kappa"] = (("alpha",), 1 + np.log(flat) / math.log(d))
        return dataset(
            self,
            checked,
            "predict_finite",
            alphas,
            variables,
            _ridge_coordinate(self),
            d=int(d),
        )


def _curves(
    learner: Any, levels: Levels, samples: Array, features: float
) -> dict[str, tuple[tuple[str, ...], Any]]:
    ridges, axes = _ridges(learner)
    found = np.array([[errors(levels, n, features, v) for v in ridges] for n in samples])
    found = found if axes else found[:, 0]
    return {
        "error": (("alpha", *axes), found[..., 0]),
        "train_error": (("alpha", *axes), found[..., 1]),
    }


def _ridges(learner: Any) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """The ridges, and their axis of the results if they are several."""
    several = isinstance(learner.ridge, tuple)
    return (learner.ridge, ("ridge",)) if several else ((learner.ridge,), ())


def _ridge_coordinate(learner: Any) -> dict[str, Any]:
    ridges, axes = _ridges(learner)
    return {axis: (axis, list(ridges)) for axis in axes}
