"""What the arguments of a link must satisfy, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LinkError
from learnability.expressions.parse import quote

__all__ = ["as_points", "call_function", "check_function", "checked_r", "name_of", "orthogonal"]

MOST_VARIABLES = 9


def name_of(function: Any) -> str:
    """Return what to call a function in a message."""
    return str(getattr(function, "__name__", type(function).__name__))


def checked_r(r: Any) -> int:
    """Return the number of variables as an int from 1 to 9."""
    if isinstance(r, bool) or not isinstance(r, int | np.integer):
        raise LinkError(f"`r` was given as {quote(str(r))}, but a whole number 1 to 9 is accepted.")
    if not 1 <= r <= MOST_VARIABLES:
        raise LinkError(f"`r` was given as {quote(str(r))}, but 1 to {MOST_VARIABLES} is accepted.")
    return int(r)


def check_function(function: Callable[[Any], Any], r: int) -> None:
    """Call it once on five points and say in a sentence what is wrong with the answer."""
    call_function(function, np.random.default_rng(5).standard_normal((5, r)))


def call_function(function: Callable[[Any], Any], z: NDArray[Any]) -> NDArray[Any]:
    """Values of the user's function at points (..., r), which it sees as a copy of shape (n, r)."""
    points = z.reshape(-1, z.shape[-1]).copy()
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(function(points))
    except Exception as error:
        message = " ".join(str(error).split())
        raise LinkError(
            f"The function {name_of(function)} raised {type(error).__name__} "
            f"({quote(message)}) on an array of shape {points.shape}, "
            "but it must map (..., r) to (...)."
        ) from error
    if value.shape != points.shape[:1] or value.dtype.kind not in "fiub":
        raise LinkError(
            f"The function {name_of(function)} maps an array of shape {points.shape} to shape "
            f"{value.shape} and dtype {value.dtype}, but it must map (..., r) to (...) reals."
        )
    value = value if value.dtype.kind == "f" else value.astype(np.float64)
    return value.reshape(z.shape[:-1])


def as_points(z: Any, r: int, xp: Any) -> Any:
    """Return z as a floating array of shape (..., r)."""
    if xp is np:
        z = np.asarray(z)
        if z.dtype.kind not in "fiub":
            raise LinkError(f"A link was called on dtype {z.dtype}, but real numbers are accepted.")
        z = z if z.dtype.kind == "f" else z.astype(np.float64)
    elif not xp.issubdtype(z.dtype, xp.floating):
        z = xp.asarray(z, dtype=float)
    if r == 1 and (z.ndim == 0 or z.shape[-1] != 1):
        return z[..., None]
    if z.ndim == 0 or z.shape[-1] != r:
        raise LinkError(
            f"A link of {r} variables was called on an array of shape {z.shape}, "
            f"but the last axis must have length {r}."
        )
    return z


def orthogonal(Q: ArrayLike, r: int) -> NDArray[np.float64]:
    """Return Q as an (r, r) float array, orthogonal to 1e-8."""
    matrix = np.asarray(Q, dtype=float)
    if matrix.shape != (r, r):
        raise LinkError(f"`Q` has shape {matrix.shape}, but an ({r}, {r}) matrix is accepted.")
    error = np.max(np.abs(matrix @ matrix.T - np.eye(r)))
    if not error <= 1e-8:
        raise LinkError(f"`Q` is not orthogonal (Q Q^T is {error:.1e} away from the identity).")
    return matrix
