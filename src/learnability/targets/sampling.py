"""Samples and endless batches of a target, from the one draw that each target defines."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import DTypeLike

from learnability.targets.protocol import Sample, checked_seed, checked_sizes

__all__ = ["Draw", "Sampled", "stream"]

Draw = Callable[[int, int, DTypeLike], Sample]
"""(number of the batch, n, dtype) -> its samples."""


class Sampled(ABC):
    """A target that can be sampled; what W and h are, the target says."""

    @property
    @abstractmethod
    def _least_dimension(self) -> int:
        """The smallest d."""

    @abstractmethod
    def _drawing(self, seed: int, d: int) -> Draw:
        """The draw of a seed, with its hidden weights."""

    def sample(
        self,
        seed: int,
        n: int | None = None,
        d: int | None = None,
        *,
        alpha: float | None = None,
        dtype: DTypeLike = np.float64,
    ) -> Sample:
        """Draw n samples in dimension d.

        Parameters
        ----------
        seed : int
            The same seed gives the same numbers.
        n, d : int
            Number of samples and dimension.
        alpha : float, optional
            Instead of `n`: n = round(alpha * d).
        dtype : dtype
            Of the inputs.

        Returns
        -------
        Sample
            The named tuple (X, y, W, h).
        """
        seed = checked_seed(seed)
        n, d = checked_sizes(self._least_dimension, n, d, alpha, dtype)
        return self._drawing(seed, d)(0, n, dtype)

    def batches(
        self, seed: int, n: int, d: int, *, first: int = 0, dtype: DTypeLike = np.float64
    ) -> Iterator[Sample]:
        """Endless fresh batches of n samples with the hidden weights of the same seed.

        Parameters
        ----------
        seed, n, d, dtype
            As in `sample`; batch number b is the same whatever was drawn before.
        first : int
            Number of the first batch.

        Yields
        ------
        Sample
        """
        seed = checked_seed(seed)
        n, d = checked_sizes(self._least_dimension, n, d, None, dtype)
        draw = self._drawing(seed, d)
        return (draw(batch, n, dtype) for batch in itertools.count(first))


def stream(seed: int, *path: int) -> np.random.Generator:
    """The random numbers of one part of a seed's data."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence([seed, *path])))
