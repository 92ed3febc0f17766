"""The multi-index target y = g(W* x) + sqrt(noise) xi with x standard normal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from learnability.labels.channel import Channel, checked_noise
from learnability.labels.link import Link
from learnability.targets.protocol import Sample, hidden_directions
from learnability.targets.sampling import Draw, Sampled, stream

__all__ = ["MultiIndex"]


@dataclass(frozen=True, init=False)
class MultiIndex(Sampled):
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

    @property
    def _least_dimension(self) -> int:
        return self.r

    def _drawing(self, seed: int, d: int) -> Draw:
        hidden = hidden_directions(stream(seed, 0), self.r, d)

        def draw(batch: int, n: int, dtype: DTypeLike) -> Sample:
            kind: Any = np.dtype(dtype).type
            X = stream(seed, 1, batch).standard_normal((n, d), dtype=kind)
            W = hidden.astype(dtype)
            h = X @ W.T
            y = self.channel.sample(h, stream(seed, 2, batch)).astype(dtype)
            return Sample(X, y, W, h)

        return draw
