"""The law of the rows of the first layer, apart from the spike that they share.

Rows are independent with a covariance Sigma / d. A ridge regression on p = beta d of them depends
on Sigma only through, at one xi > 0,

    df(xi) = tr Sigma (Sigma + xi)^-1 / d   and   K(xi) = B^T (Sigma + xi)^-1 B,

with B the spike and the directions of the target. Two laws are known. Rows with independent
entries have Sigma = c^2 I. After a step they share the samples (x_i, e_i) of its batch, where e_i
is the error before the step, and are normal given the batch with

    Sigma = (I + a S_1)^2 + b S_2,   S_k = sum_i e_i^k x_i x_i^T / n_0.

(Sigma + xi)^-1 is the first block of the inverse of Z (x) I + sum_i D_i (x) x_i x_i^T / n_0, with
Z = diag(1 + xi, -1) and D = (2 a e + b e^2, a e; a e, 0). The normalised trace m (2, 2) of that
inverse solves m^-1 = Z + E[D~], D~ = D (I + m D / alpha_0)^-1. On the coordinates z of the target,
and on the unit vector along sum_i e_i x_i orthogonal to them, the inverse is

    on z: Psi = (Z (x) I + E[D~ (x) z z^T])^-1,
    between the two: -Psi q,   q = E[e D~ m_1 (x) z] / sqrt(alpha_0 E[e^2]),
    on the noise: m_11 - m_1^T E[e^2 D~] m_1 / (alpha_0 E[e^2]) + q^T Psi q,

with m_1 the first column of m.

References
----------
Silverstein and Bai, J. Multivariate Anal. 54 (1995), for m without a; the rest follows in the same
way, by leaving one sample out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

__all__ = ["Batch", "BatchRows", "Bulk", "Forms", "IndependentRows"]

Array = NDArray[np.float64]

_STEPS = 60
_SETTLED = 1e-6
"""Relative change of m in the last step above which Newton's method has found nothing."""
_FAR = 1e30
_RANGE = (1e-6, 1e6)
"""Range of xi, over the scale of Sigma, in the table."""
_POINTS = 481


class Forms(NamedTuple):
    """df and K at one xi, and their derivatives in it.

    Attributes
    ----------
    trace, trace_slope : float
        df and its derivative.
    matrix, matrix_slope : array, shape (m, m)
        K and its derivative, on the spike and the target's directions orthogonal to it.
    """

    trace: float
    trace_slope: float
    matrix: Array
    matrix_slope: Array


class Bulk(Protocol):
    """A law of rows."""

    def resolution(self, share: float, beta: float) -> float:
        """Return the xi at which xi (beta - df(xi)) = share."""

    def forms(self, xi: float) -> Forms:
        """Return what a regression sees of the rows."""


@dataclass(frozen=True)
class IndependentRows:
    """Rows with independent entries, of squared length `square`; `size` directions are followed."""

    square: float
    size: int

    def resolution(self, share: float, beta: float) -> float:
        """Return the positive root of beta xi^2 + b xi - share c^2."""
        b = (beta - 1) * self.square - share
        root = math.sqrt(b * b + 4 * beta * share * self.square)
        return (root - b) / (2 * beta) if b <= 0 else 2 * share * self.square / (root + b)

    def forms(self, xi: float) -> Forms:
        """Return what a regression sees of the rows."""
        each = 1 / (self.square + xi)
        eye = np.eye(self.size)
        return Forms(self.square * each, -self.square * each**2, each * eye, -(each**2) * eye)


@dataclass(frozen=True, eq=False)
class Batch:
    """The samples of a step, on which the rows after it depend.

    Parameters
    ----------
    z : array, shape (k, r)
        Nodes of the coordinates of the target, the first of them along its linear part.
    e : array, shape (k,)
        Error at each node before the step.
    weights : array, shape (k,)
        The weights of the nodes.
    size : float
        alpha_0, samples over dimension.
    pull, noise : float
        a and b.
    """

    z: Array
    e: Array
    weights: Array
    size: float
    pull: float
    noise: float

    @cached_property
    def power(self) -> float:
        """E[e^2]."""
        return float(self.weights @ self.e**2)

    @cached_property
    def square(self) -> float:
        """Squared length of the rows, tr Sigma / d."""
        mean = float(self.weights @ self.e)
        own = (1 + self.pull * mean) ** 2 + self.pull**2 * self.power / self.size
        return own + self.noise * self.power

    @cached_property
    def _entries(self) -> tuple[Array, Array]:
        """The entries D_11 and D_12 = D_21 at the nodes; D_22 is zero."""
        return 2 * self.pull * self.e + self.noise * self.e**2, self.pull * self.e

    @cached_property
    def table(self) -> tuple[Array, Array]:
        """A grid of log xi, and m on it, found from large xi to small."""
        grid = np.geomspace(*_RANGE, _POINTS)
        found = [np.diag([1 / (1 + grid[-1]), -1.0])]
        for xi in grid[::-1]:
            found.append(self.resolvent(xi, found[-1])[0])
        return np.log(grid), np.array(found[:0:-1])

    @cached_property
    def traces(self) -> CubicSpline:
        """df as a function of log xi."""
        from scipy.interpolate import CubicSpline

        at, m = self.table
        return CubicSpline(at, 1 - np.exp(at) * m[:, 0, 0])

    def resolvent(self, xi: float, m: Array) -> tuple[Array, Array, Array]:
        """Return m, its derivative in xi, and D~ at the nodes, by Newton's method from a near m.

        Where there is none, m is NaN.
        """
        Z = np.diag([1 + xi, -1.0])
        for _ in range(_STEPS):
            seen = self._seen(m)
            inverse = np.linalg.inv(m)
            flat = seen.reshape(-1, 4)
            pairs = ((flat.T * self.weights) @ flat).reshape(2, 2, 2, 2).transpose(0, 3, 1, 2)
            slope = np.kron(inverse, inverse) - pairs.reshape(4, 4) / self.size
            gap = Z + (self.weights @ flat).reshape(2, 2) - inverse
            step = np.linalg.solve(slope, gap.ravel()).reshape(2, 2)
            m = m - step
            moved, size = np.abs(step).max(), np.abs(m).max()
            if moved <= 1e-14 * size or not size < _FAR:
                break
        if not moved <= _SETTLED * size < _FAR:
            m = np.full((2, 2), math.nan)
        slope_in_xi = -np.linalg.solve(slope, np.array([1.0, 0.0, 0.0, 0.0]))
        return m, np.asarray(slope_in_xi, dtype=float).reshape(2, 2), np.asarray(seen, dtype=float)

    def _determinant(self, m: Array) -> Array:
        """Return det(I + D m / alpha_0) at the nodes."""
        own, cross = self._entries
        trace = own * m[0, 0] + cross * (m[0, 1] + m[1, 0])
        square = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
        return np.asarray(1 + trace / self.size - cross**2 * (square / self.size**2))

    def _seen(self, m: Array) -> Array:
        """Return D~ at the nodes: adj(I + D m / alpha_0) D = D + det(D) adj(m) / alpha_0."""
        own, cross = self._entries
        square = cross**2 / self.size
        found = np.empty((len(own), 2, 2))
        found[:, 0, 0] = own - square * m[1, 1]
        found[:, 0, 1] = cross + square * m[0, 1]
        found[:, 1, 0] = cross + square * m[1, 0]
        found[:, 1, 1] = -square * m[0, 0]
        return found / self._determinant(m)[:, None, None]

    def beyond(self, m: Array) -> bool:
        """Return whether m is that of a -xi above all eigenvalues, also outliers of one sample."""
        return bool((self._determinant(m) > 0).all())

    def forms(self, xi: float, start: Array) -> tuple[Forms, Array]:
        """Return df and K on the target's coordinates and the noise, and m, from a near m.

        Parameters
        ----------
        xi : float
            A number above zero, or below minus the largest eigenvalue of Sigma.
        start : array, shape (2, 2)
            m at a near xi.
        """
        z, e, weights = self.z, self.e, self.weights
        r, share = z.shape[1], self.size * self.power
        m, m_slope, seen = self.resolvent(xi, start)
        bend = -seen @ m_slope @ seen / self.size  # The derivative of D~.

        def on_target(values: Array) -> Array:
            found = np.einsum("k,kab,ki,kj->aibj", weights, values, z, z, optimize=True)
            return np.asarray(found).reshape(2 * r, 2 * r)

        def between(values: Array) -> Array:
            return np.asarray(np.einsum("k,ka,ki->ai", weights * e, values, z)).ravel()

        def on_noise(values: Array) -> Array:
            return np.tensordot(weights * e**2, values, 1) / share

        m1, m1_slope = m[:, 0], m_slope[:, 0]
        eye = np.eye(r)
        whole = np.kron(np.diag([1 + xi, -1.0]), eye) + on_target(seen)
        psi = np.asarray(np.linalg.inv(whole), dtype=float)
        psi_slope = -psi @ (np.kron(np.diag([1.0, 0.0]), eye) + on_target(bend)) @ psi
        q = between(seen @ m1) / math.sqrt(share)
        q_slope = between(seen @ m1_slope + bend @ m1) / math.sqrt(share)
        load = on_noise(seen)
        noise = m[0, 0] - m1 @ load @ m1 + q @ psi @ q
        noise_slope = m_slope[0, 0] - 2 * m1_slope @ load @ m1 - m1 @ on_noise(bend) @ m1
        noise_slope += 2 * q_slope @ psi @ q + q @ psi_slope @ q
        matrix = _bordered(psi[:r, :r], -(psi @ q)[:r], noise)
        slope = _bordered(psi_slope[:r, :r], -(psi_slope @ q + psi @ q_slope)[:r], noise_slope)
        trace, trace_slope = 1 - xi * float(m[0, 0]), -float(m[0, 0] + xi * m_slope[0, 0])
        return Forms(trace, trace_slope, matrix, slope), m


@dataclass(frozen=True, eq=False)
class BatchRows:
    """Rows after a step.

    Parameters
    ----------
    batch : Batch
        The samples of the step.
    alignment : float
        Cosine of the spike with the linear part of the target.
    square : float
        Squared length of the rows, to which Sigma is scaled.
    """

    batch: Batch
    alignment: float
    square: float

    @property
    def _scale(self) -> float:
        return self.square / self.batch.square

    def _place(self, xi: float) -> float:
        return math.log(min(max(xi / self._scale, _RANGE[0]), _RANGE[1]))

    def resolution(self, share: float, beta: float) -> float:
        """Return the root by Newton's method on a convex function, from the right; df is tabled."""
        xi, traces = IndependentRows(self.square, 1).resolution(share, beta), self.batch.traces
        for _ in range(_STEPS):
            at = self._place(xi)
            trace, slope = float(traces(at)), float(traces(at, 1)) / xi
            step = (xi * (beta - trace) - share) / (beta - trace - xi * slope)
            xi = max(xi - step, 0.1 * xi)
            if abs(step) <= 1e-13 * xi:
                break
        return xi

    def forms(self, xi: float) -> Forms:
        """Return what a regression sees of the rows."""
        at, known = self.batch.table
        near = int(np.searchsorted(at, self._place(xi)).clip(0, len(at) - 1))
        xi /= self._scale
        # Far beyond the table, where neurons have no linear part, m has its form of large xi.
        start = np.diag([1 / (1 + xi), -1.0]) if xi > _RANGE[1] else known[near]
        found, turn = self.batch.forms(xi, start)[0], self._frame()
        return Forms(
            found.trace,
            found.trace_slope / self._scale,
            turn @ found.matrix @ turn.T / self._scale,
            turn @ found.matrix_slope @ turn.T / self._scale**2,
        )

    def _frame(self) -> Array:
        """Rows: the spike, the linear part orthogonal to it, the other coordinates."""
        r = self.batch.z.shape[1]
        cosine, sine = self.alignment, math.sqrt(1 - self.alignment**2)
        frame = np.zeros((r + 1, r + 1))
        frame[0, 0], frame[0, r] = cosine, math.copysign(sine, cosine)
        frame[1, 0], frame[1, r] = sine, -abs(cosine)
        frame[2:, 1:r] = np.eye(r - 1)
        return frame


def _bordered(block: Array, column: Array, corner: Any) -> Array:
    return np.block([[block, column[:, None]], [column[None], np.array([[corner]])]])
