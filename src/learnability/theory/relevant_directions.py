"""State evolution of a link that depends on fewer directions than it has variables.

Nothing is learned of a direction that the label does not depend on: with the rows of B an
orthonormal basis of the others, the overlap is M = B^T N B, where N is that of the link
u -> g(B^T u) of fewer variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import sobol_normals
from learnability.labels.channel import Channel
from learnability.labels.link import Link
from learnability.theory._phase_thresholds import Thresholds
from learnability.theory._relaxation import FixedPoint
from learnability.theory.state_evolution import StateEvolution
from learnability.theory.subspaces import relevant_subspace

__all__ = [
    "RelevantDirections",
    "RelevantStateEvolution",
    "of_relevant_directions",
    "relevant_directions",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RelevantDirections:
    """The directions on which the label of a channel depends.

    Attributes
    ----------
    channel : Channel
        The label as a function of the coordinates along them.
    basis : array, shape (k, r)
        These directions, as orthonormal rows; the identity where the label depends on all.
    """

    channel: Channel
    basis: Array

    def outer(self, N: Array) -> Array:
        """Return B^T N B, shape (..., r, r), for matrices N of shape (..., k, k)."""
        return np.asarray(self.basis.T @ N @ self.basis)

    def inner(self, M: Array) -> Array:
        """Return B M B^T, shape (..., k, k), for matrices M of shape (..., r, r)."""
        return np.asarray(self.basis @ M @ self.basis.T)


@lru_cache(maxsize=64)
def relevant_directions(channel: Channel) -> RelevantDirections:
    """Return the directions on which the label depends, where it is a formula; else all of them.

    Parameters
    ----------
    channel : Channel
        A link, of which more than its values has to be known, and its label noise.
    """
    link, every = channel.link, RelevantDirections(channel, np.eye(channel.link.r))
    if link.r == 1 or channel.law is not None or link.tree is None or _moves_everywhere(link):
        return every
    basis, note = relevant_subspace(link)
    if note is not None or not 0 < len(basis) < link.r:
        return every
    basis = _along_axes(basis)
    return RelevantDirections(Channel(link.rotate(basis.T), channel.noise), basis)


def of_relevant_directions(channel: Channel) -> RelevantStateEvolution | None:
    """Return the state evolution in fewer directions; None where the label depends on all.

    Parameters
    ----------
    channel : Channel
        The link and its label noise.
    """
    found = relevant_directions(channel)
    if len(found.basis) == channel.link.r:
        return None
    return RelevantStateEvolution(channel, StateEvolution(found.channel), found)


def _moves_everywhere(link: Link) -> bool:
    """Whether the gradient of a link has all directions, which says that it depends on all."""
    z = sobol_normals(link.r, 9, 5)
    with np.errstate(all="ignore"):
        slopes = np.stack([np.asarray(d(z), dtype=float) for d in link.gradient()], axis=1)
    slopes = slopes[np.isfinite(slopes).all(axis=1)]
    length = np.linalg.norm(slopes, axis=1, keepdims=True)
    slopes = slopes / np.where(length > 0, length, 1.0)
    return bool(np.linalg.eigvalsh(slopes.T @ slopes / len(z))[0] > 1e-8)


def _along_axes(basis: Array) -> Array:
    """The same subspace; by its axes where it has them, which keeps formulas as they are."""
    axes = np.nonzero(np.einsum("ki,ki->i", basis, basis) > 1 - 1e-10)[0]
    return np.eye(basis.shape[1])[axes] if len(axes) == len(basis) else basis


@dataclass(frozen=True, eq=False)
class RelevantStateEvolution(StateEvolution):
    """State evolution of a channel from that of fewer directions.

    Parameters
    ----------
    channel : Channel
        The link and its label noise.
    inner : StateEvolution
        That of the directions on which the label depends.
    directions : RelevantDirections
        These directions.
    """

    inner: StateEvolution
    directions: RelevantDirections

    def __post_init__(self) -> None:
        """The inner one has checked its number of directions."""

    def _embedded(self, point: FixedPoint) -> FixedPoint:
        size = np.abs(self.directions.basis)
        M = self.directions.outer(point.M)
        return FixedPoint(M, point.status, size.T @ point.error @ size)

    @property
    def curve(self) -> None:
        """The overlap of all directions is not one number."""

    @property
    def leading(self) -> None:
        """No direction is found alone."""

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds, as numbers; one that does not converge is NaN, and the note says so."""
        return self.inner.thresholds

    @property
    def thresholds_at_hand(self) -> Thresholds:
        """The same; where fixed points of all ratios would have to be found, the cheap ones."""
        return self.inner.thresholds_at_hand

    @property
    def note(self) -> str:
        """What the thresholds at hand are about, how exact they are, and what is not computed."""
        count = f"{len(self.directions.basis)} of {self.r} directions"
        return f"The label depends on {count}. {self.inner.note}".strip()

    def fixed_point(
        self, alpha: float, informed: bool = False, below: Array | None = None
    ) -> FixedPoint:
        """Return the overlap that message passing reaches."""
        start = None if below is None else self.directions.inner(below)
        return self._embedded(self.inner.fixed_point(alpha, informed, start))

    def fixed_points(self, alphas: Array, informed: bool = False) -> list[FixedPoint]:
        """Return fixed points at several ratios, each found from that of the next smaller one."""
        return [self._embedded(p) for p in self.inner.fixed_points(alphas, informed)]

    def all_fixed_points(self, alpha: float, random_starts: int = 2) -> list[FixedPoint]:
        """Return the different fixed points found, that of the largest free entropy first."""
        return [self._embedded(p) for p in self.inner.all_fixed_points(alpha, random_starts)]

    def free_entropy(self, M: Array, alpha: float) -> float:
        """Return the free entropy of an overlap above that of none, for each dimension.

        Parameters
        ----------
        M : array, shape (r, r)
            Symmetric, with eigenvalues in [0, 1), and zero where nothing can be learned.
        alpha : float
            Samples over dimension.
        """
        return self.inner.free_entropy(self.directions.inner(M), alpha)

    def step(self, alpha: float, M: Array) -> Array:
        """Return one undamped step M -> A (I + A)^{-1}, A = alpha I(M)."""
        return self.directions.outer(self.inner.step(alpha, self.directions.inner(M)))
