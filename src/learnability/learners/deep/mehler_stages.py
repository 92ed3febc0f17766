"""Layers of infinitely many features: ridge regression with the Mehler kernel of the layer below.

The pre-activations of the layer below are taken as Gaussian variables, and the eigenfunctions of
the kernel are Hermite polynomials of them (`mehler`). The finite-size theory describes these stages
exactly. The residual that sample i would have if it were left out is c_i / [(K + ridge I)^(-1)]_ii.

References
----------
Golub, Heath, Wahba, Technometrics 21 (1979) (leaving samples out).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import number, record, whole
from learnability.learners.deep.stages import Blocks, Trained, same, spread_over_neurons
from learnability.targets.base import checked_memory
from learnability.theory.mehler import mehler_trace, mehler_values

__all__ = ["MehlerReadout", "MehlerSecondLayer"]

_MARGIN = 30.0  # The smallest ridge for float32, over the error of eigenvalues by rounding.


@record
class MehlerReadout:
    """Kernel ridge regression with the Mehler kernel of the layer below, taken as Gaussian."""

    ridge: float = number(
        1.0, above=0, help="Ridge of (K + ridge I) c = y; at least 0.3 keeps to the theory."
    )

    def learn(self, below: Blocks, y: NDArray[Any], seed: int, place: int) -> Trained:
        """Train on pre-activations of the layer below; see `PreconditionedSecondLayer.learn`.

        Nothing comes after a readout, so its `left_out` holds the fit itself.
        """
        fit = _fit(below, y, self.ridge)
        return Trained(fit.function, same, fit.fitted, self.ridge)


@record
class MehlerSecondLayer:
    """A preconditioned step over infinitely many features: all neurons learn one function."""

    width: int = whole(100, help="Number of neurons of the layer.")
    ridge: float = number(1.0, above=0, help="Ridge of (K + ridge I) c = y.")

    def learn(self, below: Blocks, y: NDArray[Any], seed: int, place: int) -> Trained:
        """Train on pre-activations of the layer below; see `PreconditionedSecondLayer.learn`."""
        fit = _fit(below, y, self.ridge, leave_out=True)
        spread = spread_over_neurons(fit.fitted, self.width, seed, place)
        return Trained(fit.function, spread, spread(fit.fitted.astype(np.float32)), self.ridge)


class _Fit(NamedTuple):
    """The fitted function, and its values (n, 1) at the samples, perhaps each left out."""

    function: Callable[[NDArray[Any]], NDArray[Any]]
    fitted: NDArray[Any]


def _fit(below: Blocks, y: NDArray[Any], ridge: float, leave_out: bool = False) -> _Fit:
    """Solve (K + ridge I) c = y - mean y, in float32 where the ridge dwarfs its rounding."""
    from scipy.linalg import cho_factor, cho_solve
    from scipy.linalg.lapack import get_lapack_funcs

    u = np.concatenate(list(below()))
    n = len(u)
    # Rounding moves eigenvalues by less than the unit of rounding times the trace.
    if ridge < _MARGIN * np.finfo(u.dtype).eps * n * mehler_trace(u.shape[1]):
        u = u.astype(np.float64)
    checked_memory(
        f"Kernel values of {n} samples", u.itemsize * n * (n + 4096.0), "use a RidgeReadout"
    )
    mean = float(np.mean(y, dtype=np.float64))
    centred = np.asarray(y, dtype=np.float64) - mean
    with np.errstate(over="ignore"):  # Transposed to Fortran order: else LAPACK makes a copy.
        kernel = mehler_values(u, u).T
    if not np.isfinite(kernel.max()):
        raise LearnabilityError(
            "The values of the layer below are too large for a Mehler kernel, which takes them as "
            "standard Gaussian variables: use a RidgeReadout or a PreconditionedSecondLayer."
        )
    kernel[np.diag_indices(n)] += ridge
    try:
        factor = cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        raise LearnabilityError(
            f"`ridge` = {ridge:g} is lost in the rounding of the kernel of {n} samples: use a "
            "larger one."
        ) from None
    c = cho_solve(factor, centred.astype(u.dtype), check_finite=False)
    missed = ridge * c
    if leave_out:
        invert: Any = get_lapack_funcs("potri", (factor[0],))
        missed = c / np.diagonal(invert(factor[0], lower=True, overwrite_c=True)[0])

    def function(v: NDArray[Any]) -> NDArray[Any]:
        values = mehler_values(v, u.astype(v.dtype)) @ c.astype(v.dtype)
        return np.asarray(mean + values, dtype=v.dtype)[:, None]

    return _Fit(function, (mean + centred - missed)[:, None])
