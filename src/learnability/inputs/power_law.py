"""Gaussian inputs whose covariance has a power-law spectrum.

x_k = sqrt(lambda_k) g_k with lambda_k = c k^(-exponent), k = 1 ... d, and c such that the mean
eigenvalue is 1. Hidden directions are uniformly random; z = (W* Sigma W*^T)^(-1/2) W* x.

References
----------
Cui, Loureiro, Krzakala, Zdeborova, NeurIPS 2021.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from learnability.fields import number, record
from learnability.inputs.base import Directions, Inputs, orthonormal_rows
from learnability.randomness import stream

__all__ = ["PowerLaw"]


@record
class PowerLaw(Inputs):
    """Gaussian inputs whose covariance has eigenvalues that fall as a power of their rank.

    Examples
    --------
    >>> PowerLaw(exponent=1.0).eigenvalues(3).round(3)
    array([1.636, 0.818, 0.545])
    """

    kind: ClassVar[str] = "power-law"

    exponent: float = number(
        1.0,
        at_least=0,
        at_most=20,
        help="Eigenvalue k of the covariance falls as k to minus this power.",
    )

    @property
    def depends_on_dimension(self) -> bool:
        """Whether the spectrum changes with d: it does."""
        return True

    def eigenvalues(self, d: int) -> NDArray[np.float64]:
        """Return the eigenvalues of the covariance, largest first, with mean 1.

        Parameters
        ----------
        d : int
            Dimension.
        """
        found = np.arange(1, d + 1, dtype=float) ** -self.exponent
        return np.asarray(found * (d / found.sum()))

    def least_dimension(self, r: int) -> int:
        """Return the smallest dimension for r hidden directions."""
        return r

    def directions(self, seed: int, r: int, d: int) -> Directions:
        """Return uniformly random hidden directions; no axis is marked."""
        return Directions(orthonormal_rows(stream(seed, 0), r, d), np.zeros((0, d)))

    def draw(
        self, rng: np.random.Generator, n: int, directions: Directions, dtype: DTypeLike
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return inputs (n, d) and their hidden coordinates (n, r)."""
        W = directions.hidden
        kind: Any = np.dtype(dtype).type
        eigenvalues = self.eigenvalues(W.shape[1])
        X = rng.standard_normal((n, W.shape[1]), dtype=kind)
        X *= np.sqrt(eigenvalues).astype(dtype)
        values, vectors = np.linalg.eigh((W * eigenvalues) @ W.T)
        whitening = (vectors / np.sqrt(values)) @ vectors.T
        return X, X @ (whitening @ W).astype(dtype).T

    def apply(self, V: NDArray[Any], directions: Directions, power: float = 1.0) -> NDArray[Any]:
        """Return Sigma^power V for rows V (m, d)."""
        return np.asarray(V * self.eigenvalues(V.shape[-1]) ** power)
