"""A rotation-invariant kernel on inputs with a few long directions, split into spikes and bulk.

Inputs have standard normal coordinates u_1 ... u_L along the spikes and d - L others. A kernel
G(|x|^2 / d, |x'|^2 / d, x.x' / d) has the argument x.x' / d = sum_l t_l u_l v_l + s with
t_l = (1 + theta_l) / d and s normal of variance b / d, b = (d - L) / d, so that it acts as

    G0(u, v) + G1(u, v) (x_bulk . x'_bulk) / d + D(u) 1[x = x'],

    G0 = E_s G(<t, u^2> + b, <t, v^2> + b, <t, u v> + s),   G1 = E_s G' (in the third argument),
    D(u) = G(<t, u^2> + b, ...) - G0(u, u) - b G1(u, u).

For random features sigma(w . x), w ~ N(0, I / d), let z = sum_l sqrt(t_l) omega_l u_l with omega
normal. Then G0 = sum_j v^j / (2^j j!) E_omega[M_2j(z) M_2j(z')], and G1 is the same with M_(2j+1),
where v = b / d and M_k are the moments of `shifted_moments` at width sqrt(b).

G0 and G1 are smooth, hence of low rank: they are factored by pivoted Cholesky, and the factors
are extended to all u by their pivots (Nystrom). Integrals over one spike use Legendre's rule, those
over several Sobol points, which are spread a little wider than the normal law since a kernel such
as exp grows along a spike.

References
----------
Harbrecht, Peters, Schneider, Appl. Numer. Math. 62 (2012) (pivoted Cholesky).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.rules import composite_legendre, gauss_normal, sobol_normals
from learnability.gaussian.sections import REACH, Section
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.learners.networks.features import row_blocks
from learnability.theory.shifted_moments import tabulated_moments

__all__ = ["Factor", "SpikedKernel", "feature_kernel", "given_kernel", "wide_normals"]

Array = NDArray[np.float64]
Values = Callable[[Array, Array], Array]

_FAR = 60.0
_FEATURE_REACH = 7.5
_TERMS = 3
_SMALL, _SMALL_SAMPLED = 1e-14, 1e-9
"""Share of the trace of a kernel at which its factorisation ends, for one spike and several."""
_POINTS, _NEURONS = 12, 9
"""Logarithms to base 2 of the Sobol points of several spikes, and of omega."""
_WIDER = 1.5
_DIFFERENCE = 1e-3


@dataclass(frozen=True)
class Factor:
    """A kernel of the coordinates along the spikes as a product of features.

    Attributes
    ----------
    values : callable
        (u, v) -> matrix.
    pivots : array, shape (k, L)
        Points at which the factor is exact.
    root : array, shape (k, k)
        The lower triangular factor at the pivots.
    """

    values: Values
    pivots: Array
    root: Array

    def __call__(self, u: Array) -> Array:
        """Return features of points u (N, L), shape (N, k)."""
        if not len(self.pivots):
            return np.zeros((len(u), 0))
        return self.features(self.values, u)

    def features(self, values: Values, u: Array) -> Array:
        """Return features of points u (N, L), shape (N, k), by their `values` with the pivots."""
        from scipy.linalg import solve_triangular

        columns = values(u, self.pivots).T
        return np.asarray(solve_triangular(self.root, columns, lower=True)).T


@dataclass(frozen=True)
class SpikedKernel:
    """The parts of a kernel.

    Attributes
    ----------
    mean, linear : Factor
        The factors of G0 and of G1.
    rest : callable
        u -> D(u).
    reach : float
        |u| beyond which the kernel has no weight.
    smooth : float
        Width of a panel on which the kernel is smooth.
    stretch : callable, optional
        u -> how the features of G0 change with the standardised length of the bulk, shape (N, k);
        None where they do not.
    """

    mean: Factor
    linear: Factor
    rest: Callable[[Array], Array]
    reach: float
    smooth: float
    stretch: Callable[[Array], Array] | None = None

    def nodes(self, link: Link) -> tuple[Array, Array]:
        """Return nodes and weights of the normal law for this kernel of one spike times a link."""
        breaks = Section.whole(link).breakpoints
        inside = breaks[np.abs(breaks) < self.reach]
        return _normal_nodes(np.concatenate([[-self.reach], inside, [self.reach]]), self.smooth)


def given_kernel(kernel: Link, t: Array, d: int, seed: int = 0) -> SpikedKernel:
    """Return the parts of a kernel k(x.x'/d), or k(|x|^2/d, |x'|^2/d, x.x'/d) of three variables.

    Parameters
    ----------
    kernel : Link
        The function k.
    t : array, shape (L,)
        (1 + theta) / d of every spike.
    d : int
        Dimension.
    seed : int
        The seed of the Sobol points.

    Raises
    ------
    LearnabilityError
        When the kernel has no finite trace, or is not positive definite.
    """
    b = (d - len(t)) / d
    deviation = math.sqrt(b / d)
    s, weights = gauss_normal(np.zeros(0), 14)
    s = s * deviation
    slope = kernel.derivative(kernel.r)

    def at(function: Link, q: Array, q2: Array, c: Array) -> Array:
        if function.r == 1:
            return np.asarray(function(c[..., None]), dtype=float)
        q, q2, c = np.broadcast_arrays(q, q2, c)
        return np.asarray(function(np.stack([q, q2, c], axis=-1)), dtype=float)

    def averaged(u: Array, v: Array, function: Link, longer: float = 0.0) -> Array:
        first, second, inner = u**2 @ t + b + longer, v**2 @ t + b, (u * t) @ v.T
        found = np.empty_like(inner)
        for k in row_blocks(len(u), len(v) * len(s)):
            values = at(function, first[k, None, None], second[:, None], inner[k][..., None] + s)
            found[k] = values @ weights
        return found

    def pairs(u: Array, shift: Array, function: Link = kernel) -> Array:
        q = (u**2 @ t)[:, None]
        return at(function, q + b, q + b, q + shift)

    def diagonals(u: Array) -> tuple[Array, Array, Array]:
        own = pairs(u, np.array([b]))[:, 0]
        return pairs(u, s) @ weights, pairs(u, s, slope) @ weights, own

    longest = np.argmax(t)
    with np.errstate(over="ignore", invalid="ignore"):
        far = np.linspace(0.0, _FAR, 241)
        size = pairs(np.eye(len(t))[longest] * far[:, None], np.array([b]))[:, 0]
    reach = _reach(kernel, far, size, float(t[longest]))
    smooth = min(0.8, max(2.0 / math.sqrt(max(t[longest], 1e-12)), 0.05))
    both = partial(averaged, function=kernel), partial(averaged, function=slope)

    def stretched(u: Array, v: Array) -> Array:
        up, down = (averaged(u, v, kernel, longer) for longer in (_DIFFERENCE, -_DIFFERENCE))
        return (up - down) / (2 * _DIFFERENCE) * math.sqrt(2 * b / d)

    found = _assembled(both, diagonals, len(t), b, reach, smooth, repr(kernel), seed)
    if kernel.r == 1:
        return found
    return replace(found, stretch=partial(found.mean.features, stretched))


def feature_kernel(activation: Link, t: Array, d: int, seed: int = 0) -> SpikedKernel:
    """Return the parts of the kernel of infinitely many random features; see `given_kernel`."""
    expand(activation, 0)  # Raises if the activation is not square-integrable.
    b = (d - len(t)) / d
    width = math.sqrt(b)
    # Rounded up, so that a table serves many spikes.
    widest = math.ceil(math.sqrt(t.sum()) * _FEATURE_REACH**2 / 4 + 0.1) * 4.0
    table = tabulated_moments(activation, widest, width, 2 * _TERMS - 1)
    square = tabulated_moments(activation, widest, width, 0, 2)
    if len(t) == 1:
        line, weights = _normal_nodes(np.array([-_FEATURE_REACH, _FEATURE_REACH]), 2.2)
        omega = line[:, None]
    else:
        omega = sobol_normals(len(t), _NEURONS, 2 * seed + 1)
        weights = np.full(len(omega), 1 / len(omega))
    scale = [(b / d) ** j / (2**j * math.factorial(j)) for j in range(_TERMS)]

    def fields(u: Array) -> Array:
        z = (np.clip(u, -_FEATURE_REACH, _FEATURE_REACH) * np.sqrt(t)) @ omega.T
        return np.clip(z, -widest, widest)

    held: list[tuple[Array, tuple[Array, Array, Array]]] = []

    def moments(u: Array) -> tuple[Array, Array, Array]:
        """Features (len(u), nodes of omega and terms) of even and odd order, and d/dq of even."""
        if held and held[0][0] is u:
            return held[0][1]
        found = np.asarray(table(fields(u)))
        # Of E sigma^(k)(z + sqrt(q) x) the derivative in q is half that of order k + 2.
        bent = 0.5 * np.concatenate([found[2::2], np.zeros_like(found[:1])])
        even, odd, turned = (
            np.concatenate(
                [math.sqrt(c) * np.sqrt(weights) * m for c, m in zip(scale, half, strict=True)],
                axis=1,
            )
            for half in (found[::2], found[1::2], bent)
        )
        if len(u) > 1:
            held[:] = [(u, (even, odd, turned))]
        return even, odd, turned

    def values(u: Array, v: Array, first: int) -> Array:
        return np.asarray(moments(u)[first] @ moments(v)[first].T)

    def diagonals(u: Array) -> tuple[Array, Array, Array]:
        own = np.asarray(square(fields(u)))[0] @ weights
        even, odd = (np.sum(part**2, axis=1) for part in moments(u)[:2])
        return even, odd, own

    def stretched(u: Array, v: Array) -> Array:
        return np.asarray(moments(u)[2] @ moments(v)[0].T) * math.sqrt(2 * b / d)

    both = partial(values, first=0), partial(values, first=1)
    found = _assembled(both, diagonals, len(t), b, _FEATURE_REACH, 0.8, repr(activation), seed)
    return replace(found, stretch=partial(found.mean.features, stretched))


def wide_normals(seed: int, spikes: int, others: int) -> tuple[Array, Array]:
    """Return Sobol points (N, spikes + others), wider along the spikes, and normal weights."""
    points = sobol_normals(spikes + others, _POINTS, 2 * seed)
    u = points[:, :spikes]
    logarithm = -0.5 * (_WIDER**2 - 1) * np.sum(u**2, axis=1)
    u *= _WIDER
    weights = np.exp(logarithm)
    return points, weights / weights.sum()


def _assembled(
    both: tuple[Values, Values],
    diagonals: Callable[[Array], tuple[Array, Array, Array]],
    spikes: int,
    b: float,
    reach: float,
    smooth: float,
    name: str,
    seed: int,
) -> SpikedKernel:
    """Factor G0 and G1; `diagonals` returns those of G0, G1 and G."""
    if spikes == 1:
        line, weights = _normal_nodes(np.array([-reach, reach]), smooth)
        u, small = line[:, None], _SMALL
    else:
        u, weights = wide_normals(seed, spikes, 0)
        small = _SMALL_SAMPLED
    even, odd, own = diagonals(u)
    mean, linear = (
        _factored(values, left, u, weights, small, name)
        for values, left in zip(both, (even, odd), strict=True)
    )
    if float(weights @ np.minimum(own - even - b * odd, 0.0)) < -1e-6 * float(weights @ own):
        raise _not_positive(name)

    def rest(u: Array) -> Array:
        even, odd, own = diagonals(u)
        return np.maximum(own - even - b * odd, 0.0)

    return SpikedKernel(mean, linear, rest, reach, smooth)


def _normal_nodes(edges: Array, panel: float) -> tuple[Array, Array]:
    nodes, weights = composite_legendre(edges, panel, 14)
    weights = weights * np.exp(-0.5 * nodes**2)
    return nodes, weights / weights.sum()


def _reach(kernel: Link, far: Array, size: Array, t: float) -> float:
    """Return the |u| beyond which the kernel has no weight.

    Raises
    ------
    LearnabilityError
        When the kernel has no finite trace.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        log_size = np.log(np.abs(size)) - 0.5 * far**2
    log_size[np.isnan(log_size)] = math.inf
    small = np.flatnonzero(log_size < np.maximum.accumulate(log_size) - 42)
    if not len(small) or np.isinf(np.max(log_size[: small[0]])):
        raise LearnabilityError(
            f"The kernel {kernel!r} was asked for on a spike of (1 + theta) / d = {t:.4g}, where "
            "its mean square on the samples is not finite (exp(z) needs less than 1/2): give a "
            "weaker spike, or a bounded kernel such as exp(z3 - z1/2 - z2/2)."
        )
    return max(float(far[small[0]]), REACH)


def _factored(
    values: Values, left: Array, u: Array, weights: Array, small: float, name: str
) -> Factor:
    """Return the pivoted Cholesky factor at nodes; pivots have the largest weighted remainder."""
    total = float(weights @ np.abs(left))
    columns: list[Array] = []
    pivots: list[int] = []
    while len(pivots) < len(u):
        k = int(np.argmax(weights * left))
        if weights[k] * left[k] <= small * total:
            break
        column = values(u, u[k : k + 1])[:, 0]
        for other in columns:
            column = column - other[k] * other
        column = column / math.sqrt(left[k])
        columns.append(column)
        pivots.append(k)
        left = left - column**2
    if float(weights @ np.minimum(left, 0.0)) < -1e-6 * total:
        raise _not_positive(name)
    root = np.array(columns).T[pivots] if pivots else np.zeros((0, 0))
    return Factor(values, u[pivots], np.tril(root))


def _not_positive(name: str) -> LearnabilityError:
    return LearnabilityError(
        f"`kernel` was given as {name}, which is not positive definite on these inputs: kernels "
        "such as exp(z), (1 + z)**3 or exp(z3 - z1/2 - z2/2) are accepted."
    )
