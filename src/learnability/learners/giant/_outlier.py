"""Singular values of a matrix with one spike: the transition of Baik, Ben Arous and Peche.

For W (p, d) with independent entries of variance 1 / d, beta = p / d, and unit vectors u, v, the
matrix W + t u v^T has a singular value outside the bulk [|1 - sqrt(beta)|, 1 + sqrt(beta)] iff
t > beta^(1/4): s^2 = (1 + t^2) (beta + t^2) / t^2. Its singular vectors have squared overlaps
1 - beta (1 + t^2) / (t^2 (t^2 + beta)) with u and 1 - (beta + t^2) / (t^2 (t^2 + 1)) with v.

References
----------
Benaych-Georges, Nadakuditi, J. Multivar. Anal. 111 (2012), section 3.1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["Outlier", "outlier"]


class Outlier(NamedTuple):
    """The largest singular value of a spiked matrix.

    Attributes
    ----------
    value : float
        The outlier; the edge of the bulk where there is none.
    edge : float
        End of the bulk.
    left, right : float
        Squared overlaps of its vectors with u and v; zero where there is none.
    """

    value: float
    edge: float
    left: float
    right: float


def outlier(strength: float, beta: float) -> Outlier:
    """Return the outlier of a spike of strength t on rows of unit length.

    Parameters
    ----------
    strength : float
        The spike t, at least zero.
    beta : float
        Rows over columns.
    """
    edge, t2 = 1 + math.sqrt(beta), strength**2
    if t2 <= math.sqrt(beta):
        return Outlier(edge, edge, 0.0, 0.0)
    return Outlier(
        math.sqrt((1 + t2) * (beta + t2) / t2),
        edge,
        1 - beta * (1 + t2) / (t2 * (t2 + beta)),
        1 - (beta + t2) / (t2 * (t2 + 1)),
    )
