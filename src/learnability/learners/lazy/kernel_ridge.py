"""Kernel ridge regression, run on samples and predicted by Gaussian equivalence."""

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
from learnability.learners.lazy._kernels import checked_kernel, kernel_values, on_the_sphere
from learnability.learners.lazy._levels import HIGHEST_DEGREE, finite_energies, kernel_weights
from learnability.learners.lazy._results import Lazy, Run, runs
from learnability.learners.lazy._spiked_kernel import SpikedKernel, given_kernel
from learnability.learners.linear_algebra.ridge import dual_path
from learnability.learners.networks.activations import checked_ridge
from learnability.targets.hierarchical import Hierarchical
from learnability.targets.multi_index import MultiIndex
from learnability.targets.spiked_index import SpikedIndex
from learnability.theory.equivalent import Levels
from learnability.theory.mehler import mehler_levels, mehler_values

if TYPE_CHECKING:
    import xarray

__all__ = ["KernelRidge"]

MEHLER = "mehler"
QUADRATIC = "1 + z + z**2/2"


@dataclass(frozen=True)
class KernelRidge(Lazy):
    """Ridge regression with a kernel K(x, x') = k(x . x' / d), or one of the lengths too.

    The predictor is sum_i c_i K(x, x_i) with (K + ridge I) c = y.

    Parameters
    ----------
    kernel : str, Link or callable
        The function k, such as "exp(z)": smooth between -1 and 1 with Taylor coefficients that are
        not negative, which is what makes it positive definite in every dimension. A function of
        three variables is one of |x|^2 / d, |x'|^2 / d and x . x' / d, such as the Gaussian kernel
        "exp(z3 - z1/2 - z2/2)". Or a name: "quadratic" is 1 + z + z**2/2, and "mehler" the sum over
        j of (2/d)^j <He_j(x), He_j(x')> / j!.
    ridge : float or sequence of float
        At least zero. Of several, which form an axis of the results, all come from one
        factorisation.

    References
    ----------
    El Karoui, Ann. Statist. 38 (2010); Ghorbani, Mei, Misiakiewicz, Montanari, Ann. Statist. 49
    (2021); Canatar, Bordelon, Pehlevan, Nat. Commun. 12 (2021).

    Examples
    --------
    >>> theory = KernelRidge("exp(z)", ridge=0.1).predict("z + He2(z)", alpha=[0.5, 50.0])
    >>> theory.error.values.round(3)
    array([2.951, 2.042])
    """

    kernel: str | Link | Callable[[Any], Any] = "exp(z)"
    ridge: float | tuple[float, ...] = 0.01

    def __post_init__(self) -> None:
        if self.kernel != MEHLER:
            given = QUADRATIC if self.kernel == "quadratic" else self.kernel
            object.__setattr__(self, "kernel", checked_kernel(given))
        object.__setattr__(self, "ridge", checked_ridge(self.ridge))

    def simulate(
        self,
        target: MultiIndex | Hierarchical | SpikedIndex | Link | str,
        *,
        d: int,
        alpha: ArrayLike,
        seeds: int | Sequence[int] = 1,
    ) -> xarray.Dataset:
        """Fit samples, in float64.

        Parameters
        ----------
        target : MultiIndex, Hierarchical, Link or str
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
            `train_error` and `status` ("solved", or "least norm" where ridge = 0 and the kernel
            matrix is singular).
        """

        def run(target: Any, n: int, d: int, seed: int, ridges: Sequence[float]) -> Run:
            X, y, _, _ = target.sample(seed, n=n, d=d)
            kernel, X32 = self._values(X, X), X.astype(np.float32)
            del X  # The kernel is all that is needed at full precision.
            fitted = dual_path(kernel, y, ridges)
            weights = fitted.weights
            error = fresh_error(target, seed, d, lambda Z: weights @ self._values(X32, Z))
            return Run(error, fitted.train_error, fitted.status)

        return runs(self, target, d, alpha, seeds, run, lambda n: 8.0 * n * (n + d) + 2.0**25)

    def _values(self, X: NDArray[Any], Z: NDArray[Any]) -> NDArray[Any]:
        """Kernel values, shape (rows of X, rows of Z)."""
        if self.kernel == MEHLER:
            return mehler_values(X, Z)
        return kernel_values(self._link, X, Z)

    @property
    def _degrees(self) -> tuple[NDArray[np.float64], float]:
        # In the limit the Mehler kernel is that function of the inner product.
        link = Link("exp(2*z)") if self.kernel == MEHLER else on_the_sphere(self._link)
        return kernel_weights(link)

    def _finite_levels(self, target: MultiIndex | Hierarchical, d: int) -> Levels:
        if self.kernel != MEHLER:
            return super()._finite_levels(target, d)
        energies, beyond = finite_energies(target, HIGHEST_DEGREE, d)
        return mehler_levels(d, energies, beyond + target.noise)

    def _spiked_kernel(self, t: float, d: int) -> SpikedKernel:
        if self.kernel == MEHLER:
            raise LearnabilityError(
                "The Mehler kernel is made for isotropic inputs: on spiked data give a function of "
                "the inner product, such as exp(z)."
            )
        return given_kernel(self._link, t, d)

    @property
    def _features(self) -> float:
        return math.inf

    @property
    def _link(self) -> Link:
        assert isinstance(self.kernel, Link)
        return self.kernel
