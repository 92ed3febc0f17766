"""The replica potential of an overlap matrix, from the information of a label along a line.

The potential is

    phi(M) - phi(0) = (1/2) tr M + (1/2) log det(I - M) + alpha (Psi(M) - Psi(0)),

where Psi(M) is minus the entropy of a label given the estimate. Its gradient is I(M) / 2, so that
Psi(M) - Psi(0) = (1/2) int tr[I(t M) M] dt over t in (0, 1).

References
----------
Aubin, Maillard, Barbier, Krzakala, Macris, Zdeborova, NeurIPS 2018, equation (4); M_hat is taken
at its extremum M (I - M)^{-1}.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from learnability.errors import refuse
from learnability.gaussian.rules import legendre

__all__ = ["free_entropy"]

Array = NDArray[np.float64]

_NODES = 12


def free_entropy(information: Callable[[Array], Array], M: Array, alpha: float) -> float:
    """Return the free entropy per dimension of an overlap, minus that of zero overlap.

    Parameters
    ----------
    information : callable
        M -> I(M), shape (r, r).
    M : array, shape (r, r)
        The overlap, symmetric with eigenvalues in [0, 1).
    alpha : float
        Samples per dimension.

    Raises
    ------
    LearnabilityError
        When an eigenvalue is not in [0, 1).
    """
    values = np.linalg.eigvalsh(0.5 * (M + M.T))
    if not (np.isfinite(M).all() and values[0] >= -1e-9 and values[-1] < 1):
        raise refuse("M", M.tolist(), "an overlap with eigenvalues from 0 to below 1")
    s, weight = legendre(_NODES)
    s, weight = 0.5 * (1 + s), 0.5 * weight
    t, weight = 1 - (1 - s) ** 2, 2 * (1 - s) * weight  # More nodes near M, where I(t M) grows.
    told = np.array([float(np.sum(information(x * M) * M)) for x in t.tolist()])
    prior = 0.5 * float(np.trace(M) + np.log1p(-np.clip(values, 0.0, None)).sum())
    return prior + 0.5 * alpha * float(weight @ told)
