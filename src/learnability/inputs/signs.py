"""Inputs of random signs, whose hidden coordinates may be longer than the others.

The signs e_i = +-1 are random; x_i = d^((A - 1) / 2) e_i on a random support of r coordinates and
x_i = d^(-1/2) e_i elsewhere, A the anisotropy. The hidden directions are the axes of the support,
and the hidden coordinates its signs. A = 0 is isotropic; A = 1 gives the support the length that
all other coordinates have together.

References
----------
Suzuki, Wu, Oko, Nitanda, NeurIPS 2023; Nitanda, Oko, Suzuki, Wu, ICLR 2024 (anisotropy).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from learnability.fields import number, record
from learnability.inputs.base import Directions, Inputs

__all__ = ["Signs"]


@record
class Signs(Inputs):
    """Random signs, scaled so that the support may be longer than the other coordinates.

    Examples
    --------
    >>> Signs(anisotropy=0.5).lengths(16)
    (0.5, 0.25)
    """

    kind: ClassVar[str] = "signs"
    normal: ClassVar[bool] = False

    anisotropy: float = number(
        0.0, at_least=0, at_most=1,
        help="0 makes all coordinates alike, 1 makes the support as long as all others together.",
    )  # fmt: skip

    @property
    def depends_on_dimension(self) -> bool:
        """Whether the lengths change with d: they do."""
        return True

    def lengths(self, d: int) -> tuple[float, float]:
        """Return |x_i| on the support and elsewhere, in dimension d.

        Parameters
        ----------
        d : int
            Dimension.
        """
        return float(d) ** ((self.anisotropy - 1) / 2), 1 / math.sqrt(d)

    def least_dimension(self, r: int) -> int:
        """Return the smallest dimension for r hidden directions."""
        return r

    def directions(self, seed: int, r: int, d: int) -> Directions:
        """Return axes of a random support."""
        support = np.random.default_rng([seed, 0]).permutation(d)[:r]
        W = np.zeros((r, d))
        W[np.arange(r), support] = 1.0
        return Directions(W, W)

    def draw(
        self, rng: np.random.Generator, n: int, directions: Directions, dtype: DTypeLike
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return inputs (n, d) and the signs of their support (n, r)."""
        d = directions.hidden.shape[1]
        support = directions.hidden.argmax(axis=1)
        signs = rng.integers(0, 2, (n, d), dtype=np.int8) * 2 - 1
        long, short = self.lengths(d)
        X = signs * np.asarray(short, dtype=dtype)
        X[:, support] = signs[:, support] * np.asarray(long, dtype=dtype)
        return X, signs[:, support].astype(dtype)

    def apply(self, V: NDArray[Any], directions: Directions, power: float = 1.0) -> NDArray[Any]:
        """Return Sigma^power V for rows V (m, d)."""
        d = V.shape[-1]
        long, short = self.lengths(d)
        variances = np.full(d, short**2)
        variances[directions.hidden.argmax(axis=1)] = long**2
        return np.asarray(V * variances**power)
