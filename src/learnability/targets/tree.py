"""The tree under a hierarchical target: level after level, blocks of variables become features.

h_b = c s^(-1/2) sum_{i in block b} a_i P(z_i) over disjoint blocks of s variables, with a factor c
for each level (`_tree_moments`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError

__all__ = ["climb", "level_sizes", "sign_counts"]


def level_sizes(d: int, epsilon: float, depth: int) -> tuple[int, ...]:
    """Return numbers of variables d^epsilon, d^(epsilon^2), ... of the levels under a feature.

    Each is a multiple of the next.

    Raises
    ------
    LearnabilityError
        When the dimension cannot hold the depth.
    """
    sizes = [max(round(d ** (epsilon**level)), 1) for level in range(1, depth - 1)]
    for k in range(len(sizes) - 1, 0, -1):
        sizes[k - 1] = sizes[k] * max(round(sizes[k - 1] / sizes[k]), 1)
    if min(sizes) < 2 or any(a < 2 * b for a, b in zip(sizes, sizes[1:], strict=False)):
        raise LearnabilityError(
            f"A tree of depth {depth} with epsilon = {epsilon:g} was asked for in dimension {d}, "
            f"which cannot hold it: its levels would have {', '.join(map(str, sizes))} variables, "
            "but each needs at least 2, and twice as many as the next. Use a smaller `depth` or a "
            "larger d or epsilon."
        )
    return tuple(sizes)


def sign_counts(signs: str, size: int) -> tuple[int, int]:
    """Return how many of the variables under a feature have sign +1 and -1.

    Random ones are fair coins, thrown once for each number of variables.
    """
    if signs == "random":
        plus = int(np.random.default_rng([17, size]).binomial(size, 0.5))
        return plus, size - plus
    return (size, 0) if signs == "ones" else (size - size // 2, size // 2)


def climb(
    z: NDArray[np.floating],
    sizes: Sequence[int],
    signs: str,
    polynomial: Callable[[NDArray[np.floating]], NDArray[np.floating]],
    scales: Sequence[float],
) -> list[NDArray[np.floating]]:
    """Return the values of every level, from the variables z (n, r, N) to the features (n, r, 1).

    Parameters
    ----------
    z : array, shape (n, r, N)
        Variables of the first level.
    sizes : sequence of int
        Numbers of variables of each level.
    signs : str
        "balanced", "ones" or "random".
    polynomial : callable
        P, elementwise.
    scales : sequence of float
        Factor of the features over each level.
    """
    levels = [z]
    for size, above, scale in zip(sizes, (*sizes[1:], 1), scales, strict=True):
        block = size // above
        plus, minus = sign_counts(signs, block)
        a = np.concatenate([np.ones(plus), -np.ones(minus)]).astype(z.dtype)
        values = polynomial(levels[-1]).reshape(*z.shape[:2], above, block)
        levels.append((values @ a) * z.dtype.type(scale / math.sqrt(block)))
    return levels
