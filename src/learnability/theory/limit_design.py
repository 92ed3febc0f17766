"""A Gaussian data matrix in the limit of large d, for algorithms that only multiply with it.

An algorithm that uses X (n, d) only through products X w and X^T g needs no entry of X: given all
products so far, the next one is a part that they determine plus a fresh Gaussian vector. In the
limit of large d vectors of R^d are given by their coefficients in a basis that grows by one
direction with each new X^T g, and vectors of R^n by samples of their entries. The only error left
is that of the number of samples. This is state evolution with its whole memory, for any damping or
memory term.

References
----------
Bolthausen, Commun. Math. Phys. 325 (2014); Bayati and Montanari, IEEE Trans. Inf. Theory 57 (2011);
Celentano, Cheng, Montanari, arXiv:2112.07572.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError

__all__ = ["LimitDesign"]

Array = NDArray[np.float64]

_NEW = 1e-7
"""A vector counts as known when the new part of it is smaller than this share."""


class LimitDesign:
    """The products with a matrix of independent standard normal entries, d and n infinite.

    Parameters
    ----------
    samples : int
        Number of entries of R^n that are followed.
    alpha : float
        n / d.
    directions : int
        Number of coefficients of a vector of R^d: one per direction at the start, and one per row
        ever given to `collect`.
    known : int
        Number of coefficients that the first vectors use.
    rng : numpy.random.Generator
        Source of the fresh vectors.

    Attributes
    ----------
    shape : tuple of int or float
        (n, d) for the purpose of normalisation: samples, samples / alpha.
    """

    def __init__(
        self,
        samples: int,
        alpha: float,
        directions: int,
        known: int,
        rng: np.random.Generator,
    ) -> None:
        self.shape = samples, samples / alpha
        self.dtype = np.dtype(np.float64)
        self._rng, self._free = rng, known
        # Rows are orthonormal e in R^d with X e; columns are f in R^n, |f|^2 = d, with X^T f / d.
        self._rows: list[tuple[Array, Array]] = []
        self._columns: list[tuple[Array, Array]] = []
        self._directions = directions

    def __len__(self) -> int:
        return self.shape[0]

    def project(self, W: Array) -> Array:
        """Return W X^T (k, samples) for vectors W (k, directions)."""
        return np.array([self._projected(w) for w in W])

    def collect(self, G: Array) -> Array:
        """Return G X (k, directions) for vectors G (k, samples)."""
        return np.array([self._collected(g) for g in G]) * self.shape[1]

    def _projected(self, w: Array) -> Array:
        found, left = np.zeros(len(self)), np.asarray(w, dtype=float)
        size = np.linalg.norm(left)
        for e, image in self._rows:
            share = float(e @ left)
            found += share * image
            left = left - share * e
        rest = float(np.linalg.norm(left))
        if rest > _NEW * size:
            e = left / rest
            image = self._rng.standard_normal(len(self))
            for f, back in self._columns:
                image += (float(back @ e) - float(f @ image) / self.shape[1]) * f
            self._rows.append((e, image))
            found += rest * image
        return found

    def _collected(self, g: Array) -> Array:
        d = self.shape[1]
        found, left = np.zeros(self._directions), np.asarray(g, dtype=float)
        size = np.linalg.norm(left)
        for f, back in self._columns:
            share = float(f @ left) / d
            found += share * back
            left = left - share * f
        rest = float(np.linalg.norm(left)) / math.sqrt(d)
        if rest * math.sqrt(d) > _NEW * size:
            f = left / rest
            back = np.zeros(self._directions)
            for e, image in self._rows:
                back += float(image @ f) / d * e
            if self._free == self._directions:
                raise LearnabilityError(
                    f"A vector beyond the {self._directions} directions that were planned for was "
                    "asked of a limit design: give more `directions`."
                )
            back[self._free] += 1.0
            self._free += 1
            self._columns.append((f, back))
            found += rest * back
        return found
