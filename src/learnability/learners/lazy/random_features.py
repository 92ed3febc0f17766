"""Ridge regression on random features, run on samples and predicted by Gaussian equivalence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.learners.fresh_samples import fresh_error
from learnability.learners.lazy._levels import activation_weights
from learnability.learners.lazy._results import Lazy, Run, runs
from learnability.learners.lazy._spiked_kernel import SpikedKernel, feature_kernel
from learnability.learners.linear_algebra.ridge import fit_readout
from learnability.learners.networks.activations import (
    checked_activation,
    checked_positive,
    checked_ridge,
)
from learnability.learners.networks.features import features, first_layer
from learnability.targets.multi_index import MultiIndex
from learnability.targets.spiked_index import SpikedIndex

if TYPE_CHECKING:
    import xarray

__all__ = ["RandomFeatures"]


@dataclass(frozen=True)
class RandomFeatures(Lazy):
    """A network of two layers whose first one stays as it was drawn.

    The readout a minimises sum_i (y_i - p^(-1/2) a . sigma(W x_i))^2 + ridge |a|^2, with the rows
    of W drawn from N(0, I_d / d).

    Parameters
    ----------
    width : float
        Neurons over dimension, p / d; infinite for predictions of the limiting kernel.
    activation : str, Link or callable
        The function sigma, such as "relu(z)".
    ridge : float or sequence of float
        At least zero, where the solution of least norm is taken. Of several, which form an axis
        of the results, all come from one factorisation.

    References
    ----------
    Rahimi, Recht, NeurIPS 2007; Mei, Montanari, Comm. Pure Appl. Math. 75 (2022); Gerace,
    Loureiro, Krzakala, Mezard, Zdeborova, ICML 2020; Defilippis, Loureiro, Misiakiewicz,
    arXiv:2405.15699.

    Examples
    --------
    >>> theory = RandomFeatures(activation="tanh(z)", ridge=0.01).predict("tanh(z)", alpha=2.0)
    >>> round(float(theory.error), 4)
    0.2057
    """

    width: float = 1.0
    activation: str | Link | Callable[[Any], Any] = "relu(z)"
    ridge: float | tuple[float, ...] = 0.01

    def __post_init__(self) -> None:
        if self.width != math.inf:
            object.__setattr__(self, "width", checked_positive("width", self.width))
        object.__setattr__(self, "activation", checked_activation(self.activation))
        object.__setattr__(self, "ridge", checked_ridge(self.ridge))

    def simulate(
        self,
        target: MultiIndex | SpikedIndex | Link | str,
        *,
        d: int,
        alpha: ArrayLike,
        seeds: int | Sequence[int] = 1,
    ) -> xarray.Dataset:
        """Fit the readout to samples; features in float32.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from.
        d : int
            Dimension, at least r.
        alpha : float or sequence of float
            Samples over dimension.
        seeds : int or sequence of int
            Number of runs, or their seeds.

        Returns
        -------
        xarray.Dataset
            By alpha, seed and, if there are several, ridge: `error` on 10000 fresh samples,
            `train_error` and `status` ("solved", or "least norm" where ridge = 0 and the system is
            singular).
        """
        if self.width == math.inf:
            raise LearnabilityError(
                "`width` is infinite, but a run needs a finite one: give `width`, or use "
                "KernelRidge with the kernel of these features."
            )
        p = max(round(self.width * d), 1) if isinstance(d, int | np.integer) else 1

        def run(target: MultiIndex, n: int, d: int, seed: int, ridges: Sequence[float]) -> Run:
            X, y, _, _ = target.sample(seed, n=n, d=d, dtype=np.float32)
            W = first_layer(seed, p, d)
            F = features(self._link, X, W)
            del X  # Before the regression takes its own memory.
            fitted = fit_readout(F, y, ridges)
            weights = fitted.weights.astype(np.float32)
            error = fresh_error(target, seed, d, lambda Z: weights @ features(self._link, Z, W).T)
            return Run(error, fitted.train_error, fitted.status)

        def memory(n: int) -> float:
            return 4.0 * p * (n + d) + 12.0 * min(n, p) ** 2

        return runs(self, target, d, alpha, seeds, run, memory)

    @property
    def _degrees(self) -> tuple[NDArray[np.float64], float]:
        return activation_weights(self._link)

    def _spiked_kernel(self, t: float, d: int) -> SpikedKernel:
        return feature_kernel(self._link, t, d)

    @property
    def _features(self) -> float:
        return self.width

    @property
    def _link(self) -> Link:
        assert isinstance(self.activation, Link)
        return self.activation
