"""Functions that links make of other links; frozen, so that they compare, hash and pickle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnability.expressions.calculus import evaluate
from learnability.expressions.tree import Tree

__all__ = ["CentralDifference", "Rotated", "TreeFunction", "namespace"]


def namespace(z: Any) -> Any:
    """``jax.numpy`` for JAX arrays and tracers, else ``numpy``; never loads JAX by itself."""
    if type(z).__module__.startswith("jax"):
        import jax.numpy as jnp

        return jnp
    return np


@dataclass(frozen=True)
class TreeFunction:
    """A tree as a function of an (..., r) array, for trees too large to be written as text."""

    tree: Tree

    def __call__(self, z: Any) -> Any:
        """Return values (...) at points (..., r)."""
        xp = namespace(z)
        return xp.broadcast_to(evaluate(self.tree, z, xp), z.shape[:-1])


@dataclass(frozen=True)
class CentralDifference:
    """(g(z + h e_i) - g(z - h e_i)) / 2h with h of the size of the cube root of the precision."""

    function: Callable[[Any], Any]
    index: int

    def __call__(self, z: Any) -> Any:
        """Return values (...) at points (..., r)."""
        xp = namespace(z)
        # The cube root balances the rounding of the difference against its cubic remainder.
        relative = float(xp.finfo(z.dtype).eps) ** (1 / 3)
        h = relative * xp.maximum(1.0, xp.abs(z[..., self.index]))
        shift = h[..., None] * xp.eye(z.shape[-1], dtype=z.dtype)[self.index]
        return (self.function(z + shift) - self.function(z - shift)) / (2 * h)


@dataclass(frozen=True)
class Rotated:
    """z -> g(Q z); `rows` are the rows of Q."""

    function: Callable[[Any], Any]
    rows: tuple[tuple[float, ...], ...]

    def __call__(self, z: Any) -> Any:
        """Return values (...) at points (..., r)."""
        matrix = np.array(self.rows, dtype=z.dtype)
        return self.function(z @ matrix.T)


@dataclass(frozen=True)
class Composed:
    """z -> outer(inner(z)), outer of one variable."""

    outer: Callable[[Any], Any]
    inner: Callable[[Any], Any]

    def __call__(self, z: Any) -> Any:
        """Return values (...) at points (..., r)."""
        return self.outer(self.inner(z)[..., None])
