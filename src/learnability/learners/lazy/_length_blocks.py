"""A kernel, random features and a target as functions of the lengths of inputs and neurons.

Squared lengths q = |x|^2 / d follow a Gamma law, whose Gauss rule has nodes for any d. At lengths q
and q' the kernel k(q, q', t sqrt(q q')) is a function of the cosine t, and its part of angular
degree a is E[k P_a(t)] with P_a the Gegenbauer polynomial of P_a(1) = 1, N_a E[P_a^2] = 1. Features
have E[sigma(|w| |x| t) P_a(t)].

The part of degree j = a + 2 k of a target that belongs to the angular degree a is its Hermite
tensor C_j, traced k times and freed of its traces in d dimensions (P), on a radial polynomial R_ak:

    sum_m c_amk c_amk' = <P tr^k C_(a+2k), P tr^k' C_(a+2k')> / sqrt(m_ak m_ak') ,
    m_ak = a! prod_(i <= k) 2 i (d + 2 a + 2 i - 2) .
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.quadrature import adapted_frame, rules_for
from learnability.gaussian.rules import composite_legendre
from learnability.gaussian.sections import Section
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.targets.base import Target
from learnability.theory.length_equivalent import Blocks, Parts
from learnability.theory.radial import gegenbauer, harmonics, length_nodes

__all__ = [
    "DEGREE",
    "FEW_NODES",
    "NODES",
    "as_kernel",
    "feature_blocks",
    "kernel_blocks",
    "target_parts",
]

Array = NDArray[np.float64]

DEGREE = 7
"""Highest angular degree; finer ones are not learned."""
NODES, FEW_NODES = 12, 9
"""Lengths of inputs and of neurons; the difference to fewer tells the error of the sums."""
_FAR = 1e5
"""A degree of so many times more functions than samples has nothing to learn from them."""
_RARE = 1e-3
_COSINES = 96
_WIDEST = 12.0
_BINS = 400


def _sizes(d: int, samples: float) -> Array:
    """Return the numbers of harmonics of the degrees that so many samples may learn."""
    sizes = np.array([harmonics(d, a) for a in range(DEGREE + 1)])
    return sizes[sizes <= _FAR * samples]


def _cosines(d: int, count: int) -> tuple[Array, Array]:
    """Return the Gauss rule of the law of one coordinate on the unit sphere."""
    k = np.arange(1, count, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = k * (k + d - 3) / ((2 * k + d - 2) * (2 * k + d - 4))
    squares[0] = 1 / d
    t, vectors = np.linalg.eigh(np.diag(np.sqrt(squares), 1) + np.diag(np.sqrt(squares), -1))
    return t, vectors[0] ** 2


def _table(d: int, sizes: Array) -> tuple[Array, Array]:
    """Return weights of cosines and N_a P_a at them, exact for fourth powers."""
    t, chances = _cosines(d, 2 * DEGREE + 2)
    return chances, gegenbauer(d, t, len(sizes)) * np.sqrt(sizes)[:, None]


def kernel_blocks(kernel: Link, d: int, samples: float, count: int = NODES) -> Blocks:
    """Return the blocks of a kernel of one variable, or of three.

    Parameters
    ----------
    kernel : Link
        The function k(t), or k(q, q', t).
    d : int
        Dimension.
    samples : float
        The largest number of samples.
    count : int
        Number of lengths.
    """
    nodes, weights = length_nodes(d, count)
    q, sizes = 2 * nodes / d, _sizes(d, samples)
    longest = _checked_lengths(kernel, d, samples)
    t, chances = _cosines(d, _COSINES)
    products = np.sqrt(np.outer(q, q))[..., None] * t
    if kernel.r == 1:
        values, own = kernel(products[..., None]), kernel(q[:, None])
    else:
        places = np.broadcast_arrays(q[:, None, None], q[:, None], products)
        values, own = kernel(np.stack(places, axis=-1)), kernel(np.column_stack([q, q, q]))
    # Lengths that no sample has may lie where the function is no kernel.
    weights = np.where(q <= longest, weights, 0.0)
    inside = np.outer(weights, weights) > 0
    values = np.where(inside[..., None], np.asarray(values, dtype=float), 0.0)
    own = np.where(weights > 0, np.asarray(own, dtype=float), 1.0)
    table = gegenbauer(d, t, len(sizes)) * chances
    found = np.einsum("qrt,at->aqr", values, table)
    found = 0.5 * (found + found.transpose(0, 2, 1)) / np.sqrt(sizes)[:, None, None]
    eigenvalues, axes = np.linalg.eigh(found)
    rounding = 64 * np.finfo(float).eps * float(np.abs(values).max()) / np.sqrt(sizes)[:, None]
    eigenvalues = np.where(eigenvalues > rounding, eigenvalues, 0.0)
    radial = axes * np.sqrt(eigenvalues)[:, None, :]
    known = np.einsum("a,aqs->q", sizes, radial**2)
    tail = own - known
    tail = np.where(tail > 1e-10 * np.abs(own), tail, 0.0)
    about = _table(d, sizes)
    return Blocks(weights / weights.sum(), sizes, radial, None, tail[:, None], about)


def _checked_lengths(kernel: Link, d: int, samples: float) -> float:
    """Return the largest q up to which the function is a kernel, as far as samples reach.

    Raises
    ------
    LearnabilityError
        When one sample in a thousand such sets lies where it is none.
    """
    from scipy.special import gammainccinv

    reach = 2 * float(gammainccinv(d / 2, _RARE / samples)) / d
    q = np.linspace(0.0, 2 * reach, 401)[1:]
    with np.errstate(all="ignore"):
        own = np.asarray(kernel(q[:, None] if kernel.r == 1 else np.column_stack([q, q, q])))
    good = np.isfinite(own) & (own > 0)
    if kernel.r == 1:  # The coefficients of t^l are positive, so that it grows.
        good &= np.append(True, np.diff(own) >= 0)
    first = float(q[np.argmin(good)]) if not good.all() else math.inf
    if first <= reach:
        raise LearnabilityError(
            f"The kernel {kernel!r} is not positive at squared lengths |x|^2 / d of {first:.3g}, "
            f"which Gaussian inputs reach in dimension {d}: no regression with it is defined there."
        )
    return first if math.isfinite(first) else math.inf


def feature_blocks(activation: Link, d: int, samples: float, count: int = NODES) -> Blocks:
    """Return the blocks of random features.

    Parameters
    ----------
    activation : Link
        The function sigma.
    d : int
        Dimension.
    samples : float
        The largest number of samples.
    count : int
        Number of lengths.
    """
    nodes, weights = length_nodes(d, count)
    sizes = _sizes(d, samples)
    scale = np.sqrt(2 * nodes)
    first, second = np.triu_indices(count)
    lengths = scale[first] * scale[second] / math.sqrt(d)  # |x| |w|
    breaks = Section.whole(activation).breakpoints if activation.breaks is not None else np.zeros(0)
    if np.abs(breaks).max(initial=0.0) == 0:
        by_degree, square = _angular(activation, d, lengths, breaks, len(sizes))
    else:
        each = [_angular(activation, d, one[None], breaks / one, len(sizes)) for one in lengths]
        by_degree, square = (np.concatenate(one, axis=-1) for one in zip(*each, strict=True))
    radial = np.zeros((len(sizes), count, count))
    radial[:, first, second] = radial[:, second, first] = by_degree / np.sqrt(sizes)[:, None]
    power = np.zeros((count, count))
    power[first, second] = power[second, first] = square
    tail = power - np.einsum("a,aqs->qs", sizes, radial**2)
    tail = np.where(tail > 1e-10 * power, tail, 0.0)
    return Blocks(weights, sizes, radial, weights, tail, _table(d, sizes))


def as_kernel(blocks: Blocks) -> Blocks:
    """Return the blocks of the kernel of endlessly many neurons."""
    assert blocks.neurons is not None
    radial = blocks.radial * np.sqrt(blocks.neurons)
    return blocks._replace(
        radial=radial, neurons=None, tail=(blocks.tail @ blocks.neurons)[:, None]
    )


def _angular(
    activation: Link, d: int, lengths: Array, breaks: Array, count: int
) -> tuple[Array, Array]:
    """Return E[sigma(length t) sqrt(N_a) P_a(t)] (count, lengths) and E[sigma^2] at each length."""
    widest = min(0.5 * math.pi, _WIDEST / math.sqrt(d))
    inside = np.arcsin(breaks[np.abs(breaks) < math.sin(widest)])
    edges = np.concatenate([[-widest], np.sort(inside), [widest]])
    angles, weights = composite_legendre(edges, widest / 20, 20)
    weights = weights * np.exp((d - 2) * np.log(np.maximum(np.cos(angles), 1e-300)))
    weights = weights / weights.sum()
    t = np.sin(angles)
    values = np.asarray(activation((lengths[:, None] * t)[..., None]), dtype=float)
    return (gegenbauer(d, t, count) * weights) @ values.T, values**2 @ weights


def target_parts(target: Target, d: int, degrees: int, count: int = NODES) -> Parts:
    """Return the parts of a target.

    Parameters
    ----------
    target : Target
        The target, on isotropic inputs.
    d : int
        Dimension.
    degrees : int
        Number of angular degrees that can be learned.
    count : int
        Number of lengths.
    """
    nodes, weights = length_nodes(d, count)
    link = target.link_of_inputs
    grams, beyond = _of_energies(target, d) if link is None else _of_tensors(link, d)
    most = max(len(gram) for gram in grams)
    along = np.zeros((len(grams), len(nodes), most))
    for a, gram in enumerate(grams):
        values, axes = np.linalg.eigh(gram)
        table = _radial_polynomials(d, nodes, a, len(gram))
        along[a, :, : len(gram)] = table @ (axes * np.sqrt(np.maximum(values, 0.0)))
    fine = np.einsum("aqk,aqk->q", along[degrees:], along[degrees:])
    rest = np.full(len(nodes), beyond)
    if link is not None and beyond > 0 and d > link.r + 3:
        # What is left at each length of the square of the label.
        left = _square_at_lengths(link, d, nodes) - np.einsum("aqk,aqk->q", along, along)
        left = np.maximum(left, 0.0)
        total = float(weights @ left)
        rest = left * (beyond / total) if total > 0 else rest
    return Parts(along[:degrees], rest + fine + target.label_noise)


def _radial_polynomials(d: int, x: Array, a: int, count: int) -> Array:
    """Return the R_ak at x = |x|^2 / 2, of unit length with growing leading parts, (nodes, k)."""
    shape = d / 2 + a
    found = [np.sqrt(math.prod((x / (d / 2 + i) for i in range(a)), start=np.ones_like(x)))]
    before = np.zeros_like(x)
    for k in range(count - 1):
        now = (x - (2 * k + shape)) * found[k] - math.sqrt(k * (k + shape - 1)) * before
        before = found[k]
        found.append(now / math.sqrt((k + 1) * (k + shape)))
    return np.column_stack(found)


def _of_tensors(link: Link, d: int) -> tuple[list[Array], float]:
    """Return the matrices sum_m c_amk c_amk' by angular degree, and the energy beyond."""
    found = expand(link, DEGREE)
    grams = []
    for a in range(DEGREE + 1):
        traced = []
        for k in range((DEGREE - a) // 2 + 1):
            value = np.asarray(found.tensors[a + 2 * k])
            for _ in range(k):
                value = np.trace(value)
            traced.append(np.asarray(value))
        root = np.array([1 / math.sqrt(_norm(d, a, k)) for k in range(len(traced))])
        grams.append(_free_of_traces(traced, d) * np.outer(root, root))
    return grams, found.remainder


def _norm(d: int, a: int, k: int) -> float:
    return float(
        math.factorial(a) * math.prod(2 * i * (d + 2 * a + 2 * i - 2) for i in range(1, k + 1))
    )


def _free_of_traces(tensors: list[Array], d: int) -> Array:
    """Return inner products of symmetric tensors of one order without their traces."""
    order = tensors[0].ndim
    rows = np.array([value.ravel() for value in tensors])
    found, traced = rows @ rows.T, tensors
    for i in range(1, order // 2 + 1):
        traced = [np.asarray(np.trace(value)) for value in traced]
        below = order - 2 * i
        found = found - _free_of_traces(traced, d) * math.factorial(order) / _norm(d, below, i)
    return np.asarray(found)


def _of_energies(target: Target, d: int) -> tuple[list[Array], float]:
    """Return diagonal matrices: energies by degree, shared by the numbers of functions."""
    energies, beyond = target.degree_energies(DEGREE, d)
    grams = [np.zeros(((DEGREE - a) // 2 + 1,) * 2) for a in range(DEGREE + 1)]
    for j, energy in enumerate(energies):
        sizes = {j - 2 * k: harmonics(d, j - 2 * k) for k in range(j // 2 + 1)}
        for a, size in sizes.items():
            grams[a][(j - a) // 2, (j - a) // 2] = energy * size / sum(sizes.values())
    return grams, beyond


def _square_at_lengths(link: Link, d: int, nodes: Array) -> Array:
    """Return E[g^2 | |x|] at nodes of |x|^2 / 2, from the law of the other d - r coordinates."""
    squares, mass = _binned(link)
    rest = 2 * nodes[:, None] - squares
    power = (d - link.r) / 2 - 1
    # The logarithm of the ratio of the densities of chi^2 with d - r and d degrees of freedom.
    with np.errstate(divide="ignore"):
        log = power * np.log(np.maximum(rest, 0.0) / (2 * nodes[:, None])) + 0.5 * squares
    log += math.lgamma(d / 2) - math.lgamma(power + 1) - 0.5 * link.r * np.log(nodes)[:, None]
    return np.asarray(np.exp(log) @ mass)


def _binned(link: Link) -> tuple[Array, Array]:
    """Return squares of |z| and the parts of E[g^2] that they carry."""
    key = ("squares by length",)
    if key not in link._cache:
        whole = Section.whole(link)
        section = whole.inside(adapted_frame(whole))
        rule = rules_for(section)[0][0]
        values = rule.evaluate(section) ** 2 * rule.inner_weights * rule.outer_weights[:, None]
        inner = np.einsum("npm,npm->np", rule.inner, rule.inner)
        squares = inner + np.einsum("nm,nm->n", rule.outer, rule.outer)[:, None]
        squares = np.broadcast_to(squares, values.shape).ravel()
        place = np.minimum((np.sqrt(squares) * _BINS / 12).astype(int), _BINS - 1)
        mass = np.bincount(place, values.ravel(), _BINS)
        mean = np.bincount(place, values.ravel() * squares, _BINS)
        kept = mass > 0
        link._cache[key] = mean[kept] / mass[kept], mass[kept]
    found: tuple[Array, Array] = link._cache[key]
    return found
