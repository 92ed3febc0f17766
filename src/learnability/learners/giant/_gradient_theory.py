"""Theory of the first gradient: its part along the hidden directions, and its outliers.

A neuron w ~ N(0, I / d) with bias b moves along G = (1/n) sum_i e_i sigma'(w . x_i + b) x_i, with
e = y - f before the step. The inputs have standardised coordinates c along the relevant axes,
x = sum_l scale_l c_l e_l + ..., and at most one of these, u, is long. With omega = sqrt(d) <w, e_u>
and t = scale_u^2 / d,

    m1(u) = E_v sigma'(sqrt(t) omega u + v + b),  m11 = E_v sigma'^2,  md = E_v sigma'',

the components of G along the axes have, over neurons and samples, the second moments

    M = E[g g^T] + Cov(e c sigma') / n + (1/d) sum_i E[q_i q_i^T],
    g_l = scale_l E[e c_l m1],  q_il = scale_l E[e c_l c_i md],

with i over the axes that are not long, along which a field moves by omega_i c_i / sqrt(d). The part
of G orthogonal to these k axes has the squared length (d - k) / n E[e^2 m11] + E[e md]^2.

Means over samples are taken over a given training set or over the law of the inputs. f is
the mean of sigma over neurons when all signs are 1, and 0 otherwise. The matrix of all neurons is
of low rank up to noise: m1 = sum_m s_m p_m(u) q_m(omega, b), and

    R_ml = s_m s_l [sum_axes scale^2 E[e c p_m] E[e c p_l] + (d - k) / n E[e^2 p_m p_l]]

has as eigenvalues the squares of its singular values over p, without the noise, whose variance is
(1 / n) E[e^2 (m11 - m1^2)] per entry. The edge of that noise is not the one of independent entries,
so that singular values near it are not predicted.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, NeurIPS 2023; Benaych-Georges, Nadakuditi, J. Multivar. Anal. 111
(2012) (outliers).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import (
    composite_legendre,
    gauss_normal,
    product_grid,
    sobol_normals,
)
from learnability.gaussian.sections import Section, complement
from learnability.inputs import Frame
from learnability.labels.link import Link
from learnability.learners.giant._outlier import outlier
from learnability.targets.base import Target
from learnability.theory.shifted_moments import tabulated_moments

__all__ = ["Axes", "Points", "Prediction", "gradient_theory", "law_of_inputs", "seen_axes"]

Array = NDArray[np.float64]

_REACH = 7.0
_TINY = 1e-6
_NEURONS, _BIASES, _OTHERS = 24, 18, 24  # Numbers of nodes; long axes take more.
_LOG_POINTS, _SETS = 12, 8
_OUTLIERS = 4  # Number of outliers sought; those that do not exist are given at the edge.


class Axes(NamedTuple):
    """The relevant axes: the long ones, and those of the others on which the label depends.

    Attributes
    ----------
    frame : Frame
        The frame of these axes alone.
    turn : array, shape (k, marked)
        Orthonormal rows: the axes in terms of the marked ones.
    """

    frame: Frame
    turn: Array


class Points(NamedTuple):
    """Samples of a training set, or nodes of the law of the inputs.

    Attributes
    ----------
    c : array, shape (N, k)
        Standardised coordinates along the axes.
    y : array, shape (N,)
        Labels.
    weights : array, shape (N,)
        Weights that sum to one.
    noise : array, shape (N,)
        Variance of the label around y.
    sampled : bool
        Whether these are the samples themselves.
    """

    c: Array
    y: Array
    weights: Array
    noise: Array
    sampled: bool


class Prediction(NamedTuple):
    """A prediction of the gradient.

    Attributes
    ----------
    alignment : float
        Share of sum_j |G_j|^2 along the hidden directions.
    norm : float
        Mean of |G_j|^2.
    correlation : float
        Share of the variance of the fields G_j . x that the hidden coordinates explain.
    outliers, overlaps : array, shape (4,)
        Singular values of G, and squared projections of their right vectors on the hidden
        directions.
    """

    alignment: float
    norm: float
    correlation: float
    outliers: Array
    overlaps: Array


def seen_axes(frame: Frame) -> Axes:
    """Return the relevant axes; of those that are not long, as few as the label needs."""
    eye, long = np.eye(len(frame.scale)), frame.scale != 1.0
    _, size, rows = np.linalg.svd(np.where(long, 0.0, frame.to_label))
    turn = np.vstack([eye[long], rows[: len(size)][size > _TINY]])
    scale = np.concatenate([frame.scale[long], np.ones(len(turn) - int(long.sum()))])
    kept = Frame(scale, frame.to_label @ turn.T, frame.hidden @ turn.T, int(long.sum()))
    return Axes(kept, turn)


def law_of_inputs(target: Target, frame: Frame) -> list[Points]:
    """Return nodes of the law of the inputs; several randomised sets for several hidden directions.

    Parameters
    ----------
    target : Target
        A target with normal inputs.
    frame : Frame
        The frame of the relevant axes.
    """
    r, k = frame.to_label.shape
    if r > 1:
        sets = [sobol_normals(k, _LOG_POINTS, seed) for seed in range(_SETS)]
        return [_labelled(target, frame, c, np.full(len(c), 1 / len(c))) for c in sets]
    breaks = Section.whole(target.link).breakpoints
    edges = np.concatenate([[-_REACH], breaks[np.abs(breaks) < _REACH], [_REACH]])
    h, weights = composite_legendre(edges, 1.0, 12)
    weights = weights * np.exp(-0.5 * h**2)
    other, shares = product_grid([gauss_normal(np.zeros(0), _OTHERS)] * (k - 1))
    c = np.repeat(h[:, None] @ frame.to_label, len(other), axis=0)
    if k > 1:
        c += np.tile(other, (len(h), 1)) @ complement(frame.to_label, k)
    weights = np.outer(weights / weights.sum(), shares).ravel()
    return [_labelled(target, frame, c, weights)]


def _labelled(target: Target, frame: Frame, c: Array, weights: Array) -> Points:
    z = c @ frame.to_label.T
    y = np.asarray(target.link(z), dtype=float)
    return Points(c, y, weights, target.channel.variance(z), False)


class _Slopes(NamedTuple):
    """Means over v at points and nodes of the neurons: sigma, sigma', sigma'', sigma'^2."""

    shares: Array
    m0: Array
    m1: Array
    md: Array
    m11: Array


def _slopes(points: Points, activation: Link, bias: float, frame: Frame, d: int) -> _Slopes:
    long = np.flatnonzero(frame.scale != 1.0)
    roots = frame.scale[long] / math.sqrt(d)
    sizes = [_NEURONS + round(40 * min(float(root), 2.0)) for root in roots]
    sizes += [_BIASES] * (bias > 0)
    neurons, shares = product_grid([gauss_normal(np.zeros(0), size) for size in sizes])
    z = np.zeros((len(points.c), len(neurons)))
    for k, axis in enumerate(long):
        u = np.clip(points.c[:, axis], -_REACH, _REACH)
        z += roots[k] * np.outer(u, neurons[:, k])
    if bias > 0:
        z += bias * neurons[:, -1]
    reach = math.ceil(float(np.abs(z).max()) / 4 + 0.1) * 4.0
    moments = np.asarray(tabulated_moments(activation, reach, 1.0, 2)(z))
    m11 = np.asarray(tabulated_moments(activation.derivative(), reach, 1.0, 0, 2)(z))[0]
    return _Slopes(shares, moments[0], moments[1], moments[2], m11)


def gradient_theory(
    points: Points,
    activation: Link,
    bias: float,
    init: str | tuple[float, ...],
    frame: Frame,
    n: int,
    p: int,
    d: int,
) -> Prediction:
    """Predict the gradient on n samples of p neurons.

    Parameters
    ----------
    points : Points
        A training set, or the law of the inputs.
    activation : Link
        The function sigma.
    bias : float
        Standard deviation of the biases.
    init : str
        The law of the signs: f is the mean of sigma for "ones", and 0 otherwise.
    frame : Frame
        The relevant axes, of which at most one is long.
    n, p, d : int
        Samples, neurons, dimension.
    """
    slopes = _slopes(points, activation, bias, frame, d)
    shares, m1, md = slopes.shares, slopes.m1, slopes.md
    e = points.y - (slopes.m0 @ shares if init == "ones" else 0.0)
    square = points.weights * (e**2 + points.noise)
    pull, c = (points.weights * e)[:, None], points.c
    k = c.shape[1]
    means = (pull * c).T @ m1
    outer = (means * shares) @ means.T
    spread = slopes.m11 @ shares - (m1**2 @ shares if points.sampled else 0.0)
    own = (c * (square * spread)[:, None]).T @ c
    M = outer + (own - (0.0 if points.sampled else outer)) / n
    short = np.flatnonzero(frame.scale == 1.0)
    for axis in short:
        moved = (pull * c[:, [axis]] * c).T @ md
        M = M + (moved * shares) @ moved.T / d
    M = M * np.outer(frame.scale, frame.scale)
    beside = (d - k) / n * float(square @ (slopes.m11 @ shares))
    beside += (1 - len(short) / d) * float((pull[:, 0] @ md) ** 2 @ shares)
    norm = float(np.trace(M)) + beside
    copies = 2 if init == "symmetric" else 1
    stretched = M * np.outer(frame.scale, frame.scale)
    explained = float(np.trace(frame.to_label @ stretched @ frame.to_label.T))
    return Prediction(
        float(np.trace(frame.hidden @ M @ frame.hidden.T)) / norm,
        norm,
        min(explained / (float(np.trace(stretched)) + beside), 1.0),
        *_outliers(points, pull, square, slopes, frame, n, p, d, copies),
    )


def _outliers(
    points: Points,
    pull: Array,
    square: Array,
    slopes: _Slopes,
    frame: Frame,
    n: int,
    p: int,
    d: int,
    copies: int,
) -> tuple[Array, Array]:
    """Return singular values and overlaps; every row appears `copies` times."""
    shares, m1, c = slopes.shares, slopes.m1, points.c
    # The functions q_m of (omega, b) are eigenvectors of the Gram matrix, which is small.
    gram = (points.weights[:, None] * m1).T @ m1
    values, vectors = np.linalg.eigh(np.sqrt(np.outer(shares, shares)) * gram)
    kept = values > 1e-9 * values.max()
    functions = m1 @ (np.sqrt(shares)[:, None] * vectors[:, kept])  # s_m p_m(u)
    on_axes = frame.scale[:, None] * ((pull * c).T @ functions)
    noise = (d - c.shape[1]) / n * (functions * square[:, None]).T @ functions
    powers, turns = np.linalg.eigh(on_axes.T @ on_axes + noise)
    bulk = math.sqrt(max(d / n * float(square @ ((slopes.m11 - m1**2) @ shares)), 0.0))
    rows, double = p / copies, math.sqrt(copies)
    found = [double * bulk * outlier(0.0, rows / d).value] * _OUTLIERS
    overlaps = [0.0] * _OUTLIERS
    pairs = zip(powers[::-1][:_OUTLIERS], turns.T[::-1], strict=False)
    for j, (power, turn) in enumerate(pairs):
        strength = math.sqrt(rows * max(power, 0.0))
        one = outlier(strength / max(bulk, 1e-12 * strength, 1e-300), rows / d)
        found[j] = double * max(bulk, 1e-12 * strength) * one.value
        along = frame.hidden @ (on_axes @ turn)
        overlaps[j] = float(along @ along) / max(power, 1e-300) * one.right
    return np.array(found), np.array(overlaps)
