"""What an integral needs to know about its integrand."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from learnability.expressions.structure import Symmetry
from learnability.expressions.tree import Tree

__all__ = ["REACH", "Function"]

REACH = 9.5
"""Integrals run over [-REACH, REACH] in each coordinate; the mass outside is 2e-21."""


class Function(Hashable, Protocol):
    """A function g: R^r -> R that says where it breaks and what leaves it unchanged."""

    @property
    def r(self) -> int:
        """Number of variables."""
        ...

    @property
    def tree(self) -> Tree | None:
        """The expression tree; None when only values are known."""
        ...

    @property
    def breaks(self) -> Sequence[Function] | None:
        """Functions whose zero sets hold every jump and kink; None when not known."""
        ...

    @property
    def symmetries(self) -> Sequence[Symmetry]:
        """Signed permutations of the variables under which |g| does not change."""
        ...

    @property
    def law(self) -> object | None:
        """The law of a random label, of which g is the mean; None when the label is g itself."""
        ...

    def __call__(self, z: Any) -> Any:
        """Return values (...) at points (..., r)."""
        ...

    def gradient(self) -> Sequence[Function]:
        """Return the r partial derivatives."""
        ...
