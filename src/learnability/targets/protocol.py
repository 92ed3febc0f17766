"""What every target offers, and the checks they share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import DTypeLike, NDArray

from learnability.errors import LearnabilityError

__all__ = ["Sample", "Target", "checked_memory", "checked_sizes", "hidden_directions"]


class Sample(NamedTuple):
    """Data drawn from a target.

    Attributes
    ----------
    X : array, shape (n, d)
        Inputs.
    y : array, shape (n,)
        Labels.
    W : array, shape (r, d)
        Hidden weights, orthonormal rows.
    h : array, shape (n, r)
        Hidden coordinates X W^T.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    W: NDArray[Any]
    h: NDArray[Any]


@runtime_checkable
class Target(Protocol):
    """A law of labelled data in dimension d with r hidden directions."""

    @property
    def r(self) -> int:
        """Number of hidden directions."""

    def sample(
        self, seed: int, n: int | None = None, d: int | None = None, *, alpha: float | None = None
    ) -> Sample:
        """n samples in dimension d."""

    def batches(self, seed: int, n: int, d: int) -> Iterator[Sample]:
        """Endless fresh batches of n samples that share their hidden weights."""


def checked_sizes(
    r: int, n: int | None, d: int | None, alpha: float | None, dtype: DTypeLike
) -> tuple[int, int]:
    """The sizes n and d, or a sentence on what is wrong with them."""
    if d is None or isinstance(d, bool) or not isinstance(d, int | np.integer) or d < r:
        raise LearnabilityError(
            f"`d` was given as {d!r}, but a whole number of at least r = {r} is accepted."
        )
    if (n is None) == (alpha is None):
        raise LearnabilityError(
            "Give either `n` or `alpha` (then n = round(alpha * d)), not both or neither."
        )
    if alpha is not None:
        if (
            isinstance(alpha, bool)
            or not isinstance(alpha, int | float | np.number)
            or not 0 < float(alpha) < np.inf
        ):
            raise LearnabilityError(
                f"`alpha` was given as {alpha!r}, but a finite number above 0 is accepted."
            )
        n = max(round(float(alpha) * int(d)), 1)
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise LearnabilityError(
            f"`n` was given as {n!r}, but a whole number of at least 1 is accepted."
        )
    try:
        known = np.dtype(dtype) in (np.float32, np.float64)
    except TypeError:
        known = False
    if not known:
        raise LearnabilityError(
            f"`dtype` was given as {dtype!r}, but float32 and float64 are accepted."
        )
    needed = int(n) * int(d) * np.dtype(dtype).itemsize
    checked_memory(f"{n} samples in dimension {d}", needed, "use fewer, or `batches`")
    return int(n), int(d)


def checked_memory(what: str, needed: float, advice: str = "use smaller sizes") -> None:
    """Refuse work that needs more bytes than are free.

    Parameters
    ----------
    what : str
        What needs them, for the sentence.
    needed : float
        Bytes.
    advice : str
        What to do instead.
    """
    free = _free_memory()
    if needed > free:
        raise LearnabilityError(
            f"{what} need {needed / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are free: {advice}."
        )


def checked_seed(seed: int) -> int:
    """The seed, or a sentence."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise LearnabilityError(
            f"`seed` was given as {seed!r}, but a whole number from 0 is accepted."
        )
    return int(seed)


def _free_memory() -> float:
    """Bytes of memory that can be taken; unbounded where the system does not tell."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return float(line.split()[1]) * 1024
    except OSError:
        pass
    return np.inf


def hidden_directions(rng: np.random.Generator, r: int, d: int) -> NDArray[np.float64]:
    """A uniformly random orthonormal set of r rows in R^d."""
    q, upper = np.linalg.qr(rng.standard_normal((d, r)))
    return np.ascontiguousarray((q * np.sign(np.diag(upper))).T)
