"""What the arguments of a link must satisfy, and the sentences that say so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LinkError
from learnability.expressions.calculus import evaluate
from learnability.expressions.callables import namespace
from learnability.expressions.parse import parse_law, quote
from learnability.expressions.tree import FIRST_LATENT, Tree, Var, const, sum_of, variables
from learnability.labels._law_text import law_of
from learnability.labels.laws import Law

__all__ = [
    "as_points",
    "call_function",
    "check_function",
    "checked_breaks",
    "checked_r",
    "is_random",
    "name_of",
    "orthogonal",
    "read_formula",
    "values_at",
]

MOST_VARIABLES = 9
_REPR = re.compile(r"\s*Link\('([^'\\]*)'(?:, r=([1-9]))?\)\s*")


def name_of(function: Any) -> str:
    """Return what to call a function in a message."""
    return str(getattr(function, "__name__", type(function).__name__))


def checked_r(r: Any) -> int:
    """Return the number of variables as an int from 1 to 9."""
    whole = isinstance(r, int | np.integer) and not isinstance(r, bool)
    if not whole or not 1 <= r <= MOST_VARIABLES:
        raise LinkError(
            f"`r` was given as {quote(str(r))}, but a whole number from 1 to {MOST_VARIABLES} is "
            "accepted."
        )
    return int(r)


def check_function(function: Callable[[Any], Any], r: int) -> None:
    """Call a function twice on five points.

    Raises
    ------
    LinkError
        When it does not give one real number for each point, or not the same both times.
    """
    points = np.random.default_rng(5).standard_normal((5, r))
    first, again = (call_function(function, points) for _ in range(2))
    if not np.array_equal(first, again, equal_nan=True):
        raise LinkError(
            f"The function {name_of(function)} gave {first[0]:.6g} and then {again[0]:.6g} at the "
            "same point, but a link is a function: randomness of the label is written as `xi` in "
            "a formula, or given as FiniteLaw or DensityLaw."
        )


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


def values_at(tree: Tree | None, function: Callable[[Any], Any] | None, z: Any, r: int) -> Any:
    """Values (...) of a tree or of the user's function at points (..., r), NumPy or JAX."""
    xp = namespace(z)
    z = as_points(z, r, xp)
    if tree is not None:
        value = evaluate(tree, z, xp)
    else:
        assert function is not None
        value = call_function(function, z) if xp is np else function(z)
    if xp.shape(value) != z.shape[:-1]:
        value = xp.broadcast_to(value, z.shape[:-1])
    # Neither a view of the caller's points nor a read-only broadcast leaves this function.
    if xp is np and (np.may_share_memory(value, z) or not np.asarray(value).flags.writeable):
        value = np.array(value)
    return value[()] if xp is np else value


def is_random(source: Any, r: Any) -> bool:
    """Whether the source of a link describes a random label."""
    if isinstance(source, str):
        return isinstance(read_formula(source, r if r is None else checked_r(r))[0], Law)
    return isinstance(source, Law)


def orthogonal(Q: ArrayLike, r: int) -> NDArray[np.float64]:
    """Return Q as an (r, k) float array, k <= r, with columns orthonormal to 1e-8."""
    matrix = np.asarray(Q, dtype=float)
    if matrix.ndim != 2 or len(matrix) != r or not 0 < matrix.shape[1] <= r:
        raise LinkError(
            f"`Q` has shape {matrix.shape}, but an ({r}, {r}) matrix, or fewer columns, is "
            "accepted."
        )
    error = np.max(np.abs(matrix.T @ matrix - np.eye(matrix.shape[1])))
    if not error <= 1e-8:
        raise LinkError(f"`Q` is not orthogonal (Q^T Q is {error:.1e} away from the identity).")
    return matrix


@lru_cache(maxsize=256)
def read_formula(text: str, r: int | None) -> tuple[Tree | Law, int]:
    """Return the tree or the law of a label and its number of variables, from text or a repr.

    Raises
    ------
    LinkError
        When it is not a formula, has more than r variables, or is not a law of a label.
    """
    match = _REPR.fullmatch(text) if len(text) < 4000 else None
    inner = match[1] if match else text
    word, trees = parse_law(inner)
    seen = {index for tree in trees for index in variables(tree)}
    highest = max((index for index in seen if index < FIRST_LATENT), default=0) + 1
    least = max(highest, int(match[2])) if match and match[2] else highest
    if r is not None and r < least:
        raise LinkError(
            f"The formula {quote(inner)} has {least} variables, but r = {r} was given: "
            f"`r` must be at least {least}."
        )
    size = least if r is None else r
    random = word is not None or any(index >= FIRST_LATENT for index in seen)
    return law_of(word, trees, size) if random else trees[0], size


def checked_breaks(breaks: Any, r: int) -> Iterator[Any]:
    """Yield declared breaks: a number c as the trees z_i - c, everything else as it is.

    Raises
    ------
    LinkError
        When they are not a list, or a number is too large.
    """
    if isinstance(breaks, str) or not isinstance(breaks, Sequence | np.ndarray):
        raise LinkError(
            f"`breaks` was given as {type(breaks).__name__}, but a list of numbers, formulas, "
            "links or functions is accepted."
        )
    for item in breaks:
        if isinstance(item, Real) and not isinstance(item, bool):
            level = float(item)
            if not abs(level) <= 1e12:
                raise LinkError(f"`breaks` holds {item}, but numbers up to 1e12 are accepted.")
            minus = const(-Fraction(repr(level)))
            yield from (sum_of([Var(i), minus]) for i in range(r))
        else:
            yield item
