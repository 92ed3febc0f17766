"""The first weights, given by their order parameters.

The order parameters of weights W (p, d) are Q = W W^T, M = W W*^T, and S = W mu^T where inputs have
spikes mu. In the marked axes E (k, d) of the inputs, whose span holds W* and mu, the weights are

    W = C E + (Q - C C^T)^(1/2) V,   M = C hidden^T,   S = the first columns of C,

with random orthonormal V: given order parameters are met exactly at every d, so that runs and
theory begin at the same place. Isotropic inputs have the marked axes W* and C = M.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import Kind
from learnability.gaussian.rules import sobol_normals
from learnability.gaussian.sections import complement
from learnability.inputs import Frame

__all__ = [
    "OrderParameters",
    "Start",
    "random_start",
    "root_of",
    "start_of",
    "typical_correlation",
    "weights_at",
]

Array = NDArray[np.float64]
_ALONG = 1e-9
"""Smaller parts of a hidden direction orthogonal to the spikes count as zero."""


class Start(NamedTuple):
    """Order parameters of the first weights.

    Attributes
    ----------
    rest : array, shape (p, p)
        Q - C C^T, the Gram matrix of the weights outside the marked axes.
    overlap : array, shape (p, k)
        C, the coordinates of the weights along the marked axes: for isotropic inputs M.
    """

    rest: Array
    overlap: Array


class OrderParameters(Kind):
    """The pair of matrices (Q, M), kept as nested tuples, which can be compared and hashed."""

    accepted = "the pair (Q, M) of finite matrices W W^T and W W*^T"
    type_name = "pair of matrices (Q, M)"
    examples = ((1.0, 0.5), (1.0, (0.5, 0.25)))

    def read(self, value: Any) -> Any:
        """Return the matrices as nested tuples.

        Raises
        ------
        ValueError
            When they are not two finite matrices.
        """
        parts = [np.array(part, dtype=float, ndmin=2) for part in value]
        if len(parts) != 2 or not all(part.ndim == 2 and np.isfinite(part).all() for part in parts):
            raise ValueError
        return tuple(tuple(map(tuple, part.tolist())) for part in parts)

    def parse(self, text: str) -> Any:
        """Return matrices between slashes, rows between semicolons, numbers between commas."""
        matrices = [
            [[float(number) for number in row.split(",")] for row in matrix.split(";")]
            for matrix in text.split("/")
        ]
        return matrices if len(matrices) > 1 else tuple(matrices[0][0])


def start_of(start: Any, p: int, frame: Frame, spherical: bool = False) -> Start:
    """Return the start of p neurons that a user gives.

    Parameters
    ----------
    start : tuple of matrices
        (Q, M), or (Q, M, S) for inputs with spikes, of shapes (p, p), (p, r) and (p, spikes); a
        list stands for a matrix of one row or one column, a number for one of one entry. Without S
        the weights have no part along the spikes except that along the hidden directions.
    p : int
        Number of neurons.
    frame : Frame
        Marked axes of the inputs.
    spherical : bool
        Whether every neuron must have length 1.

    Raises
    ------
    LearnabilityError
        When no weights have these order parameters.
    """
    r, spikes = len(frame.hidden), frame.spikes
    shapes = [(p, p), (p, r), (p, spikes)][: 3 if spikes else 2]
    Q, M, *others = _matrices(start, shapes)
    C = _along_axes(M, others[0], frame) if others else M @ frame.hidden
    rest = Q - C @ C.T
    least = np.linalg.eigvalsh(0.5 * (rest + rest.T))[0]
    if not np.allclose(Q, Q.T) or least < -1e-9 * max(float(np.abs(Q).max()), 1e-300):
        raise LearnabilityError(
            f"`start` was given as {start!r}, for which W W^T minus the part of the overlaps is "
            "not symmetric and positive semi-definite: no weights have these order parameters."
        )
    if spherical and not np.allclose(np.diag(Q), 1):
        raise LearnabilityError(
            f"`start` gives squared lengths {np.diag(Q)}, but weights on the sphere have length 1."
        )
    return Start(0.5 * (rest + rest.T), C)


def _matrices(start: Any, shapes: list[tuple[int, int]]) -> list[Array]:
    try:
        parts = [np.asarray(part, dtype=float) for part in start]
    except (TypeError, ValueError):
        parts = []
    spiked = len(shapes) > 2
    fine = 2 <= len(parts) <= len(shapes) and all(np.isfinite(part).all() for part in parts)
    if fine:
        parts = [
            part.reshape(shape)
            if part.ndim < 2 and 1 in shape and part.size == max(shape)
            else part
            for part, shape in zip(parts, shapes, strict=False)
        ]
        fine = [part.shape for part in parts] == shapes[: len(parts)]
    if not fine:
        names = ("Q = W W^T", "M = W W*^T", "S = W mu^T")[: len(shapes)]
        raise LearnabilityError(
            f"`start` was given as {start!r}, but finite matrices ({', '.join(names)}) of shapes "
            f"{' and '.join(map(str, shapes))} are accepted for {shapes[0][0]} neurons, "
            f"{shapes[1][1]} hidden directions and {shapes[2][1] if spiked else 'no'} spikes."
        )
    return parts


def _along_axes(M: Array, S: Array, frame: Frame) -> Array:
    """Return C from the overlaps with the hidden directions and with the spikes."""
    seen, beside = frame.hidden[:, : frame.spikes], frame.hidden[:, frame.spikes :]
    left = M - S @ seen.T
    values, vectors = np.linalg.eigh(beside)
    inverse = np.where(values > _ALONG, 1 / np.maximum(values, _ALONG), 0.0)
    others = (left @ vectors * inverse) @ vectors.T
    if np.abs(others @ beside - left).max() > 1e-9 * max(float(np.abs(M).max()), 1.0):
        raise LearnabilityError(
            f"`start` was given with W W*^T = {M.tolist()} and W mu^T = {S.tolist()}, but spikes "
            "and hidden directions have a direction in common, along which these differ: the "
            f"cosines of spikes with hidden directions are {seen.T.tolist()}."
        )
    return np.concatenate([S, others], axis=1)


def random_start(seed: int, p: int, frame: Frame, d: int, spherical: bool) -> Start:
    """Return order parameters of rows N(0, I_d / d), without drawing the weights.

    M has independent entries of variance 1 / d, and Q - M M^T = T T^T is a Wishart matrix of d - r
    degrees of freedom, whatever the spikes. The part of the rows orthogonal to the hidden
    directions is T times uniformly random orthonormal rows, and the spikes pick a few columns.

    Parameters
    ----------
    seed : int
        The seed of the run.
    p, d : int
        Number of neurons, and the dimension, at least the number of marked axes.
    frame : Frame
        Marked axes of the inputs.
    spherical : bool
        Whether the rows are then scaled to unit length.
    """
    r, spikes = len(frame.hidden), frame.spikes
    rng = np.random.default_rng([seed, 11])
    M = rng.standard_normal((p, r)) / np.sqrt(d)
    T = _wishart_root(rng, p, d - r)
    rest, length = T @ T.T / d, np.ones(p)
    if spherical:
        length = np.sqrt(np.diag(rest) + (M**2).sum(axis=1))
        rest, M = rest / np.outer(length, length), M / length[:, None]
    if not spikes:
        return Start(rest, M)
    rng = np.random.default_rng([seed, 13])
    beside = rng.standard_normal((T.shape[1], spikes))
    others = _wishart_root(rng, len(beside), d - r - spikes)
    columns = np.linalg.solve(np.linalg.cholesky(beside @ beside.T + others @ others.T), beside)
    N = T @ columns / (np.sqrt(d) * length[:, None])
    axes = np.concatenate([frame.hidden, complement(frame.hidden, r + spikes)])
    return Start(rest - N @ N.T, np.concatenate([M, N], axis=1) @ axes)


def _wishart_root(rng: np.random.Generator, p: int, freedom: int) -> Array:
    """Return a lower triangular root (p, min(p, freedom)) of a Wishart matrix."""
    columns = min(p, freedom)
    factor = np.tril(rng.standard_normal((p, columns)), -1)
    diagonal = np.arange(columns)
    factor[diagonal, diagonal] = np.sqrt(rng.chisquare(freedom - diagonal))
    return factor


def root_of(C: Array) -> Array:
    """Return the symmetric root of a positive matrix; eigenvalues below zero count as zero."""
    values, vectors = np.linalg.eigh(C)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def weights_at(rng: np.random.Generator, axes: NDArray[Any], start: Start) -> Array:
    """Return random weights (p, d) with the order parameters of a start.

    Parameters
    ----------
    rng : numpy Generator
        The generator of the part outside the axes.
    axes : array, shape (k, d)
        The marked axes, or the hidden directions alone; orthonormal rows.
    start : Start
        The order parameters; the rank of `rest` is at most d - k.
    """
    axes = np.asarray(axes, dtype=float)
    p, (k, d) = len(start.rest), axes.shape
    free = rng.standard_normal((p, d))
    free -= (free @ axes.T) @ axes
    basis, upper = np.linalg.qr(free.T)
    count = min(p, d - k)
    values, vectors = np.linalg.eigh(start.rest)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    root = root @ vectors.T if count == p else root[:, p - count :]
    frame = (basis * np.sign(np.diag(upper))).T[:count]
    return np.asarray(start.overlap @ axes + root @ frame, dtype=float)


def typical_correlation(frame: Frame, d: int) -> float:
    """Return the median over random w of |rho|, with rho = corr(w.x, argument of the label).

    With standard normal c along the marked axes, rho = sum_j to_label_j scale_j c_j / sqrt(d +
    sum_j (scale_j^2 - 1) c_j^2) in large dimension d; given c along the spikes, rho is normal.

    Parameters
    ----------
    frame : Frame
        Marked axes of inputs with one hidden direction.
    d : int
        Dimension.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr
    from scipy.stats import chi2

    pull, surplus = frame.to_label[0] * frame.scale, frame.scale**2 - 1
    spread = float(np.linalg.norm(pull[frame.spikes :]))
    square = float(chi2.ppf(0.5, 1))
    if frame.spikes == 0:
        return math.sqrt(square / d)
    if frame.spikes == 1 and spread <= _ALONG:  # rho^2 grows with c^2.
        return math.sqrt(pull[0] ** 2 * square / (d + surplus[0] * square))
    if frame.spikes == 1:
        c = np.linspace(-8.0, 8.0, 4001)[:, None]
        weights = np.exp(-0.5 * c[:, 0] ** 2)
        weights /= weights.sum()
    else:
        c = sobol_normals(frame.spikes, 15, 0)
        weights = np.full(len(c), 1 / len(c))
    mean = c @ pull[: frame.spikes]
    length = np.sqrt(d + c**2 @ surplus[: frame.spikes])

    def excess(rho: float) -> float:
        high, low = (rho * length - mean), (-rho * length - mean)
        if spread <= _ALONG:
            share = ((high >= 0) & (low <= 0)).astype(float)
        else:
            share = ndtr(high / spread) - ndtr(low / spread)
        return float(weights @ share) - 0.5

    return float(brentq(excess, 0.0, 1.0, xtol=1e-12))
