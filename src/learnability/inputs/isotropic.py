"""Standard normal inputs x ~ N(0, I_d).

They are the case of marked axes in which every axis has scale 1: the hidden coordinates are the
projections W* x themselves.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from learnability.fields import record
from learnability.inputs.base import Directions, Frame, MarkedInputs, orthonormal_rows
from learnability.randomness import stream

__all__ = ["Isotropic"]


@record
class Isotropic(MarkedInputs):
    """Standard normal inputs: all directions are alike, and the hidden ones are the marked axes.

    Examples
    --------
    >>> Isotropic().frame(2, 100).scale
    array([1., 1.])
    """

    kind: ClassVar[str] = "isotropic"

    def frame(self, r: int, d: int) -> Frame:
        """Return the hidden directions themselves."""
        return Frame(np.ones(r), np.eye(r), np.eye(r), 0)

    def least_dimension(self, r: int) -> int:
        """Return the smallest dimension for r hidden directions."""
        return r

    def directions(self, seed: int, r: int, d: int) -> Directions:
        """Return uniformly random hidden directions of a seed."""
        hidden = orthonormal_rows(stream(seed, 0), r, d)
        return Directions(hidden, hidden)
