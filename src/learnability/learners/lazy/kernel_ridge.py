"""Kernel ridge regression, run on samples and predicted by Gaussian equivalence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.fields import declare, numbers, record
from learnability.labels.link import Link
from learnability.learners.base import Found, Learner, Question, Support
from learnability.learners.lazy._kernels import (
    MEHLER,
    KernelFunction,
    kernel_values,
    mehler_function,
    on_the_sphere,
)
from learnability.learners.lazy._length_blocks import kernel_blocks
from learnability.learners.lazy._levels import kernel_weights
from learnability.learners.lazy._runs import EVERYTHING, check_memory, measured
from learnability.learners.lazy._spiked_kernel import SpikedKernel, given_kernel
from learnability.learners.lazy._theory import VALUES, KernelView, check_reach, predicted
from learnability.learners.linear_algebra.ridge import dual_path
from learnability.theory.length_equivalent import Blocks
from learnability.theory.mehler import mehler_values

__all__ = ["KernelRidge"]


@record
class KernelRidge(Learner):
    """Ridge regression with a kernel k(x . x' / d), which may depend on the lengths of x, x' too.

    The predictor is sum_i c_i K(x, x_i) with (K + ridge I) c = y. Runs are in float64.

    The function k is smooth between -1 and 1 with Taylor coefficients that are not negative, which
    is what makes it positive definite in every dimension. A function of three variables is one of
    |x|^2 / d, |x'|^2 / d and x . x' / d, such as the Gaussian kernel "exp(z3 - z1/2 - z2/2)". The
    name "quadratic" stands for 1 + z + z**2/2, and "mehler" for the sum over j of
    (2/d)^j <He_j(x), He_j(x')> / j!.

    Theory without `d` is that of large dimension. With `d` it takes all degrees up to 7 at once,
    and the lengths that inputs have in dimension d; `error_stderr` is what remains, of order 1 / n.
    On inputs with spikes, where it needs `d`, it is for a typical training set, or for those of
    `seeds`.

    References
    ----------
    El Karoui, Ann. Statist. 38 (2010); Ghorbani, Mei, Misiakiewicz, Montanari, Ann. Statist. 49
    (2021); Canatar, Bordelon, Pehlevan, Nat. Commun. 12 (2021).

    Examples
    --------
    >>> theory = KernelRidge("exp(z)", ridge=0.1).predict("z + He2(z)", alpha=[0.5, 50.0])
    >>> theory.error.values.round(3)
    array([2.914, 2.04 ])
    """

    name: ClassVar[str] = "kernel-ridge"
    numerics_version: ClassVar[int] = 5
    supports: ClassVar[Support] = EVERYTHING
    questions: ClassVar[tuple[Question, ...]] = (VALUES,)

    kernel: str | Link | Callable[[Any], Any] = declare(
        "exp(z)", KernelFunction(), "The function k, or the name of a kernel."
    )
    ridge: float | Sequence[float] = numbers(
        0.01, at_least=0, help="The ridge, or several, which share one factorisation."
    )

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse runs that do not fit into memory and arguments that no theory covers."""
        if verb == "predict":
            check_reach(target, at)
        else:
            check_memory(at, lambda n: 8.0 * n * (n + at["d"]) + 2.0**25)

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Return one fit of samples."""
        X, y, _, _ = target.sample(seed, d=at["d"], alpha=at["alpha"])
        kernel, X32 = self._values(X, X), X.astype(np.float32)
        del X  # Only the kernel is needed at full precision.
        fitted = dual_path(kernel, y, self.ridges)
        weights = fitted.weights
        return measured(
            self, target, at["d"], seed, fitted, lambda Z: weights @ self._values(X32, Z)
        )

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """Return the errors by deterministic equivalents."""
        view = KernelView(math.inf, self._weights, self._blocks, self._parts)
        return predicted(self, view, target, at, seeds)

    def _function(self, d: int) -> Link:
        """Return the kernel in dimension d as a function of one or three variables."""
        return self.kernel if isinstance(self.kernel, Link) else mehler_function(d)

    def _values(self, X: NDArray[Any], Z: NDArray[Any]) -> NDArray[Any]:
        """Return kernel values, shape (rows of X, rows of Z)."""
        if self.kernel == MEHLER:
            return mehler_values(X, Z)
        return kernel_values(self._function(X.shape[1]), X, Z)

    def _weights(self) -> tuple[NDArray[np.float64], float]:
        # In the limit the Mehler kernel is exp(2 z) of the inner product.
        link = self.kernel if isinstance(self.kernel, Link) else Link("exp(2*z)")
        return kernel_weights(on_the_sphere(link))

    def _blocks(self, d: int, samples: float, count: int) -> Blocks:
        return kernel_blocks(self._function(d), d, samples, count)

    def _parts(self, t: NDArray[np.float64], d: int, seed: int) -> SpikedKernel:
        return given_kernel(self._function(d), t, d, seed)
