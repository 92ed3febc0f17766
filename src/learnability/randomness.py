"""Random numbers from explicit keys: the same seed gives the same numbers in any order of work."""

from __future__ import annotations

import numpy as np

__all__ = ["stream"]


def stream(seed: int, *path: int) -> np.random.Generator:
    """The random numbers of one part of a seed's data.

    Parameters
    ----------
    seed : int
        The seed.
    *path : int
        Which part, and which batch of it.
    """
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence([seed, *path])))
