"""Samples in blocks that can be read again: kept when they are few, else drawn anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.targets.base import checked_memory

__all__ = ["ROWS", "Samples", "sample_sizes"]

ROWS = 4096
"""Rows of a block."""
_KEPT = 2**28  # Bytes of samples that are held in memory.


@dataclass(frozen=True)
class Samples:
    """n samples from a target's batches, beginning with one of them, in float32.

    Parameters
    ----------
    target : Hierarchical
        Where the samples come from.
    seed, d, n : int
        Seed of the run, dimension and number of samples.
    first : int
        Number of the first batch.
    """

    target: Any
    seed: int
    d: int
    n: int
    first: int = 0

    def __iter__(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        if 4 * self.n * (self.d + 1) <= _KEPT:
            return iter(self._kept)
        return self._drawn()

    @cached_property
    def _kept(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        return list(self._drawn())

    def _drawn(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        count = -(-self.n // ROWS)
        batches = self.target.batches(self.seed, ROWS, self.d, first=self.first, dtype=np.float32)
        for k, batch in enumerate(islice(batches, count)):
            rows = min(ROWS, self.n - k * ROWS)
            yield batch.X[:rows], batch.y[:rows]

    @cached_property
    def labels(self) -> NDArray[np.float32]:
        """All labels, shape (n,)."""
        return np.concatenate([y for _, y in self])


def sample_sizes(at: Mapping[str, Any], least: int = 2) -> list[int]:
    """Return numbers of samples n = round(alpha d) of each alpha.

    Parameters
    ----------
    at : mapping
        Has d and alpha, one or several.
    least : int
        The smallest number that is accepted.

    Raises
    ------
    LearnabilityError
        When there are fewer, or so many that their labels do not fit into memory.
    """
    sizes = []
    for alpha in np.atleast_1d(at["alpha"]):
        n = max(round(float(alpha) * at["d"]), 1)
        checked_memory(f"{n} labels", 4.0 * n)
        if n < least:
            raise LearnabilityError(
                f"`alpha` = {float(alpha):g} gives n = {n} in dimension {at['d']}, but {least} "
                "samples are needed."
            )
        sizes.append(n)
    return sizes
