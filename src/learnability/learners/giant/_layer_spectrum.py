"""Singular values of a first layer whose rows shared a batch: its bulk, its edge and its outlier.

Rows of W (p, d) are normal with the covariance Sigma / d given their batch (`_bulk`) and have a
common part s. With df(xi) = tr Sigma (Sigma + xi)^-1 / d and beta = p / d, an x above the spectrum
of Sigma corresponds to z = x (beta - df(-x)), the square of a singular value; the bulk ends where
dz / dx = 0. An eigenvalue x of Sigma + d s s^T at which dz / dx > 0 gives an outlier whose square
is z, and its right singular vector has the squared overlap x z' / z with the eigenvector.

On a small space (the target's coordinates and the noise of the spike) x is such an eigenvalue where
S(x) = -K(-x)^-1 - d s s^T is singular, S(x) n = 0. Then n is the part in that space of an
eigenvector whose squared length is n^T S'(x) n.

When the errors are not bounded, Sigma has no edge as d grows: the largest errors of the batch
decide, so that batches of the requested size are drawn.

References
----------
Bai, Yao, J. Multivar. Anal. 106 (2012), section 4; Benaych-Georges, Nadakuditi, J. Multivar. Anal.
111 (2012), theorem 2.10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.learners.giant._bulk import Batch
from learnability.learners.giant._outlier import Outlier

__all__ = ["LayerOutlier", "batch_eigenvalues", "layer_density", "layer_outlier", "resolutions"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_RATIO, _HALVINGS, _STEPS = 0.8, 22, 12
WIDTHS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
"""Imaginary parts, over the real ones, on the path towards the real axis."""


class LayerOutlier(NamedTuple):
    """The outlier, and the squared projection of its right vector on the hidden directions."""

    outlier: Outlier
    alignment: float


class _Place(NamedTuple):
    """One x: z and its slope, the least eigenvalue of S with its vector, S', and m."""

    x: float
    square: float
    slope: float
    least: float
    vector: Array
    curve: Array
    m: Array


class _Path:
    """Places from large x down to the edge of the bulk."""

    def __init__(self, batch: Batch, spike: Array, beta: float) -> None:
        self.batch, self.spike, self.beta = batch, spike, beta
        largest = float(np.abs(batch.e).max())
        x = 4 * (batch.square + (1 + batch.noise) * largest**2 + float(np.trace(spike)))
        while not (self.at(x, _far(x)).slope > 0 and self.at(x, _far(x)).least > 0):
            x *= 4
        places = [self.at(x, _far(x))]
        while (below := self.at(_RATIO * places[-1].x, places[-1].m)).slope > 0:
            places.append(below)
        self.edge = self._last(places[-1], _RATIO, lambda place: place.slope > 0)
        self.places = [*places, self.edge]

    def at(self, x: float, near: Array) -> _Place:
        """Return the place of x; its slope is NaN inside the spectrum of Sigma."""
        inside = _Place(x, math.nan, math.nan, math.nan, near[0], near, near)
        try:
            with np.errstate(all="ignore"):
                found, m = self.batch.forms(-x, near)
                inverse = np.linalg.inv(found.matrix)
                values, vectors = np.linalg.eigh(-inverse - self.spike)
        except np.linalg.LinAlgError:
            return inside
        # Beyond the spectrum the trace is below zero.
        if not (np.isfinite(m).all() and found.trace < 0 and self.batch.beyond(m)):
            return inside
        curve = -inverse @ found.matrix_slope @ inverse
        share = self.beta - found.trace
        slope = share + x * found.trace_slope
        return _Place(x, x * share, slope, values[0], vectors[:, 0], curve, m)

    def outlier(self) -> _Place | None:
        """Return the largest x at which S is singular."""
        for above, below in zip(self.places[:-1], self.places[1:], strict=True):
            if below.least <= 0:
                return self._last(above, below.x / above.x, lambda place: place.least > 0)
        return None

    def _last(self, above: _Place, ratio: float, keeps: Callable[[_Place], bool]) -> _Place:
        """Return the last place below `above`, down to ratio times its x, that has a property."""
        low, x = ratio * above.x, above.x
        for _ in range(_HALVINGS):
            middle = self.at(0.5 * (low + x), above.m)
            if keeps(middle):
                above, x = middle, middle.x
            else:
                low = middle.x
        return above


def layer_outlier(batch: Batch, common: Array, beta: float, d: int) -> LayerOutlier:
    """Return the end of the bulk, and the largest singular value beyond it.

    Parameters
    ----------
    batch : Batch
        The samples of the step, equally weighted.
    common : array, shape (r + 1,)
        The common part of all rows, on the coordinates of the target and along the noise.
    beta : float
        Rows over columns.
    d : int
        Dimension.
    """
    path = _Path(batch, d * np.outer(common, common), beta)
    edge = math.sqrt(path.edge.square)
    found = path.outlier()
    if found is None:
        return LayerOutlier(Outlier(edge, edge, 0.0, 0.0), 0.0)
    n, x, z = found.vector, found.x, found.square
    share = x * found.slope / z / float(n @ found.curve @ n)
    length = float(common @ common)
    right = share * float(n @ common) ** 2 / max(length, 1e-300)
    left = right * d * length * z / (beta * x**2)
    return LayerOutlier(Outlier(math.sqrt(z), edge, left, right), share * float(n[:-1] @ n[:-1]))


def _far(x: float) -> Array:
    """Return the m of a large x."""
    return np.diag([1 / (1 - x), -1.0])


def batch_eigenvalues(batch: Batch, d: int, rng: np.random.Generator) -> Array:
    """Return eigenvalues (d,) of Sigma for one draw of the inputs in dimension d.

    Parameters
    ----------
    batch : Batch
        The law of the samples; n_0 = size d of them are drawn.
    d : int
        Dimension.
    rng : numpy.random.Generator
        The source of the draw.
    """
    n = max(round(batch.size * d), 1)
    chosen = rng.choice(len(batch.e), n, p=batch.weights / batch.weights.sum())
    X, e = rng.standard_normal((n, d)), batch.e[chosen]
    X[:, : batch.z.shape[1]] = batch.z[chosen]
    moved = np.eye(d) + batch.pull * (X.T * e) @ X / n
    return np.asarray(
        np.linalg.eigvalsh(moved @ moved + batch.noise * (X.T * e**2) @ X / n), dtype=float
    )


def resolutions(rows: Array, share: Complex, beta: float, xi: Complex) -> Complex:
    """Return the xi at which xi (beta - df(xi)) = share, by Newton's method from near ones.

    Parameters
    ----------
    rows : array, shape (k,)
        Eigenvalues of Sigma.
    share, xi : array, shape (m,)
        The right sides of the equation, and where to start.
    beta : float
        Rows over columns.
    """
    for _ in range(_STEPS):
        parts = 1 / (rows + xi[:, None])
        trace = (rows * parts).mean(axis=1)
        slope = -(rows * parts**2).mean(axis=1)
        step = (xi * (beta - trace) - share) / (beta - trace - xi * slope)
        xi = xi - step
        if not np.any(np.abs(step) > 1e-12 * np.abs(xi)):
            break
    return xi


def layer_density(rows: Array, beta: float, s: Array) -> Array:
    """Return the density of the min(p, d) singular values, without outliers.

    Parameters
    ----------
    rows : array, shape (k,)
        Eigenvalues of Sigma.
    beta : float
        Rows over columns.
    s : array, shape (m,)
        Singular values above zero; details finer than a thousandth are smoothed.
    """
    xi: Complex = np.asarray(-(s**2) * (1 + 1j * WIDTHS[0]) / beta, dtype=complex)
    for width in (*WIDTHS, 0.003, 0.001):
        z: Complex = np.asarray(s**2 * (1 + 1j * width), dtype=complex)
        xi = resolutions(rows, -z, beta, xi)
    if beta <= 1:
        return np.asarray(2 * s * np.maximum((1 / (beta * xi)).imag, 0.0) / np.pi)
    trace = (rows / (rows + xi[:, None])).mean(axis=1)
    return np.asarray(2 * s * np.maximum((-(1 - trace) / z).imag, 0.0) / np.pi)
