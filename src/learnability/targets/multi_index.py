"""The multi-index target y = g(W* x) + sqrt(noise) xi with x standard normal."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from learnability.links.channel import Channel, checked_noise
from learnability.links.link import Link
from learnability.targets.protocol import Sample, checked_seed, checked_sizes, hidden_directions

__all__ = ["MultiIndex"]


@dataclass(frozen=True, init=False)
class MultiIndex:
    """Labels g(W* x) of Gaussian inputs, W* with r random orthonormal rows.

    Parameters
    ----------
    link : str, callable or Link
        The function g; a callable takes an (..., r) array.
    r : int, optional
        Number of hidden directions; needed for a callable.
    noise : float
        Variance of additive Gaussian label noise.

    Examples
    --------
    >>> target = MultiIndex("z1*z2")
    >>> X, y, W, h = target.sample(seed=0, n=6, d=4)
    >>> X.shape, W.shape, bool(np.allclose(y, h[:, 0] * h[:, 1]))
    ((6, 4), (2, 4), True)
    """

    numerics_version: ClassVar[int] = 1  # Of the samples: stored runs of another are not used.

    link: Link
    noise: float = field(default=0.0)

    def __init__(
        self, link: str | Callable[[Any], Any] | Link, r: int | None = None, noise: float = 0.0
    ) -> None:
        object.__setattr__(self, "link", Link(link, r=r))
        object.__setattr__(self, "noise", checked_noise(noise))

    @property
    def r(self) -> int:
        """Number of hidden directions."""
        return self.link.r

    @property
    def channel(self) -> Channel:
        """The law P(y | z)."""
        return Channel(self.link, self.noise)

    @property
    def label_mean(self) -> float:
        """E[y]."""
        return self.channel.label_mean

    @property
    def label_variance(self) -> float:
        """Var(y), noise included."""
        return self.channel.label_variance

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
            Number of samples and dimension, d >= r.
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
        n, d = checked_sizes(self.r, n, d, alpha, dtype)
        return self._draw(hidden_directions(_stream(seed, 0), self.r, d), seed, 0, n, dtype)

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
        n, d = checked_sizes(self.r, n, d, None, dtype)
        W = hidden_directions(_stream(seed, 0), self.r, d)
        return (self._draw(W, seed, batch, n, dtype) for batch in itertools.count(first))

    def _draw(self, W: Any, seed: int, batch: int, n: int, dtype: DTypeLike) -> Sample:
        rng = _stream(seed, 1, batch)
        kind: Any = np.dtype(dtype).type
        X = rng.standard_normal((n, W.shape[1]), dtype=kind)
        W = W.astype(dtype)
        h = X @ W.T
        y = self.channel.sample(h, _stream(seed, 2, batch)).astype(dtype)
        return Sample(X, y, W, h)


def _stream(seed: int, *path: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence([seed, *path])))
