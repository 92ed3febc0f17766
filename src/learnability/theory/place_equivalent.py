"""Errors of ridge regression where leverages depend on the place of inputs and on the neuron.

These are the equations of `length_equivalent` for neurons of any law: a sample that is left out has
a leverage l and the weight u = 1 / (ridge + l), a neuron has h and v = 1 / (1 + h). Places
(`placed_features`) and neurons are put into classes in which these are the same, so that everything
follows from a few small matrices by degree and class. With radial parts S_a = Q_a T_a, n samples
and p neurons,

    K_a = sum_c v_c T_ac ,   A_a = sum_c n u_c Q_ac ,   M_a = (K_a^(-1) + A_a)^(-1) ,

where Q_ac and T_ac hold the second moments of rows of Q_a and of columns of T_a in the class c,

    l_c = sum_a N_a Tr(M_a Q_ac) / P_c ,   h_c = sum_a N_a Tr(A_a E_a T_ac) / (P_c p) ,

E_a = M_a K_a^(-1) and P_c the probability of the class. Mean squared errors of samples and fields
of neurons pass on to one another by the mean squares of the same matrices. Classes of places have
equal shares of probability and of the square of the label; those of neurons have equal sizes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.theory.placed_features import Placed

__all__ = ["Classes", "best_error", "in_classes"]

Array = NDArray[np.float64]

_PLACES, _NEURONS = 8, 8
_LEARNED, _ROUNDING = 1e-3, 1e-28
"""Functions of a smaller share n times their weight over that of the finer degrees join these."""
_NEWTON, _DAMPED, _SETTLED = 40, 2000, 1e-5
_RIDGES, _LEAST, _NEAR = 12, 1e-6, 0.1


class Classes(NamedTuple):
    """Features and target by classes of places and of neurons.

    Attributes
    ----------
    places, neurons : array
        Probabilities of the classes.
    blocks : tuple of (float, array, array)
        N_a and the matrices Q_ac and T_ac, by degree.
    tail : array, shape (places, neurons)
        Mean square of the features beyond these.
    along : array, shape (places, k)
        Means of the target with the rows of Q_0, times the probability.
    squares : array, shape (places,)
        Mean square of the target.
    """

    places: Array
    neurons: Array
    blocks: tuple[tuple[float, Array, Array], ...]
    tail: Array
    along: Array
    squares: Array


def in_classes(placed: Placed, samples: float) -> Classes:
    """Return features and target by classes, for at most so many samples.

    Parameters
    ----------
    placed : Placed
        What `placed_features` returns.
    samples : float
        The number n.
    """
    P, m = placed.weights, placed.power.shape[1]
    mass = P / P.sum() + P * placed.label**2 / max(float(P @ placed.label**2), 1e-300)
    inputs = _equal(placed.distances, mass, _PLACES)
    others = _equal(P @ placed.power, np.ones(m), _NEURONS)
    places = np.asarray(np.bincount(inputs, P), dtype=float)
    neurons = np.asarray(np.bincount(others, np.full(m, 1 / m)), dtype=float)
    chosen = [inputs == c for c in range(len(places))]
    picked = [others == c for c in range(len(neurons))]
    root = np.sqrt(P)
    both = np.outer(places, neurons)
    mean = np.array([[P[one] @ placed.power[one][:, two].sum(axis=1) / m for two in picked]
                     for one in chosen])  # fmt: skip
    factors = [_factors(S * (root / math.sqrt(m))[:, None]) for S in placed.radial]
    power = float(mean.sum())
    weight = max(power - sum(N * s @ s for N, (s, _) in zip(placed.sizes, factors, strict=True)), 0)
    blocks, tail, along = [], mean, np.zeros(0)
    for a, (N, S, (s, V)) in enumerate(zip(placed.sizes, placed.radial, factors, strict=True)):
        seen = s**2 > max(_LEARNED * weight / samples, _ROUNDING * s[0] ** 2)
        V = V[seen]
        Q = (S @ V.T) * (root / math.sqrt(m))[:, None]
        by_place = np.array([Q[one].T @ Q[one] for one in chosen])
        by_neuron = np.array([V[:, two] @ V[:, two].T for two in picked])
        blocks.append((float(N), by_place, by_neuron))
        tail = tail - N * np.einsum("cij,dij->cd", by_place, by_neuron)
        if a == 0:
            along = np.array([(root[one] * placed.label[one]) @ Q[one] for one in chosen])
    squares = np.bincount(inputs, P * placed.label**2) / places
    tail = np.where(tail > 1e-10 * mean, tail, 0.0) / both
    return Classes(places, neurons, tuple(blocks), tail, along, squares)


def _equal(values: Array, mass: Array, count: int) -> NDArray[np.intp]:
    """Return classes of about equal mass along a value."""
    order = np.argsort(values, kind="stable")
    before = (np.cumsum(mass[order]) - 0.5 * mass[order]) / mass.sum()
    found = np.empty(len(values), dtype=int)
    found[order] = np.minimum(before * count, count - 1)
    return np.asarray(np.unique(found, return_inverse=True)[1])


def _factors(rows: Array) -> tuple[Array, Array]:
    """Return singular values and right vectors."""
    _, s, V = np.linalg.svd(np.linalg.qr(rows, mode="r"), full_matrices=False)
    return s, V


def best_error(classes: Classes, n: float, p: float, noise: float) -> float:
    """Return the mean squared error at the best ridge; NaN where no ridge has a solution.

    Parameters
    ----------
    classes : Classes
        What `in_classes` returns.
    n, p : float
        Numbers of samples and neurons.
    noise : float
        Variance of the label noise.
    """
    from scipy.optimize import minimize_scalar

    found: dict[float, float] = {}
    weights: list[Array | None] = [None]

    def error(log_ridge: float) -> float:
        if log_ridge not in found:
            value, start = _error(classes, n, p, noise, math.exp(log_ridge), weights[0])
            found[log_ridge] = value
            weights[0] = start
        return found[log_ridge]

    power = max(float(classes.places @ _power(classes)), 1.0)
    grid = np.linspace(math.log(10 * n * power), math.log(_LEAST * min(n, 1.0)), _RIDGES)
    values = []
    for x in grid:
        values.append(error(float(x)))
        if len(values) > 2 and values[-1] > values[-2] > values[-3]:
            break
    k = int(np.argmin(values))
    if not math.isfinite(values[k]):
        return math.nan
    low, high = grid[min(k + 1, len(grid) - 1)], grid[max(k - 1, 0)]
    minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": _NEAR})
    return min(found.values())


def _power(classes: Classes) -> Array:
    """Return the mean square of the features by class of places."""
    found = classes.tail @ classes.neurons
    for N, Q, T in classes.blocks:
        found = found + N * np.einsum("cij,dij->c", Q, T) / classes.places
    return np.asarray(found)


class _State(NamedTuple):
    """Leverages, the matrices that pass errors on, and M_0 and A_0."""

    below: Array
    above: Array
    GG: Array
    LL: Array
    HH: Array
    M: Array
    A: Array


def _state(classes: Classes, n: float, p: float, u: Array, v: Array) -> _State:
    places, neurons = classes.places, classes.neurons
    below = classes.tail @ (neurons * v)
    above = (n * places * u) @ classes.tail / p
    GG, LL = np.zeros((len(u), len(u))), classes.tail.copy()
    HH = np.zeros((len(v), len(v)))
    first: tuple[Array, Array] | None = None
    for N, Q, T in classes.blocks:
        K, A = np.tensordot(v, T, 1), np.tensordot(n * u, Q, 1)
        # K is well conditioned, as the v are of one order: E is 1 / (1 + s^2) between its roots.
        C = np.linalg.cholesky(K)
        squares, V = np.linalg.eigh(C.T @ A @ C)
        squares = np.maximum(squares, 0.0)
        left, right = C @ V, np.linalg.solve(C, np.eye(len(K))).T @ V
        E = (left / (1 + squares)) @ right.T
        M = (left / (1 + squares)) @ left.T
        Z = (right * (squares / (1 + squares))) @ right.T
        MQ, ZT = M @ Q, Z @ T
        below = below + N * np.trace(MQ, axis1=1, axis2=2) / places
        above = above + N * np.trace(ZT, axis1=1, axis2=2) / neurons / p
        GG += N * _pairs(MQ, MQ.transpose(0, 2, 1)) / np.outer(places, places)
        HH += N * _pairs(ZT, ZT.transpose(0, 2, 1)) / np.outer(neurons, neurons)
        LL += N * _pairs(E.T @ Q @ E, T) / np.outer(places, neurons)
        first = first or (M, A)
    assert first is not None
    return _State(below, above, GG, LL, HH, *first)


def _pairs(first: Array, second: Array) -> Array:
    return np.asarray(first.reshape(len(first), -1) @ second.reshape(len(second), -1).T)


def _error(
    classes: Classes, n: float, p: float, noise: float, ridge: float, start: Array | None
) -> tuple[float, Array | None]:
    """Return the error, infinite where none is found, and the logarithms of the weights."""
    count = len(classes.places)
    if start is None:
        start = np.concatenate([-np.log(ridge + _power(classes)), np.zeros(len(classes.neurons))])
    logs = _solved(classes, n, p, ridge, start)
    if logs is None:
        return math.inf, None
    u, v = np.exp(logs[:count]), np.exp(logs[count:])
    state = _state(classes, n, p, u, v)
    _, Q, T = classes.blocks[0]
    seen = (n * u) @ classes.along
    fit = state.M @ seen
    bias = noise + classes.squares + (
        np.einsum("i,cij,j->c", fit, Q, fit) - 2 * classes.along @ fit
    ) / classes.places  # fmt: skip
    left = seen - state.A @ fit
    felt = np.einsum("i,cij,j->c", left, T, left) / classes.neurons
    matrix = _passed_on(classes, n, p, state, u**2, v**2)
    found = np.linalg.solve(np.eye(len(logs)) - matrix, np.concatenate([bias, felt]))
    if not (np.isfinite(found).all() and (found >= 0).all()):
        return math.inf, logs
    return float(classes.places @ found[:count]), logs


def _passed_on(
    classes: Classes, n: float, p: float, state: _State, of_u: Array, of_v: Array
) -> Array:
    """Return the matrix by which errors of samples and fields of neurons make one another."""
    own, back = n * classes.places * of_u, classes.neurons * of_v / p
    return np.block([[state.GG * own, state.LL * back], [state.LL.T * own, state.HH * back]])


def _solved(classes: Classes, n: float, p: float, ridge: float, start: Array) -> Array | None:
    """Return logarithms of u and v by Newton's method, or slow steps; None if neither settles."""
    count = len(classes.places)
    logs = start
    for k in range(_NEWTON + _DAMPED):
        u, v = np.exp(logs[:count]), np.exp(logs[count:])
        state = _state(classes, n, p, u, v)
        roots = np.concatenate([ridge + state.below, 1 + state.above])
        gap = logs + np.log(roots)
        if not np.isfinite(gap).all():
            return None
        if float(np.abs(gap).max()) < _SETTLED:
            return np.asarray(logs)
        if k >= _NEWTON:
            logs = logs - 0.5 * gap
            continue
        slopes = _passed_on(classes, n, p, state, u, v) / roots[:, None]
        slopes[:count, count:] *= -p
        slopes[count:, :count] /= -p
        step = np.linalg.solve(np.eye(len(logs)) - slopes, gap)
        size = float(np.abs(step).max())
        # Far from the solution the slow step, which always leads there, is safer.
        logs = logs - (step if size < 1 else 0.5 * gap if size > 30 else step / size)
    return None
