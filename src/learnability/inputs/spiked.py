"""Gaussian inputs with a few long directions: x ~ N(0, I + sum_j theta_j mu_j mu_j^T).

The spikes mu_j are orthonormal and have cosines A_ji = <mu_j, w_i> with the hidden directions w_i,
the rows of W*. With V orthonormal rows outside of W*, the marked axes are the rows of

    [ mu ]   [ A                  (I - A A^T)^(1/2) ] [ W* ]
    [ e  ] = [ (I - A^T A)^(1/2)  -A^T              ] [ V  ],

an orthogonal matrix, so that W* = A^T mu + (I - A^T A)^(1/2) e. For one spike and one hidden
direction this is the frame e1 = mu, e2 = (w - a mu) / sqrt(1 - a^2).

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, NeurIPS 2023; Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import Kind, Number, declare, is_number, number, numbers, record
from learnability.inputs.base import Directions, Frame, MarkedInputs, orthonormal_rows
from learnability.randomness import stream

__all__ = ["Spiked"]

Array = NDArray[np.float64]


class _Cosines(Kind):
    """One cosine, one for each spike, or a matrix of spikes by hidden directions."""

    accepted = "a cosine between -1 and 1, a list of them, or a matrix of them"
    type_name = "float, sequence of float or matrix"
    examples = (0.6, -0.3)

    def read(self, value: Any) -> Any:
        """Return a float, or nested tuples of floats.

        Raises
        ------
        ValueError
            When a cosine is not between -1 and 1.
        """
        if is_number(value):
            return Number(at_least=-1, at_most=1).read(value)
        if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or not len(value):
            raise ValueError
        return tuple(self.read(one) for one in value)

    def parse(self, text: str) -> Any:
        """Read numbers separated by commas, and rows of a matrix separated by semicolons."""
        rows = [[float(part) for part in row.split(",")] for row in text.split(";")]
        if len(rows) > 1:
            return rows
        return rows[0] if len(rows[0]) > 1 else rows[0][0]


@record
class Spiked(MarkedInputs):
    """Gaussian inputs with long directions, hidden or others: x ~ N(0, I + theta mu mu^T).

    Examples
    --------
    >>> inputs = Spiked(exponent=0.5, alignment_exponent=0.25)
    >>> inputs.strengths(10_000), inputs.cosines(1, 10_000)
    (array([100.]), array([[0.1]]))
    """

    kind: ClassVar[str] = "spiked"

    strength: float | tuple[float, ...] | None = numbers(
        None, at_least=0, distinct=False, optional=True,
        help="Strength theta of the spike, or one for each spike.",
    )  # fmt: skip
    alignment: float | tuple[Any, ...] = declare(
        1.0, _Cosines(),
        "Cosine of spike j with hidden direction j, one for each (of every spike, where there is "
        "one hidden direction), or a matrix spikes by hidden directions.",
    )  # fmt: skip
    exponent: float | tuple[float, ...] | None = numbers(
        None, at_least=0, distinct=False, optional=True,
        help="The strength is d to this power, instead of `strength`.",
    )  # fmt: skip
    alignment_exponent: float | None = number(
        None, at_least=0, optional=True, help="The cosine is d to minus this power."
    )

    def check(self) -> None:
        """Refuse strengths or cosines that were given twice or not at all.

        Raises
        ------
        LearnabilityError
            When not exactly one of each pair was given.
        """
        if (self.strength is None) == (self.exponent is None):
            raise LearnabilityError(
                "Give either `strength`, that of the spikes, or `exponent`, not both or neither."
            )
        if self.alignment_exponent is not None and self.alignment != 1.0:
            raise LearnabilityError("Give `alignment` or `alignment_exponent`, not both.")
        rows = self.alignment
        if isinstance(rows, tuple) and len(rows) != self.count:
            raise LearnabilityError(
                f"`alignment` was given for {len(rows)} spikes, but there are {self.count}."
            )

    @property
    def count(self) -> int:
        """Number of spikes."""
        given = self.strength if self.strength is not None else self.exponent
        return len(given) if isinstance(given, tuple) else 1

    @property
    def depends_on_dimension(self) -> bool:
        """Whether strengths or cosines are powers of d."""
        return True

    def strengths(self, d: int) -> Array:
        """Return theta of every spike in dimension d, shape (spikes,).

        Parameters
        ----------
        d : int
            Dimension.

        Raises
        ------
        LearnabilityError
            When a power of d is not a finite number.
        """
        if self.strength is not None:
            return np.atleast_1d(np.asarray(self.strength, dtype=float))
        return np.array([_power(d, e) for e in np.atleast_1d(np.asarray(self.exponent))])

    def cosines(self, r: int, d: int) -> Array:
        """Return the cosines A of the spikes with r hidden directions in dimension d, (spikes, r).

        Parameters
        ----------
        r, d : int
            Number of hidden directions and dimension.

        Raises
        ------
        LearnabilityError
            When orthonormal spikes and hidden directions cannot have these cosines.
        """
        given: Any = self.alignment
        if self.alignment_exponent is not None:
            given = 1 / _power(d, self.alignment_exponent)
        A = np.zeros((self.count, r))
        if isinstance(given, tuple) and any(isinstance(row, tuple) for row in given):
            if any(not isinstance(row, tuple) or len(row) != r for row in given):
                raise LearnabilityError(
                    f"`alignment` was given as {given!r}, but a matrix of {self.count} spikes by "
                    f"{r} hidden directions is accepted."
                )
            A[:] = given
        elif isinstance(given, tuple) and r == 1:
            A[:, 0] = given
        else:
            shared = min(self.count, r)
            if isinstance(given, tuple) and any(given[shared:]):
                raise LearnabilityError(
                    f"`alignment` was given as {given!r}, but spikes beyond the {r} hidden "
                    "directions have none of the same number: give a matrix."
                )
            diagonal = np.broadcast_to(np.asarray(given, dtype=float), self.count)
            A[np.arange(shared), np.arange(shared)] = diagonal[:shared]
        if np.linalg.norm(A, 2) > 1 + 1e-12:
            raise LearnabilityError(
                f"`alignment` was given as {given!r}, but orthonormal spikes and hidden directions "
                "have a matrix of cosines whose singular values are at most 1."
            )
        return A

    def least_dimension(self, r: int) -> int:
        """Return the smallest dimension for r hidden directions."""
        return self.count + r + 1

    def frame(self, r: int, d: int) -> Frame:
        """Return the spikes, then the directions that complete the hidden ones."""
        return _frame(self, r, d)

    def directions(self, seed: int, r: int, d: int) -> Directions:
        """Return hidden directions drawn as for isotropic inputs, and the marked axes."""
        hidden = orthonormal_rows(stream(seed, 0), r, d)
        free = stream(seed, 5).standard_normal((self.count, d))
        free -= (free @ hidden.T) @ hidden
        q, upper = np.linalg.qr(free.T)
        outside = (q * np.sign(np.diag(upper))).T
        A = self.cosines(r, d)
        spikes = A @ hidden + _root(np.eye(self.count) - A @ A.T) @ outside
        rest = _root(np.eye(r) - A.T @ A) @ hidden - A.T @ outside
        return Directions(hidden, np.concatenate([spikes, rest]))


@lru_cache(maxsize=256)
def _frame(inputs: Spiked, r: int, d: int) -> Frame:
    A, strength = inputs.cosines(r, d), inputs.strengths(d)
    rest = _root(np.eye(r) - A.T @ A)
    scale = np.concatenate([np.sqrt(1 + strength), np.ones(r)])
    hidden = np.concatenate([A.T, rest], axis=1)
    values, vectors = np.linalg.eigh(np.eye(r) + (A.T * strength) @ A)
    whitening = (vectors / np.sqrt(values)) @ vectors.T
    return Frame(scale, whitening @ (hidden * scale), hidden, inputs.count)


def _root(matrix: Array) -> Array:
    """The symmetric root of a positive matrix; eigenvalues below zero by rounding count as 0."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _power(d: int, exponent: float) -> float:
    try:
        found: float = float(d) ** float(exponent)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise LearnabilityError(
            f"An exponent was given as {exponent!r}, but d to this power at d = {d} is not finite: "
            "give a smaller one."
        )
    return found
