"""Random numbers from explicit keys: the same seed gives the same numbers in any order of work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from learnability.errors import LearnabilityError, refuse

__all__ = ["checked_seed", "checked_seeds", "stream"]

_MOST_SEEDS = 1_000_000


def stream(seed: int, *path: int) -> np.random.Generator:
    """Return the random numbers of one part of a seed's data.

    Parameters
    ----------
    seed : int
        The seed.
    *path : int
        Which part, and which batch of it.
    """
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence([seed, *path])))


def checked_seed(seed: int) -> int:
    """Return the seed as an int.

    Raises
    ------
    LearnabilityError
        When it is no whole number from 0.
    """
    if not _whole(seed) or seed < 0:
        raise refuse("seed", seed, "a whole number from 0")
    return int(seed)


def checked_seeds(seeds: int | Sequence[int]) -> list[int]:
    """Return the seeds 0 ... k - 1 for a number k, and a list of whole numbers as it is.

    Raises
    ------
    LearnabilityError
        When they are no whole numbers from 0, or one appears twice.
    """
    if isinstance(seeds, Iterable):
        found = [] if isinstance(seeds, str) else list(seeds)
        if found and all(_whole(seed) and seed >= 0 for seed in found):
            if len(set(found)) < len(found):
                raise LearnabilityError(f"`seeds` was given as {found!r}, but one of them twice.")
            return [int(seed) for seed in found]
    elif _whole(seeds) and 1 <= seeds <= _MOST_SEEDS:
        return list(range(int(seeds)))
    accepted = f"a number of seeds from 1 to {_MOST_SEEDS} or a list of whole numbers from 0"
    raise refuse("seeds", seeds, accepted)


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
