"""Gram matrices of the part of Gaussian inputs on which no field depends.

The Gram matrix of k coordinates of b inputs is T T^T with T lower triangular, where T_ii^2 is a
chi-square with k - i degrees of freedom (i from 0) and the entries below are normal (Bartlett's
decomposition); for b > k it has k columns. A chi-square variable is drawn from one normal z as the
quantile of Phi(z), whose
cube root is nearly linear in z (Wilson and Hilferty, PNAS 17, 1931): a Chebyshev series of it has
an error below 1e-7 whatever k is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["chi", "normals_needed", "quantile_series", "triangular_factor"]

Array = NDArray[np.float64]

_RANGE = 7.0  # Normals in single precision stay within 5.5.
_MANY, _SHORT, _LONG = 60, 16, 48
"""Degrees of freedom from which a short series is exact, and the orders of both series."""


@lru_cache(maxsize=64)
def quantile_series(freedom: int, count: int) -> Array:
    """Return Chebyshev coefficients of (chi-square quantile)^(1/3), shape (count, order + 1).

    Parameters
    ----------
    freedom : int
        Degrees of freedom k of the first row; each further row has one less.
    count : int
        Number of rows, at most k.
    """
    from scipy.stats import chi2, norm

    order = _SHORT if freedom - count >= _MANY else _LONG
    x = np.cos(np.pi * (np.arange(order + 1) + 0.5) / (order + 1))
    z = _RANGE * x
    transform = np.cos(np.outer(np.arange(order + 1), np.arccos(x))) * 2 / (order + 1)
    transform[0] /= 2
    k = freedom - np.arange(count)[:, None]
    value = np.where(z < 0, chi2.ppf(norm.cdf(z), k), chi2.isf(norm.sf(z), k))
    return np.asarray(np.cbrt(value) @ transform.T)


def chi(series: Any, z: Any) -> Any:
    """Return roots of chi-square variables, made of standard normal ones.

    Parameters
    ----------
    series : array, shape (count, order + 1)
        A result of `quantile_series`.
    z : array, shape (..., count)
        Standard normal numbers, a JAX array.
    """
    import jax
    import jax.numpy as jnp

    x = z / _RANGE

    def clenshaw(pair: tuple[Any, Any], row: Any) -> tuple[tuple[Any, Any], None]:
        last, before = pair
        return (row + 2 * x * last - before, last), None

    rows = jnp.flip(jnp.asarray(series).T[1:], axis=0)
    (last, before), _ = jax.lax.scan(clenshaw, (jnp.zeros_like(x), jnp.zeros_like(x)), rows)
    return jnp.maximum(series[:, 0] + x * last - before, 0.0) ** 1.5


def normals_needed(batch: int, columns: int) -> int:
    """Return how many normal numbers `triangular_factor` takes."""
    return batch * columns - columns * (columns - 1) // 2


def triangular_factor(z: Any, batch: int, columns: int) -> Any:
    """Return the factor T (b, columns) of the Gram matrix of the unseen parts of b inputs.

    Parameters
    ----------
    z : array, shape (normals_needed(b, columns),)
        A JAX array: the diagonal, from `chi`, then the normal entries below.
    batch, columns : int
        The sizes; columns = min(b, degrees of freedom).
    """
    import jax.numpy as jnp

    if batch == 1:
        return z[None]
    rows, cols = np.tril_indices(batch, -1, columns)
    factor = jnp.zeros((batch, columns), z.dtype).at[rows, cols].set(z[columns:])
    return factor.at[np.arange(columns), np.arange(columns)].set(z[:columns])
