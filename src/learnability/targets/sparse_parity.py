"""The parity of k signs among d, whose coordinates may be longer than the others.

Signs e_i = +-1 at random; the input has x_i = d^((A - 1) / 2) e_i on a random support of k
coordinates and x_i = d^(-1/2) e_i elsewhere, A the anisotropy; the label is the product of the k
signs of the support. A = 0 is isotropic; A = 1 gives the support the length that all other
coordinates have together.

References
----------
Suzuki, Wu, Oko, Nitanda, NeurIPS 2023; Nitanda, Oko, Suzuki, Wu, ICLR 2024 (anisotropy).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.targets.protocol import Sample
from learnability.targets.sampling import Draw, Sampled

__all__ = ["SparseParity"]


@dataclass(frozen=True)
class SparseParity(Sampled):
    """Labels e_1 e_2 ... e_k, a product of k random signs of the inputs.

    Parameters
    ----------
    k : int
        Number of signs, from 1 to 9.
    anisotropy : float
        A, from 0 (isotropic) to 1.

    Notes
    -----
    In a `Sample` the rows of W (k, d) are the axes of the support, and h (n, k) are its signs.

    Examples
    --------
    >>> X, y, W, h = SparseParity(3, anisotropy=0.5).sample(seed=0, n=5, d=16)
    >>> bool((y == h.prod(axis=1)).all()), round(float(np.linalg.norm(X[0] @ W.T)), 3)
    (True, 0.866)
    """

    numerics_version: ClassVar[int] = 1

    k: int = 2
    anisotropy: float = 0.0

    def __post_init__(self) -> None:
        whole = isinstance(self.k, int | np.integer) and not isinstance(self.k, bool)
        if not whole or not 1 <= self.k <= 9:
            raise LearnabilityError(
                f"`k` was given as {self.k!r}, but a whole number of signs from 1 to 9 is accepted."
            )
        a = self.anisotropy
        number = isinstance(a, int | float | np.number) and not isinstance(a, bool)
        if not number or not 0 <= a <= 1:
            raise LearnabilityError(
                f"`anisotropy` was given as {a!r}, but the parity is defined for numbers from 0 "
                "(all coordinates alike) to 1 (the support as long as all others together)."
            )
        object.__setattr__(self, "k", int(self.k))
        object.__setattr__(self, "anisotropy", float(a))

    @property
    def r(self) -> int:
        """Number of hidden directions."""
        return self.k

    @property
    def link(self) -> Link:
        """The product of the signs."""
        return Link("*".join(f"z{i + 1}" for i in range(self.k)) if self.k > 1 else "z")

    @property
    def noise(self) -> float:
        """Variance of the label noise: none."""
        return 0.0

    @property
    def label_mean(self) -> float:
        """E[y]."""
        return 0.0

    @property
    def label_variance(self) -> float:
        """Var(y)."""
        return 1.0

    def lengths(self, d: int) -> tuple[float, float]:
        """|x_i| on the support and elsewhere, in dimension d."""
        return float(d) ** ((self.anisotropy - 1) / 2), 1 / math.sqrt(d)

    @property
    def _least_dimension(self) -> int:
        return self.k

    def _drawing(self, seed: int, d: int) -> Draw:
        support = np.random.default_rng([seed, 0]).permutation(d)[: self.k]
        long, short = self.lengths(d)
        W = np.zeros((self.k, d))
        W[np.arange(self.k), support] = 1.0

        def draw(batch: int, n: int, dtype: DTypeLike) -> Sample:
            signs = np.random.default_rng([seed, 1, batch]).choice([-1.0, 1.0], (n, d))
            X = signs * short
            X[:, support] = signs[:, support] * long
            h = signs[:, support]
            parts = (X, h.prod(axis=1), W, h)
            return Sample(*(np.asarray(part, dtype=dtype) for part in parts))

        return draw
