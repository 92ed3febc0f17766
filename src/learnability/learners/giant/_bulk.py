"""The law of the rows of the first layer, beyond the spike that they share.

Rows are independent with a covariance Sigma / d. All that a ridge regression on p = beta d of them
sees of Sigma is, at one xi > 0,

    df(xi) = tr Sigma (Sigma + xi)^-1 / d   and   K(xi) = B^T (Sigma + xi)^-1 B,

with B the spike and the directions of the target. Two laws are known. Rows with independent
entries have Sigma = c^2 I. After a step they share the samples (x_i, e_i) of its batch, e the error
before the step: row j has the noise sum_i (sigma'(w_j . x_i) - E sigma') e_i x_i, and

    Sigma = I + tau S,   S = sum_i e_i^2 x_i x_i^T / n_0,   tau E[e^2] = c^2 - 1.

With m = tr (S + omega)^-1 / d, the root of m (omega + E[e^2 h]) = 1, h = 1 / (1 + e^2 m / alpha_0),
the forms are, on the coordinates z of the target and on the direction of the noise of the spike,
sum_i e_i x_i orthogonal to them,

    (S + omega)^-1 on z = Psi = (omega + E[e^2 h z z^T])^-1,
    between the two = -Psi q,   q = E[e^3 h z] m / sqrt(alpha_0 E[e^2]),
    on the noise = m E[e^2 h] / E[e^2] + q^T Psi q.

References
----------
Silverstein and Bai, J. Multivariate Anal. 54 (1995), for m; the rest is its usual consequence by
leaving one sample out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["BatchRows", "Bulk", "Forms", "IndependentRows"]

Array = NDArray[np.float64]

_STEPS = 60


class Forms(NamedTuple):
    """df and K at one xi, and their derivatives in it.

    Attributes
    ----------
    trace, trace_slope : float
        df.
    matrix, matrix_slope : array, shape (m, m)
        K, on the spike and the directions of the target that are orthogonal to it.
    """

    trace: float
    trace_slope: float
    matrix: Array
    matrix_slope: Array


class Bulk(Protocol):
    """A law of rows."""

    def resolution(self, share: float, beta: float) -> float:
        """The xi at which xi (beta - df(xi)) = share."""

    def forms(self, xi: float) -> Forms:
        """What a regression sees of the rows."""


@dataclass(frozen=True)
class IndependentRows:
    """Rows with independent entries, of squared length `square`; `size` directions are followed."""

    square: float
    size: int

    def resolution(self, share: float, beta: float) -> float:
        """The positive root of beta xi^2 + b xi - share c^2."""
        b = (beta - 1) * self.square - share
        root = math.sqrt(b * b + 4 * beta * share * self.square)
        return (root - b) / (2 * beta) if b <= 0 else 2 * share * self.square / (root + b)

    def forms(self, xi: float) -> Forms:
        """What a regression sees of the rows."""
        each = 1 / (self.square + xi)
        eye = np.eye(self.size)
        return Forms(self.square * each, -self.square * each**2, each * eye, -(each**2) * eye)


@dataclass(frozen=True, eq=False)
class BatchRows:
    """Rows after a step.

    Parameters
    ----------
    z : array, shape (k, r)
        Nodes of the coordinates of the target, the first of them along its linear part.
    e : array, shape (k,)
        Error at each before the step.
    weights : array, shape (k,)
        Of the nodes.
    batch : float
        Samples of the step over dimension.
    square : float
        Squared length of the rows, at least 1.
    alignment : float
        Cosine of the spike with the linear part of the target.
    """

    z: Array
    e: Array
    weights: Array
    batch: float
    square: float
    alignment: float

    @property
    def _power(self) -> float:
        return float(self.weights @ self.e**2)

    @property
    def _strength(self) -> float:
        return max(self.square - 1, 1e-9) / self._power

    def resolution(self, share: float, beta: float) -> float:
        """By Newton's method on a convex function, from the right."""
        xi = IndependentRows(self.square, 1).resolution(share, beta)
        for _ in range(_STEPS):
            found = self._trace(xi)
            gap = xi * (beta - found[0]) - share
            step = gap / (beta - found[0] - xi * found[1])
            xi -= step
            if abs(step) <= 1e-14 * xi:
                break
        return xi

    def _resolvent(self, omega: float) -> tuple[float, float, Array]:
        """m, its derivative in omega, and h at the nodes; Newton's method from the left."""
        e2 = self.e**2
        m = 1 / (omega + self._power)
        for _ in range(_STEPS):
            h = 1 / (1 + e2 * (m / self.batch))
            part, bend = float(self.weights @ (e2 * h)), float(self.weights @ (e2 * h * h))
            step = (1 - m * (omega + part)) / (omega + bend)
            m += step
            if abs(step) <= 1e-14 * m:
                break
        return m, -m / (omega + bend), h

    def _trace(self, xi: float) -> tuple[float, float]:
        tau = self._strength
        m, slope, _ = self._resolvent((1 + xi) / tau)
        return 1 - xi * m / tau, -(m + xi * slope / tau) / tau

    def forms(self, xi: float) -> Forms:
        """What a regression sees of the rows."""
        tau = self._strength
        omega = (1 + xi) / tau
        m, slope, h = self._resolvent(omega)
        bend = -(self.e**2) * h * h * (slope / self.batch)  # The derivative of h.
        size = 1 / math.sqrt(self.batch * self._power)

        def blocks(values: Array, m: float) -> tuple[Array, Array, float]:
            weighted = self.weights * self.e**2 * values
            on_target = (self.z.T * weighted) @ self.z
            between = ((weighted * self.e) @ self.z) * (m * size)
            return on_target, between, m * float(weighted.sum()) / self._power

        on_target, q, noise = blocks(h, m)
        target_slope, q_bend, noise_bend = blocks(bend, m)
        _, q_scale, noise_scale = blocks(h, slope)
        q_slope, noise_slope = q_bend + q_scale, noise_bend + noise_scale
        eye = np.eye(len(q))
        psi: Array = np.asarray(np.linalg.inv(omega * eye + on_target), dtype=float)
        psi_slope = -psi @ (eye + target_slope) @ psi
        matrix = _bordered(psi, -psi @ q, noise + float(q @ psi @ q))
        matrix_slope = _bordered(
            psi_slope,
            -psi_slope @ q - psi @ q_slope,
            noise_slope + float(2 * q_slope @ psi @ q + q @ psi_slope @ q),
        )
        turn = self._frame()
        return Forms(
            *self._trace(xi),
            turn @ matrix @ turn.T / tau,
            turn @ matrix_slope @ turn.T / tau**2,
        )

    def _frame(self) -> Array:
        """Rows: the spike, what of the linear part is orthogonal to it, the other coordinates."""
        r = self.z.shape[1]
        cosine, sine = self.alignment, math.sqrt(1 - self.alignment**2)
        frame = np.zeros((r + 1, r + 1))
        frame[0, 0], frame[0, r] = cosine, math.copysign(sine, cosine)
        frame[1, 0], frame[1, r] = sine, -abs(cosine)
        frame[2:, 1:r] = np.eye(r - 1)
        return frame


def _bordered(block: Array, column: Array, corner: float) -> Array:
    return np.block([[block, column[:, None]], [column[None], np.array([[corner]])]])
