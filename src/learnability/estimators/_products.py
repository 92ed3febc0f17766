"""Products of Hermite polynomials of the fields, orthonormal under the Gaussian law.

They are ordered by total degree, so that those up to a lower degree come first: one evaluation
serves all channels of a step, whatever their degrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Products", "products"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Products:
    """Values of the products at some fields.

    Attributes
    ----------
    w : array, shape (n, r)
        The fields.
    values : array, shape (F, n)
        The products, the constant first.
    degree : int
        Largest total degree.
    """

    w: Array
    values: Array
    degree: int

    @property
    def degrees(self) -> Array:
        """Total degree of each product, shape (F,)."""
        return _table(self.w.shape[1], self.degree).degrees

    def up_to(self, degree: int) -> Products:
        """Return the products of a lower total degree, without a copy."""
        if degree == self.degree:
            return self
        count = len(_table(self.w.shape[1], degree).degrees)
        return Products(self.w, self.values[:count], degree)

    def take(self, rows: Any) -> Products:
        """Return the products at some of the fields."""
        return Products(self.w[rows], np.ascontiguousarray(self.values[:, rows]), self.degree)

    def slopes(self, tilt: Array) -> Array:
        """Return the gradient (n, r) of sum_f tilt_f phi_f for a tilt of shape (F,) or (F, n)."""
        r = self.w.shape[1]
        table = _table(r, self.degree)
        tilt = tilt[:, None] if tilt.ndim == 1 else tilt
        found = np.empty((self.values.shape[1], r))
        for a in range(r):
            has, parents, roots = table.derivatives[a]
            found[:, a] = roots @ (tilt[has] * self.values[parents])
        return found


def products(w: Array, degree: int) -> Products:
    """Evaluate the products up to a total degree.

    Parameters
    ----------
    w : array, shape (n, r)
        Fields of unit covariance.
    degree : int
        Largest total degree.

    Returns
    -------
    Products
    """
    n, r = w.shape
    one = np.ones((r, degree + 1, n))
    for a in range(r):
        x = np.ascontiguousarray(w[:, a])
        if degree:
            one[a, 1] = x
        for k in range(1, degree):  # h_{k+1} = (w h_k - sqrt(k) h_{k-1}) / sqrt(k+1)
            one[a, k + 1] = (x * one[a, k] - np.sqrt(k) * one[a, k - 1]) / np.sqrt(k + 1)
    table = _table(r, degree)
    values = np.empty((len(table.degrees), n))
    values[0] = 1.0
    for f, (field, power, rest) in enumerate(table.steps, start=1):
        np.multiply(one[field, power], values[rest], out=values[f])
    return Products(w, values, degree)


@dataclass(frozen=True)
class _Table:
    """Exponents of the products; product 0 is the constant.

    `steps` gives for each product the one from which it is built. `derivatives[a]` holds the
    products with powers of field a, those with one power less, and the square roots of the powers.
    """

    degrees: Array
    steps: tuple[tuple[int, int, int], ...]
    derivatives: tuple[tuple[NDArray[np.intp], NDArray[np.intp], Array], ...]


@cache
def _table(r: int, degree: int) -> _Table:
    powers = [(0,) * r]
    for total in range(1, degree + 1):
        for chosen in combinations_with_replacement(range(r), total):
            powers.append(tuple(chosen.count(a) for a in range(r)))
    place = {power: f for f, power in enumerate(powers)}
    steps = []
    for power in powers[1:]:
        first = next(a for a in range(r) if power[a])
        rest = place[(*power[:first], 0, *power[first + 1 :])]
        steps.append((first, power[first], rest))
    derivatives = []
    for a in range(r):
        has = np.array([f for f, power in enumerate(powers) if power[a]], dtype=np.intp)
        lower = [(*powers[f][:a], powers[f][a] - 1, *powers[f][a + 1 :]) for f in has]
        parents = np.array([place[power] for power in lower], dtype=np.intp)
        roots = np.sqrt(np.array([powers[f][a] for f in has], dtype=float))
        derivatives.append((has, parents, roots))
    degrees = np.array([sum(power) for power in powers], dtype=float)
    return _Table(degrees, tuple(steps), tuple(derivatives))
