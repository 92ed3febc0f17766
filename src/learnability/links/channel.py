"""The law P(y | z) of a link with additive Gaussian label noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.links._sections import Section
from learnability.links.conditional import ConditionalMoments, conditional_moments
from learnability.links.hermite import expand
from learnability.links.link import Link

__all__ = ["Channel"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Channel:
    """The channel y = g(z) + sqrt(noise) xi, with xi standard normal.

    Parameters
    ----------
    link : Link or str
        The link g.
    noise : float
        Variance of the label noise, at least zero.
    """

    link: Link
    noise: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", Link(self.link))
        object.__setattr__(self, "noise", checked_noise(self.noise))

    def sample(self, z: ArrayLike, rng: np.random.Generator) -> Array:
        """Labels of hidden coordinates z of shape (..., r)."""
        y = np.asarray(self.link(z))
        return y + math.sqrt(self.noise) * rng.standard_normal(y.shape) if self.noise else y

    @property
    def label_mean(self) -> float:
        """E[y]."""
        return expand(self.link, 0).mean

    @property
    def label_variance(self) -> float:
        """Var(y), noise included."""
        return expand(self.link, 0).variance + self.noise

    def conditional_moments(
        self, orders: Sequence[int], known: ArrayLike | None = None
    ) -> dict[int, ConditionalMoments]:
        """E[zeta_k zeta_k^T] of zeta_k(y) = E[h_k(z) | y, known coordinates].

        Parameters
        ----------
        orders : sequence of int
            Orders k >= 1 of the orthonormal Hermite products.
        known : array_like, shape (j, r), optional
            Orthonormal rows: the directions that are known.

        Returns
        -------
        dict
            Order -> ConditionalMoments.
        """
        frame = (
            np.zeros((0, self.link.r)) if known is None else np.atleast_2d(np.asarray(known, float))
        )
        return conditional_moments(Section.whole(self.link), self.noise, list(orders), frame)


def checked_noise(noise: float) -> float:
    """The noise as a float, or a sentence."""
    try:
        value = float(noise)
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(noise, bool) or not math.isfinite(value) or value < 0:
        raise LearnabilityError(
            f"`noise` was given as {noise!r}, but a finite variance of at least 0 is accepted."
        )
    return value
