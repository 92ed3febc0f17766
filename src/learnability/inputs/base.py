"""What every law of inputs offers, and the Gaussian laws with finitely many marked axes.

x = Sigma^(1/2) g with g standard normal. Sigma is the identity but for k marked axes e_1 ... e_k,
along which the standard deviation of x is `scale`. The hidden directions W* (r orthonormal rows)
lie in the span of the marked axes. The label depends on the hidden coordinates, which are the
projections W* x divided by the root of their covariance, so that they are standard normal:

    z = (W* Sigma W*^T)^(-1/2) W* x = to_label c,   c_j = <e_j, x> / scale_j.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from learnability.errors import LearnabilityError

__all__ = ["Directions", "Frame", "Inputs", "MarkedInputs", "orthonormal_rows"]

Array = NDArray[np.float64]


class Frame(NamedTuple):
    """The k marked axes of the inputs in a dimension d, described by numbers alone.

    Attributes
    ----------
    scale : array, shape (k,)
        Standard deviation of the inputs along each axis.
    to_label : array, shape (r, k)
        Map of the standardised coordinates along the axes to the hidden ones; orthonormal rows.
    hidden : array, shape (r, k)
        Coordinates of the hidden directions along the axes; orthonormal rows.
    spikes : int
        Number of axes that are spikes of the inputs; they come first.
    """

    scale: Array
    to_label: Array
    hidden: Array
    spikes: int

    @property
    def isotropic(self) -> bool:
        """Whether the inputs have the same standard deviation along every axis."""
        return bool(np.all(self.scale == 1.0))


class Directions(NamedTuple):
    """The hidden directions of one seed, and the axes that its inputs mark.

    Attributes
    ----------
    hidden : array, shape (r, d)
        W*, orthonormal rows.
    marked : array, shape (k, d)
        The marked axes, orthonormal rows.
    """

    hidden: Array
    marked: Array


class Inputs(ABC):
    """A law of inputs x in dimension d."""

    kind: ClassVar[str]
    """The name by which learners declare what they support."""
    has_frame: ClassVar[bool] = False
    """Whether finitely many axes are marked, so that `frame` exists."""
    normal: ClassVar[bool] = True
    """Whether the hidden coordinates are standard normal; else they are signs."""

    @property
    def depends_on_dimension(self) -> bool:
        """Whether the law has parameters that change with d, so that theory needs d."""
        return False

    @abstractmethod
    def least_dimension(self, r: int) -> int:
        """Return the smallest dimension for r hidden directions.

        Parameters
        ----------
        r : int
            Number of hidden directions.
        """

    @abstractmethod
    def directions(self, seed: int, r: int, d: int) -> Directions:
        """Return the hidden directions and the marked axes of a seed.

        Parameters
        ----------
        seed : int
            The same seed gives the same directions.
        r, d : int
            Number of hidden directions and dimension.
        """

    def frame(self, r: int, d: int) -> Frame:
        """Return the marked axes in dimension d for r hidden directions.

        Parameters
        ----------
        r, d : int
            Number of hidden directions and dimension.

        Raises
        ------
        LearnabilityError
            When the law does not mark finitely many axes, that is where `has_frame` is False.
        """
        raise LearnabilityError(f"{self.kind} inputs do not mark finitely many axes.")

    @abstractmethod
    def draw(
        self, rng: np.random.Generator, n: int, directions: Directions, dtype: DTypeLike
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return inputs (n, d) and their hidden coordinates (n, r).

        Parameters
        ----------
        rng : numpy Generator
            The generator of the inputs.
        n : int
            Number of samples.
        directions : Directions
            Those of the seed.
        dtype : dtype
            float32 or float64.
        """

    @abstractmethod
    def apply(self, V: NDArray[Any], directions: Directions, power: float = 1.0) -> NDArray[Any]:
        """Return Sigma^power V for rows V (m, d).

        Parameters
        ----------
        V : array, shape (m, d)
            Rows.
        directions : Directions
            Those of the seed.
        power : float
            The power of the covariance Sigma of the inputs.
        """


class MarkedInputs(Inputs):
    """Gaussian inputs that are isotropic but for finitely many marked axes."""

    has_frame: ClassVar[bool] = True

    @abstractmethod
    def frame(self, r: int, d: int) -> Frame:
        """Return the marked axes in dimension d for r hidden directions."""

    def draw(
        self, rng: np.random.Generator, n: int, directions: Directions, dtype: DTypeLike
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return inputs (n, d) and their hidden coordinates (n, r)."""
        r, d = directions.hidden.shape
        kind: Any = np.dtype(dtype).type
        X = rng.standard_normal((n, d), dtype=kind)
        frame = self.frame(r, d)
        if frame.isotropic:
            return X, X @ directions.hidden.astype(dtype).T
        E = directions.marked.astype(dtype)
        c = X @ E.T
        X += (c * (frame.scale - 1.0).astype(dtype)) @ E
        return X, c @ frame.to_label.astype(dtype).T

    def apply(self, V: NDArray[Any], directions: Directions, power: float = 1.0) -> NDArray[Any]:
        """Return Sigma^power V for rows V (m, d)."""
        frame = self.frame(*directions.hidden.shape)
        E = directions.marked
        return np.asarray(V + ((V @ E.T) * (frame.scale ** (2 * power) - 1.0)) @ E)


def orthonormal_rows(rng: np.random.Generator, r: int, d: int) -> Array:
    """Return a uniformly random orthonormal set of r rows in R^d."""
    q, upper = np.linalg.qr(rng.standard_normal((d, r)))
    return np.ascontiguousarray((q * np.sign(np.diag(upper))).T)
