"""What a refit of f on its best fit q of a degree leaves, E Var(f | q), from samples.

It is half the mean square of differences of f between neighbours in q, over 200 000 samples of a
fixed seed.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.targets._composition import Composition

__all__ = ["drawn_variables", "refit_floor"]

Array = NDArray[np.float64]

_SAMPLES = 200_000
_ROWS = 20_000


def drawn_variables(
    composition: Composition, n: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return directions (n, r, N) and the features (n, r) over them.

    Parameters
    ----------
    composition : Composition
        The composition of a target of depth 3.
    n : int
        Number of samples.
    rng : numpy Generator
        The generator of the variables.
    """
    z = rng.standard_normal((n, composition.link.r, composition.N))
    a = np.concatenate([np.ones(composition.plus), -np.ones(composition.minus)])
    values = np.asarray(composition.polynomial(z[..., None]), dtype=float)
    return z, values @ a * (composition.scale / math.sqrt(composition.N))


@lru_cache(maxsize=32)
def refit_floor(composition: Composition, degree: int) -> float:
    """Return E Var(f | q), q the best fit of a degree.

    Parameters
    ----------
    composition : Composition
        The composition of a target of depth 3.
    degree : int
        The degree of the fit.
    """
    rng = np.random.default_rng(1729)
    f, q = [], []
    rows = max(min(_ROWS, 4_000_000 // (composition.link.r * composition.N)), 100)
    for _ in range(_SAMPLES // rows):
        z, h = drawn_variables(composition, rows, rng)
        f.append(np.asarray(composition.link(h), dtype=float))
        q.append(sum(composition.project(z, degree)))
    order = np.argsort(np.concatenate(q), kind="stable")
    return 0.5 * float(np.mean(np.diff(np.concatenate(f)[order]) ** 2))
