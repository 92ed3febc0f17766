"""What every law of the label offers, beyond a function with Gaussian noise.

A law is P(y | z) of the hidden coordinates z. Some of its formulas may hold latent variables,
standard normal and fresh for every label: they are coordinates after the r visible ones, and
nothing is ever known of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LinkError
from learnability.expressions.crossings import points_beside_breaks
from learnability.expressions.structure import Symmetry, symmetries

if TYPE_CHECKING:
    from learnability.labels.link import Link

__all__ = ["EVERY_LAW", "TAIL_REACH", "Law", "probe_points"]

Array = NDArray[np.float64]

EVERY_LAW = ("finite", "counts", "normal", "latent", "density")
"""The kinds of all laws, for learners that need no more than labels and their two moments."""

TAIL_REACH = 7.5
"""Laws are checked, and counts are followed, up to this many standard deviations."""


class Law(ABC):
    """P(y | z), without the Gaussian noise that a channel may add."""

    kind: ClassVar[str]
    """The name by which learners declare what they support."""
    name: str
    """Its text, or what to call it in sentences."""
    r: int
    """Number of hidden coordinates."""
    core: Link
    """The label as a function of z and of standard normal latent variables after it."""
    integrated_by_core: ClassVar[bool] = False
    """Whether integrals run over the coordinates of `core`; else over z, with a sum over labels."""

    @property
    def text(self) -> str | None:
        """Its text, when it was given as such and can be read back; None otherwise."""
        from learnability.labels._checks import read_formula

        try:
            read_formula(self.name, self.r)
        except LinkError:
            return None
        return self.name

    @property
    @abstractmethod
    def values(self) -> tuple[float, ...] | None:
        """All labels, sorted, where they are finitely many; None otherwise."""

    @property
    @abstractmethod
    def mean(self) -> Link:
        """The regression function E[y | z]."""

    @property
    @abstractmethod
    def variance(self) -> Link:
        """Var(y | z)."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Link, ...]:
        """Functions of z, and of latent variables after it, that make the law."""

    @property
    def added(self) -> float | None:
        """Variance of the noise of a law that only adds noise to its mean; None for others."""
        return None

    @abstractmethod
    def sample(self, z: Array, rng: np.random.Generator) -> Array:
        """Return labels (...) of hidden coordinates (..., r)."""

    @abstractmethod
    def profile(self, z: Array) -> Array:
        """Return numbers (n, q) at points (n, r) that determine the law of the label there."""

    @property
    @abstractmethod
    def mirror(self) -> Callable[[Array], Array] | None:
        """What a change of sign of the label does to `profile`; None if no such map exists."""

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """Signed permutations of z that leave the law as it is, or turn y into -y."""
        breaks = [b for part in self.parts if part.r == self.r for b in part.breaks or ()]
        return symmetries(self.profile, self.r, self.mirror, breaks)

    @abstractmethod
    def rotate(self, Q: Array) -> Law:
        """Return the law of a label whose hidden coordinates are Q z."""


def probe_points(m: int, parts: Sequence[Link] = ()) -> Array:
    """Fixed points (n, m) at which laws are checked: the body of the normal law and its tails.

    The last ones lie beside the breaks of the parts of a law, in cells that are rare.
    """
    breaks = dict.fromkeys(b for part in parts for b in part.breaks or ())
    beside = points_beside_breaks(tuple(breaks), m)
    if m == 1:
        return np.concatenate([np.linspace(-8.5, 8.5, 4096)[:, None], beside])
    normals = np.random.default_rng(29).standard_normal((4096, m))
    far = TAIL_REACH * normals / np.linalg.norm(normals, axis=1, keepdims=True)
    axes = TAIL_REACH * np.concatenate([np.eye(m), -np.eye(m)])
    return np.concatenate([normals, 2 * normals, far, axes, beside])
