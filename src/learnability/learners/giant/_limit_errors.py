"""Exact errors of ridge regression on features with one spike: w_j = c w~_j + r v.

Given kappa = v . x, the features are equivalent to Gaussian ones,

    sigma(w_j . x) ~ mu0(kappa) + mu1(kappa) (kappa w~_j . v + w~_j . x_perp) + mu2(kappa) xi_j,

with mu0 = E sigma(c z + r kappa), mu1 = E[z sigma(c z + r kappa)] / c, mu2^2 the rest of E sigma^2
(here w~_j has length c). The readout then depends on a few numbers: two of them, Vhat_1 and Vhat_2,
solve a fixed point, and the others linear equations, all of which are averages over kappa of
moments of the label given kappa. With V = mu1^2 V_1 + mu2^2 V_2 and C(kappa) the squared error at
kappa, the test error is E[C] and the training error E[C / (1 + V)^2].

The readout learns functions of kappa through three collective modes: mu0 times m = 1 . a / sqrt(p),
which the ridge does not penalise; mu1 kappa times zeta, the sum of (w~_j . v) a_j, of strength
c^2 / d; and d mu0 / d c^2 times the sum of (|w~_j|^2 - c^2) a_j, of strength spread c^4 / d. The
references assume rows of one length, spread = 0. Independent normal entries have spread = 2, which
changes the error by a few percent for relu, by less than 1e-4 of it for tanh, and not at all for
odd activations without a spike.

The law of the rows apart from the spike is an argument.

References
----------
Cui, Pesce, Dandi, Krzakala, Lu, Zdeborova, Loureiro, arXiv:2402.04980; Dandi, Pesce, Cui, Krzakala,
Lu, Loureiro, arXiv:2410.18938 (spiked random features).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.learners.giant._bulk import Bulk
from learnability.learners.giant._layer_spectrum import WIDTHS, resolutions

__all__ = ["Errors", "Features", "Labels", "covariance_density", "errors"]

Array = NDArray[np.float64]

_TOLERANCE = 1e-12
_ITERATIONS = 20_000
_SETTLED = 1e-4
"""Relative change in the last step of a settled density, which is smoothed by a percent."""


class Features(NamedTuple):
    """The features given kappa, at quadrature nodes.

    Attributes
    ----------
    kappa, weights : array, shape (k,)
        Nodes and weights of the standard normal law.
    mean, linear, rest : array, shape (k,)
        mu0, mu1 and mu2^2.
    stretch : array, shape (k,)
        The derivative of mu0 in c^2.
    bulk : float
        The length c of the rows.
    spread : float
        d times the variance of their squared length, over c^4.
    """

    kappa: Array
    weights: Array
    mean: Array
    linear: Array
    rest: Array
    stretch: Array
    bulk: float
    spread: float


class Labels(NamedTuple):
    """Moments of the label given kappa, at the same nodes.

    Attributes
    ----------
    mean, square : array, shape (k,)
        E[y | kappa] and E[y^2 | kappa], noise included.
    linear : array, shape (m, k)
        E[s y | kappa] for the directions s of the target that are orthogonal to v.
    """

    mean: Array
    square: Array
    linear: Array


class Errors(NamedTuple):
    """Mean squared errors, and whether the fixed point was reached."""

    test: float
    train: float
    status: str


def errors(
    features: Features, labels: Labels, bulk: Bulk, alpha: float, beta: float, ridge: float
) -> Errors:
    """Return the errors at n = alpha d samples, p = beta d neurons and a ridge above zero.

    Parameters
    ----------
    features, labels : Features, Labels
        Features and labels at the same nodes.
    bulk : Bulk
        The law of the rows apart from the spike.
    alpha, beta, ridge : float
        The ratios and the ridge, above zero.
    """
    mu0, mu1, mu2, kappa = features.mean, features.linear, np.sqrt(features.rest), features.kappa
    hat1, hat2, status = _fixed_point(features, bulk, alpha, beta, ridge)
    found = _response(bulk, hat1, ridge + hat2, beta)
    damp = 1 / (1 + mu1**2 * found.V1 + mu2**2 * found.V2)
    scaled = alpha / beta * features.weights * damp

    # Means: the common mode, not penalised where there is one, and those of finite strength: mu1
    # times the coordinates along the spike and the target, and the mode of the lengths.
    own = np.array([mu0, mu1 * kappa, features.stretch])
    others = mu1 * labels.linear  # The modes of coordinates that are independent of kappa.
    count = len(others)
    order = [0, 1, *range(3, 3 + count), 2]
    cross = np.zeros((3 + count, 3 + count))
    cross[:3, :3] = (own * scaled) @ own.T
    cross[3:, 3:] = np.eye(count) * (mu1**2 @ scaled)
    cross = cross[np.ix_(order, order)]
    known = np.concatenate([own * labels.mean, others])[order] @ scaled
    strength, curvature = (
        _beside(block, features.spread * features.bulk**4 * beta * value)
        for block, value in ((found.G, found.V2), (found.H0, found.T02))
    )
    system = np.vstack([cross[:1], strength @ cross[1:]])
    system[1:, 1:] += np.eye(2 + count)
    right = np.concatenate([known[:1], strength @ known[1:]])
    if mu0**2 @ features.weights <= 1e-20 * ((mu0**2 + mu1**2 + mu2**2) @ features.weights):
        system[0], right[0] = np.eye(3 + count)[0], 0.0
    amplitudes = np.linalg.solve(system, right)
    hats = known[1:] - cross[1:] @ amplitudes
    m, zeta, *psi, stretch = amplitudes
    fitted = np.array([m, zeta, stretch]) @ own
    known_error = labels.square - 2 * fitted * labels.mean + fitted**2
    known_error += np.square(psi).sum() * mu1**2 - 2 * (np.array(psi) @ others)
    # Variances: two linear equations.
    shares = np.array([mu1**2, mu2**2])
    parts = np.array([known_error, mu1**2, mu2**2])
    moments = (shares * (scaled * damp)) @ parts.T
    kernel = np.array([[found.T22, found.T12], [found.T12, found.T02]])
    bent = float(hats @ curvature @ hats)
    straight = float(hats @ strength @ hats)
    source = kernel @ moments[:, 0] + [(straight - (ridge + hat2) * bent) / hat1, bent]
    q1, q2 = np.linalg.solve(np.eye(2) - kernel @ moments[:, 1:], source)
    squared = known_error + mu1**2 * q1 + mu2**2 * q2
    weights = features.weights
    return Errors(float(squared @ weights), float((squared * damp**2) @ weights), status)


class _Response(NamedTuple):
    """V_k, T_kl, G = B^T U^T R U B and H0 = -dG / dshift, R = (shift + hat1 U U^T)^-1 off B."""

    V1: float
    V2: float
    T02: float
    T12: float
    T22: float
    G: Array
    H0: Array


def _response(bulk: Bulk, hat1: float, shift: float, beta: float) -> _Response:
    xi = bulk.resolution(shift / hat1, beta)
    forms = bulk.forms(xi)
    moved = 1 / (beta - forms.trace - xi * forms.trace_slope)  # d xi / d (shift / hat1)
    V1, V2 = forms.trace / (beta * hat1), 1 / (beta * hat1 * xi)
    T02 = moved / (beta * (hat1 * xi) ** 2)
    T12 = (V2 - shift * T02) / hat1
    T22 = (V1 - shift * T12) / hat1
    inverse = np.asarray(np.linalg.inv(forms.matrix), dtype=float)
    slope = -inverse @ forms.matrix_slope @ inverse
    G = (inverse / xi - np.eye(len(inverse))) / hat1
    H0 = (inverse / xi - slope) * (moved / (xi * hat1**2))
    return _Response(V1, V2, T02, T12, T22, G, H0)


def _beside(block: Array, corner: float) -> Array:
    found = np.zeros((len(block) + 1, len(block) + 1))
    found[:-1, :-1], found[-1, -1] = block, corner
    return found


def _fixed_point(
    features: Features, bulk: Bulk, alpha: float, beta: float, ridge: float
) -> tuple[float, float, str]:
    """Return Vhat_1 and Vhat_2 by damped iteration and a root search in their logarithms."""
    from scipy.optimize import root

    squares = _squares(features)

    def image(hats: Array) -> Array:
        hat1, shift = float(hats[0]), ridge + float(hats[1])
        xi = bulk.resolution(shift / hat1, beta)
        V2 = 1 / (beta * hat1 * xi)
        V = np.array([(1 - shift * V2) / hat1, V2])
        return np.asarray(alpha / beta * (squares @ (features.weights / (1 + V @ squares))))

    def gap(logs: Array) -> Array:
        return np.asarray(np.log(image(np.exp(logs))) - logs)

    hats = image(alpha / beta * (squares @ features.weights))
    for k in range(_ITERATIONS):
        fresh = image(hats)
        change = float(np.max(np.abs(fresh / hats - 1)))
        hats = 0.5 * (hats + fresh)
        if change < _TOLERANCE:
            return float(hats[0]), float(hats[1]), "converged"
        if k % 200 == 50:
            found = root(gap, np.log(hats), tol=1e-13)
            tried = np.exp(found.x)
            if np.isfinite(tried).all() and np.max(np.abs(image(tried) / tried - 1)) < 1e-10:
                return float(tried[0]), float(tried[1]), "converged"
    return float(hats[0]), float(hats[1]), "stopped"


def _squares(features: Features) -> Array:
    """Return mu1^2 and mu2^2 (2, k); a part that vanishes is replaced by a tiny one."""
    squares = np.array([features.linear**2, features.rest])
    return np.asarray(np.maximum(squares, 1e-9 * float(np.max(squares @ features.weights))))


def covariance_density(
    features: Features, alpha: float, beta: float, x: Array, rows: Array
) -> Array:
    """Return the density of eigenvalues of the sample covariance of sigma(W x), without outliers.

    It solves the fixed point of `errors` at a complex ridge for each x, by damped iteration.

    Parameters
    ----------
    features : Features
        The features of the neurons.
    alpha, beta : float
        Samples and neurons over dimension.
    x : array, shape (k,)
        Eigenvalues above zero; details finer than a percent of them are smoothed.
    rows : array, shape (m,)
        Eigenvalues of d times the covariance of the rows apart from the spike.

    Returns
    -------
    array, shape (k,)
        The density; NaN where the iteration does not settle.
    """
    scale = alpha / beta  # The covariance is F^T F / scale, F the features over sqrt(p).
    squares = _squares(features)
    # V_1 and V_2 start far from the real axis and are followed towards it in steps.
    V2 = -1 / (scale * x * (1 + 1j * WIDTHS[0]))
    V1 = rows.mean() * V2
    xi: NDArray[np.complex128] | None = None
    with np.errstate(all="ignore"):
        for width in WIDTHS:
            z = scale * x * (1 + 1j * width)
            for _ in range(1000):
                before = V2
                V = V1[:, None] * squares[0] + V2[:, None] * squares[1]
                hats = scale * ((features.weights / (1 + V)) @ squares.T).T
                shift = hats[1] - z
                share = shift / hats[0]
                xi = resolutions(rows, share, beta, share / beta if xi is None else xi)
                fresh = 1 / (beta * xi * hats[0])
                V2 = 0.5 * (V2 + fresh)
                V1 = 0.5 * (V1 + (1 - shift * fresh) / hats[0])
                moved = np.abs(V2 / before - 1)
                if not np.any(moved >= 1e-9):
                    break
    density = scale * np.maximum(V2.imag, 0.0) / np.pi
    return np.where(moved < _SETTLED, density, np.nan)
