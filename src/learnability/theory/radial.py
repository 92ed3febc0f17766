"""Ridge regression with the Mehler kernel in few dimensions, where weights depend on |x|.

In D dimensions K(x, x) grows like exp(rho |x|^2 / (1 + rho)), so that for small D far samples have
a larger leverage l than near ones, and errors that grow with |x| count more. With the features phi
of the kernel, the fit is (ridge + sum_i phi_i phi_i^T)^(-1) sum_i phi_i y_i, and

    A = ridge + n E[phi phi^T / (1 + l(r))] ,    l(r) = E[phi^T A^(-1) phi | |x| = r]

is closed on functions of the radius: A has a block for each angular degree a, of multiplicity m_a,
on radial functions R_ak (Laguerre polynomials) of eigenvalues rho^(a + 2k). With w = 1 / (1 + l),
the mean fit of a part f_a of the target has the coefficients A_a^(-1) n E[w phi_a f_a], and the
mean squared error e(r) at radius r, with the squared bias b(r), solves

    e(r) = b(r) + n sum_a m_a E'[ w(r')^2 (phi_a(r).A_a^(-1) phi_a(r'))^2 e(r') ] .

Without dependence on r this is the usual equivalent with effective ridge nu = ridge / (n w). The
target enters through its radial part; through the energies of its other parts by degree j, shared
among the angular degrees a = j, j - 2, ... in proportion to their numbers of functions; and through
E[y^2 | r], to which the error of all but the radial part is taken as proportional. A function of
features does not share its energy in this way: its parts of all degrees lie along a few harmonics
Y_a, and where w falls with r the near samples determine the fit, which is steeper when the function
saturates. The radial part, E[y^2 | r] and the parts E[f Y_a | r] along such harmonics are given as
means of samples of nearly equal radius; polynomials of r would fail in the tails.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import legendre
from learnability.theory.mehler import mehler_parameter

__all__ = [
    "Curve",
    "Profile",
    "RadialTarget",
    "RidgeFit",
    "gegenbauer",
    "harmonics",
    "length_nodes",
    "radial_fit",
]

Array = NDArray[np.float64]

_ANGULAR = 12
_RADIAL = 8
_NODES = 80


class Profile(NamedTuple):
    """Means of a centred target at nearly equal radius.

    Attributes
    ----------
    x : array, shape (bins,)
        r^2 / 2, growing.
    along : tuple of (int, array of shape (bins, 1 + r))
        Degrees a of harmonics Y_a of unit length, 0 first, and E[f Y_a | r] and E[h_m Y_a | r].
    squares : array, shape (bins,)
        E[y^2 | r].
    """

    x: Array
    along: tuple[tuple[int, Array], ...]
    squares: Array


class RadialTarget(NamedTuple):
    """A centred target as a function of the radius.

    Attributes
    ----------
    radial : array, shape (k,)
        Coefficients of R_0k, the normalised radial polynomials of degree 2 k.
    energies : array, shape (j,)
        Energies by degree of the part that is not radial.
    squares : array, shape (k,)
        Coefficients of E[y^2 | r] on the same polynomials; noise included.
    feature_radial : array, shape (r, k)
        Coefficients of the features.
    feature_parts : array, shape (r, j)
        <P_j f, h_m> of the part that is not radial.
    profile : Profile, optional
        The same as functions of the radius, in place of polynomials.
    """

    radial: Array
    energies: Array
    squares: Array
    feature_radial: Array
    feature_parts: Array
    profile: Profile | None = None


class Curve(NamedTuple):
    """A fit as a function of the radius.

    Attributes
    ----------
    x : array, shape (nodes,)
        r^2 / 2.
    along : tuple of (int, array, array)
        Degrees of the harmonics of the target, its parts along them, and those of the mean fit.
    spread : array, shape (nodes,)
        Variance of the fit over samples.
    product, square : float
        E[f q] and E[q^2] of the mean fit, for the part that lies along no harmonic.
    """

    x: Array
    along: tuple[tuple[int, Array, Array], ...]
    spread: Array
    product: float
    square: float


class RidgeFit(NamedTuple):
    """The result of ridge regression on a target.

    Attributes
    ----------
    error : float
        Mean squared error on fresh samples.
    spread : float
        Variance of the fit.
    with_features : array, shape (r,)
        E[q h_m].
    learned : array, shape (j,)
        Share of degree j that the mean fit has learned.
    curve : Curve
        The fit as a function of the radius.
    """

    error: float
    spread: float
    with_features: Array
    learned: Array
    curve: Curve


@lru_cache(maxsize=256)
def _basis(D: int, end: float) -> tuple[Array, Array, list[float], list[Array]]:
    """Return nodes x = r^2 / 2 up to an end, weights, multiplicities and phi_a (nodes, k)."""
    from scipy.special import eval_genlaguerre, gammaln

    v, p = legendre(_NODES)
    root = math.sqrt(end) * (v + 1) / 2  # The rule is in r, whose law is smooth at zero.
    x = root**2
    p = p * np.exp((D - 1) * np.log(root) - x)
    p = p / p.sum()
    rho = mehler_parameter(D)
    sizes, tables = [], []
    for a in range(_ANGULAR + 1 if D > 1 else 2):
        sizes.append(harmonics(D, a))
        k = np.arange(_RADIAL)
        shape = D / 2 - 1 + a
        # E over the Gamma law of x^a L_k^2 is Gamma(k + a + D/2) / (k! Gamma(D/2)).
        log_norm = gammaln(k + a + D / 2) - gammaln(k + 1) - gammaln(D / 2)
        value = eval_genlaguerre(k, shape, x[:, None])
        value = value * np.exp(0.5 * (a * np.log(x)[:, None] - log_norm)) * (-1.0) ** k
        tables.append(value * rho ** ((a + 2 * k) / 2))
    return x, p, sizes, tables


def harmonics(D: int, a: int) -> float:
    """Return the number of harmonics of degree a in D dimensions."""
    if D == 1:
        return 1.0 if a < 2 else 0.0
    return float(math.comb(D + a - 1, a) - (math.comb(D + a - 3, a - 2) if a > 1 else 0))


def length_nodes(d: int, count: int) -> tuple[Array, Array]:
    """Return nodes of |x|^2 / 2 and their weights, exact for polynomials of degree 2 count - 1.

    Parameters
    ----------
    d : int
        Dimension of the normal vector x.
    count : int
        Number of nodes.
    """
    k = np.arange(count, dtype=float)
    off = np.sqrt(k[1:] * (k[1:] + d / 2 - 1))
    matrix = np.diag(2 * k + d / 2) + np.diag(off, 1) + np.diag(off, -1)
    nodes, vectors = np.linalg.eigh(matrix)
    return nodes, vectors[0] ** 2


def gegenbauer(D: int, t: Array, count: int) -> Array:
    """Return sqrt(N_a) P_a(t) for a below the count, shape (count, ...).

    Parameters
    ----------
    D : int
        Dimension.
    t : array
        Cosines.
    count : int
        Number of degrees, from two on.
    """
    found = [np.ones_like(t), t]
    for a in range(1, count - 1):
        found.append(((2 * a + D - 2) * t * found[a] - a * found[a - 1]) / (a + D - 2))
    return np.array([math.sqrt(harmonics(D, a)) * found[a] for a in range(count)])


def radial_fit(
    target: RadialTarget, D: int, n: float, ridge: float, beyond: float = 100.0
) -> RidgeFit:
    """Return the errors and overlaps of the regression.

    Parameters
    ----------
    target : RadialTarget
        The target in the D variables of the regression.
    D : int
        Number of variables.
    n : float
        Samples.
    ridge : float
        The ridge of (K + ridge I) c = y.
    beyond : float
        Inputs extend to the furthest of `beyond` times n samples: the kernel grows, so that inputs
        further out would count although they hardly ever occur.
    """
    from scipy.special import gammainccinv

    x, p, sizes, tables = _basis(D, round(float(gammainccinv(D / 2, 1 / (beyond * n))), 3))
    rho = mehler_parameter(D)
    diagonal = np.exp(2 * x * rho / (1 + rho)) * (1 - rho**2) ** (-D / 2)
    known = sum(m * np.sum(t**2, axis=1) for m, t in zip(sizes, tables, strict=True))
    tail = np.maximum(diagonal - known, 0.0)
    w = np.full(len(p), 0.5)
    for _ in range(400):
        inverses = [_inverse(t, p * w, n, ridge) for t in tables]
        leverage = tail / ridge
        for m, t, inverse in zip(sizes, tables, inverses, strict=True):
            leverage = leverage + m * np.einsum("qk,kl,ql->q", t, inverse, t)
        new = 1 / (1 + leverage)
        change = float(np.abs(np.log(new / w)).max())
        w = np.sqrt(w * new)
        if change < 1e-7:
            break
    inverses = [_inverse(t, p * w, n, ridge) for t in tables]
    plain = [t / rho ** ((a + 2 * np.arange(_RADIAL)) / 2) for a, t in enumerate(tables)]

    def mean_fit(a: int, values: Array) -> Array:
        return np.asarray(tables[a] @ (inverses[a] @ (n * (p * w * values) @ tables[a])))

    f0 = plain[0][:, : len(target.radial)] @ target.radial
    h0 = plain[0][:, : target.feature_radial.shape[1]] @ target.feature_radial.T
    squares = plain[0][:, : len(target.squares)] @ target.squares
    along = [(0, np.column_stack([f0, h0]))]
    if target.profile is not None:
        squares = np.interp(x, target.profile.x, target.profile.squares)
        along = [
            (a, np.array([np.interp(x, target.profile.x, one) for one in values.T]).T)
            for a, values in target.profile.along
        ]
    energies, parts = target.energies.copy(), target.feature_parts.copy()
    degrees = len(energies)
    learned, bias = np.zeros(degrees), np.zeros(len(p))
    others, product = squares.copy(), 0.0
    with_features = np.zeros(len(parts))
    fits = []
    for a, values in along:
        f, h = values[:, 0], values[:, 1:]
        fit = mean_fit(a, f)
        fits.append((a, f, fit))
        bias = bias + (f - fit) ** 2
        others = others - f**2
        product += float(p @ (f * fit))
        with_features = with_features + (p * fit) @ h
        if a:  # The energies do not include the radial part.
            count = min(_RADIAL, (degrees - a + 1) // 2)
            coefficients = (p[:, None] * plain[a][:, :count]).T @ values
            energies[a : a + 2 * count : 2] -= coefficients[:, 0] ** 2
            parts[:, a : a + 2 * count : 2] -= (coefficients[:, :1] * coefficients[:, 1:]).T
    energies = np.maximum(energies, 0.0) if D > 1 else np.zeros(degrees)
    left = float(p @ others)
    for j in range(1, degrees):
        places = [(j - 2 * k, k) for k in range(j // 2 + 1) if 0 < j - 2 * k < len(tables)]
        places = [(a, k) for a, k in places if k < _RADIAL and sizes[a]]
        total = sum(sizes[a] for a, _ in places)
        missed = 1.0 if not places else 0.0
        for a, k in places:
            one = plain[a][:, k]
            fit = mean_fit(a, one)
            learned[j] += sizes[a] / total * float(p @ (one * fit))
            missed += sizes[a] / total * float(p @ (one - fit) ** 2)
        left += energies[j] * (missed - 1.0)
        if D > 1:
            product += energies[j] * learned[j]
            with_features = with_features + parts[:, j] * learned[j]
    # The errors of the other parts and the noise are spread over the radii in proportion to them.
    others = np.maximum(others, 0.1 * float(p @ np.abs(others)))
    bias = bias + max(left, 0.0) * others / float(p @ others)
    weights = n * p * w**2
    back = np.zeros((len(p), len(p)))
    for m, t, inverse in zip(sizes, tables, inverses, strict=True):
        back += m * (t @ inverse @ t.T) ** 2
    errors = np.linalg.solve(np.eye(len(p)) - back * weights, bias)
    error = float(p @ errors)
    total = float(target.squares[0])
    spread = max(error - total + 2 * product, 1e-300)
    rest = float(energies @ learned), float(energies @ learned**2)
    curve = Curve(x, tuple(fits), np.maximum(errors - bias, 0.0), *rest)
    return RidgeFit(error, spread, with_features, learned, curve)


def _inverse(table: Array, weights: Array, n: float, ridge: float) -> Array:
    gram = (table * weights[:, None]).T @ table
    return np.asarray(np.linalg.inv(ridge * np.eye(table.shape[1]) + n * gram))
