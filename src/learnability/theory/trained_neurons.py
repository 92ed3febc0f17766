"""Neurons that know a subspace, and neurons after giant steps in dimension d: their law.

A neuron has coordinates u along the r hidden directions and a rest of length c in the others. It
begins as w ~ N(0, I / d). A step of size s on n fresh samples moves it by s a times the gradient;
with h = w . x, and y - f the label without what the network says, in large dimension

    u <- u + s a E[(y - f) sigma'(h) z],
    c^2 <- c^2 (1 + s a E[(y - f) sigma''(h)])^2 + s^2 a^2 (d / n) E[(y - f)^2 sigma'(h)^2],

with a the standard normal second layer and f(z) = E[a sigma(h) | z] the mean over all neurons. The
samples also move all neurons along z by s a times a noise that they share, whose typical value
E[(y - f)^2 E[sigma'(h) | z]^2 z^2]^(1/2) n^(-1/2) is taken with both signs; the rest of the noise
along z goes with what the neurons see of the other directions and shows them nothing new of z. The
noise that they share in the other directions, s a ((d / n) E[(y - f)^2 E[sigma'(h) | z]^2])^(1/2)
along one direction for each step, is a coordinate of its own and no part of c. Left out is f before
the first step, of order p^(-1/2).

References
----------
Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25 (2024).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.quadrature import axis_breaks, rules_for
from learnability.gaussian.rules import sobol_normals
from learnability.gaussian.sections import Section
from learnability.labels.link import Link
from learnability.theory.shifted_moments import moments_by_width

__all__ = ["Neurons", "drawn_neurons", "knowing_neurons", "trained_neurons"]

Array = NDArray[np.float64]

_LOG_NEURONS, _LOG_TRAINED = 9, 8
_MOST_NODES, _LOG_POINTS = 40_000, 13
_BLOCK, _MOST_LONG = 4096, 2


class Neurons(NamedTuple):
    """Points of a law of neurons.

    Attributes
    ----------
    hidden : array, shape (m, r)
        Coordinates along the hidden directions.
    rest : array, shape (m,)
        Lengths in the other directions.
    shared : array, shape (m, t)
        Coordinates along directions of noise that all neurons share.
    """

    hidden: Array
    rest: Array
    shared: Array

    def half(self) -> Neurons:
        """Return the first half of the points, whose errors tell how many are enough."""
        count = len(self.rest) // 2
        return Neurons(self.hidden[:count], self.rest[:count], self.shared[:count])

    def longest(self) -> float:
        """Return the largest length along a hidden direction, over that of the rest."""
        lengths = np.sqrt(np.mean(self.hidden**2, axis=0))
        return float(lengths.max() / np.sqrt(np.mean(self.rest**2)))

    def largest(self) -> float:
        """Return the length of the longest neuron."""
        squares = np.sum(self.hidden**2, axis=1) + np.sum(self.shared**2, axis=1) + self.rest**2
        return float(np.sqrt(squares.max()))


def knowing_neurons(known: Array, d: int, strength: float) -> Neurons:
    """Return random neurons of unit length with a normal part in a subspace beside it.

    Parameters
    ----------
    known : array, shape (k, r)
        Orthonormal rows of the subspace.
    d : int
        Dimension.
    strength : float
        Length along each direction of the subspace.
    """
    k, r = known.shape
    drawn = sobol_normals(max(k + r, 1), _LOG_NEURONS, seed=0)
    other = drawn[:, k:] / math.sqrt(d)
    other -= (other @ known.T) @ known
    rest, nothing = np.full(len(drawn), _rest(d, r)), np.zeros((len(drawn), 0))
    return Neurons(strength * drawn[:, :k] @ known + other, rest, nothing)


def trained_neurons(
    link: Link, activation: Link, sizes: tuple[int, float], step: float, steps: int, noise: float
) -> Neurons:
    """Return neurons after giant steps with a standard normal second layer.

    Parameters
    ----------
    link, activation : Link
        The target function and sigma.
    sizes : tuple
        The dimension d, and the samples n of one step.
    step : float
        The size s of a step, the learning rate over the number of neurons.
    steps : int
        Number of steps, each on fresh samples.
    noise : float
        Variance of the label noise.
    """
    from scipy.special import chdtri, ndtr

    (d, n), r = sizes, link.r
    drawn = sobol_normals(r + 3, _LOG_TRAINED, seed=0)
    a, u, signs = drawn[:, r], drawn[:, :r] / math.sqrt(d), np.sign(drawn[:, r + 1 : r + 2])
    c = np.sqrt(chdtri(max(d - r, 1), ndtr(-drawn[:, r + 2])) / d)
    z, weights = _points(link)
    y = np.asarray(link(z), dtype=float)
    slope = activation.derivative()
    shared: list[Array] = []
    for count in range(steps):
        fields = z @ u.T
        widths = np.sqrt(c**2 + sum(one**2 for one in shared))
        value, first, second = moments_by_width(activation, fields, widths, 2)
        error = y - (value @ a / len(a) if count else 0.0)
        spread = (weights * (error**2 + noise))[:, None]
        all_noise = spread.T @ moments_by_width(slope, fields, widths, 0, power=2)[0]
        common = spread * first**2
        scatter = signs * np.sqrt(common.T @ z**2 / n)
        u = u + step * a[:, None] * (((weights * error)[:, None] * first).T @ z + scatter)
        turn = 1 + step * a * ((weights * error) @ second)
        size, others = (step * a) ** 2 * (d - r) / n, common.sum(axis=0)
        shared = [one * turn for one in shared]
        c = np.sqrt((c * turn) ** 2 + size * np.maximum(all_noise[0] - others, 0.0))
        shared.append(step * a * np.sqrt((d - r) / n * others))
    return Neurons(u, c, np.array(shared).T.reshape(len(a), steps))


def drawn_neurons(
    link: Link,
    activation: Link,
    sizes: tuple[int, float, float],
    step: float,
    steps: int,
    noise: float,
    seed: int,
) -> Neurons:
    """Return neurons after giant steps on samples that are drawn.

    Parameters
    ----------
    link, activation : Link
        The target function and sigma.
    sizes : tuple
        The dimension d, the samples n of one step and the number p of neurons, which matters for
        what the network says before the first step. The product n d is the cost.
    step, steps, noise
        As in `trained_neurons`.
    seed : int
        Seed of the draw.
    """
    (d, n, p), r = sizes, link.r
    m = min(max(round(p), 2), 2**_LOG_TRAINED)
    rng = np.random.default_rng([seed, d])
    a = rng.standard_normal(m)
    W = rng.standard_normal((m, d)) / math.sqrt(d)
    slope, count = activation.derivative(), max(round(n), 1)
    for k in range(steps):
        gradient = np.zeros((m, d))
        for start in range(0, count, _BLOCK):
            x = rng.standard_normal((min(_BLOCK, count - start), d))
            fields = (x @ W.T)[..., None]
            said = np.asarray(activation(fields), dtype=float) @ a / m
            y = np.asarray(link(x[:, :r]), dtype=float)
            y += math.sqrt(noise) * rng.standard_normal(len(x))
            # Fewer or more neurons than these say more or less before they have learned anything.
            error = y - (said if k else said * math.sqrt(m / p))
            gradient += (error[:, None] * np.asarray(slope(fields), dtype=float)).T @ x
        W = W + step / count * a[:, None] * gradient
    hidden, rest = W[:, :r], W[:, r:]
    if not np.isfinite(W).all():
        return Neurons(hidden, np.full(m, math.inf), np.zeros((m, 0)))
    long = np.linalg.svd(rest, full_matrices=False)[2][: min(steps, _MOST_LONG)].T
    shared = rest @ long
    return Neurons(hidden, np.sqrt(np.sum((rest - shared @ long.T) ** 2, axis=1)), shared)


def _rest(d: int, r: int) -> float:
    return math.sqrt(max(d - r, 1) / d)


def _points(link: Link) -> tuple[Array, Array]:
    """Return nodes (K, r) of the normal law, and their weights."""
    section = Section.whole(link)
    if link.r <= 3 and axis_breaks(section) is not None:
        rule = rules_for(section, link.r, constant=True)[0][0]
        if len(rule.outer) <= _MOST_NODES:
            return rule.outer, rule.outer_weights
    half = sobol_normals(link.r, _LOG_POINTS, seed=0)
    return np.vstack([half, -half]), np.full(2 * len(half), 0.5 / len(half))
