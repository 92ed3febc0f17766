"""Errors of the readout of one given first layer, whatever its neurons share.

After a step on a batch, the rows of W share more than the spike: the rest of row j is
w_j + step (1/n) sum_i e_i (sigma'(w_j . x_i) - s_1) x_i, Gaussian given the batch with the
covariance (I + step s_2 A)^2 / d + step^2 (Var sigma' - s_2^2) B / d in proportion, where
A = (1/n) sum_i e_i x_i x_i^T, B = (1/n) (d/n) sum_i e_i^2 x_i x_i^T and s_2 = E sigma''. It is far
from a multiple of the identity when the batch is small or s_2 is not zero. So W itself is used.

With v the direction of the spike and kappa = v . x, the features of the neurons with sign g are
equivalent to Gaussian ones given kappa: for r_j = w_j . v and c_j^2 the rest of |w_j|^2,

    mu0 + mu1 kappa (r_j - r) + (d mu0 / d c^2) (c_j^2 - c^2) + mu1 w_j . x_perp + mu2 xi_j,

one set of functions mu for each sign, xi_j independent except in pairs of equal starts. Ridge
regression on n samples whose features have means M phi(kappa) and covariances C(kappa) / p, where
C = sum_a c_a(kappa) G_a, has the deterministic equivalent

    Q^-1 = ridge + (n / p) E[C / (1 + V)],    V(kappa) = Tr(C Q) / p,

the readout of mean (Q^-1 + (n / p) M E[phi phi^T / (1 + V)] M^T)^-1 (n / p^(1/2)) E[cov / (1 + V)],
and at kappa the squared error D = B + (n / p^2) Tr(C Q E[C D / (1 + V)^2] Q), B that of the mean
readout. The test error is E[D] and the training error E[D / (1 + V)^2].

References
----------
Louart, Couillet, arXiv:1805.08295 (equivalents of such resolvents); Dandi, Pesce, Cui, Krzakala,
Lu, Loureiro, arXiv:2410.18938.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.learners.giant._conditional import (
    features_given,
    frame_along,
    kappa_rule,
    labels_given,
    paired_rest,
)
from learnability.learners.giant._limit_errors import Errors, Labels
from learnability.learners.giant._network import Network, Parameters
from learnability.targets.base import Target

__all__ = ["Layer", "given_layer", "layer_errors"]

Array = NDArray[np.float64]


class Layer(NamedTuple):
    """What the readout sees of a first layer and a target.

    Attributes
    ----------
    weights : array, shape (k,)
        Of the nodes of kappa.
    coefficients : array, shape (m, k)
        c_a at the nodes.
    matrices : array, shape (m, p, p)
        G_a.
    modes : array, shape (p, l)
        M.
    values : array, shape (l, k)
        phi at the nodes.
    labels : Labels
        Moments of the label at the nodes.
    along : array, shape (g, k)
        mu1 of each group of neurons.
    hidden : array, shape (g, h, p)
        W_perp of each group times the hidden directions beside v; zero for other neurons.
    """

    weights: Array
    coefficients: Array
    matrices: Array
    modes: Array
    values: Array
    labels: Labels
    along: Array
    hidden: Array


def given_layer(
    network: Network, activation: Link, target: Target, hidden: NDArray[Any], paired: bool
) -> Layer:
    """Split a first layer into modes and covariances.

    Parameters
    ----------
    network : Network
        After the step.
    activation : Link
        The function sigma.
    target : Target
        The target.
    hidden : array, shape (r, d)
        Its directions.
    paired : bool
        Whether the second half of the neurons began as the first half did, with other signs.
    """
    W, a, hidden = (np.asarray(part, dtype=np.float64) for part in (*network[:2], hidden))
    v = a @ W
    v /= np.linalg.norm(v)
    seen = hidden @ v
    alignment = float(np.linalg.norm(seen))
    frame = frame_along(target, seen / alignment)
    beside = frame @ hidden
    beside[0] = (beside[0] - alignment * v) / math.sqrt(1 - alignment**2)
    along = W @ v
    rest = W - np.outer(along, v)
    lengths = np.sum(rest**2, axis=1)
    groups = [a == sign for sign in np.unique(a)]
    sizes = [
        Parameters(float(along[g].mean()), alignment, math.sqrt(float(lengths[g].mean())))
        for g in groups
    ]
    rule = kappa_rule(max(abs(one.spike) / one.bulk for one in sizes))
    found = [features_given(activation, one, rule) for one in sizes]
    kappa, weights = rule
    modes, values, coefficients, matrices = [], [], [], []
    for g, size, one in zip(groups, sizes, found, strict=True):
        modes += [g, g * (along - size.spike), g * (lengths - size.bulk**2)]
        values += [one.mean, one.linear * kappa, one.stretch]
        coefficients.append(one.rest)
        matrices.append(np.diag(g.astype(float)))
    for k, g in enumerate(groups):
        for j in range(k + 1):
            block = (rest * g[:, None]) @ (rest * groups[j][:, None]).T
            coefficients.append(found[k].linear * found[j].linear)
            matrices.append(block if j == k else block + block.T)
    if paired:
        half = len(a) // 2
        shared = float(np.mean(np.sum(rest[:half] * rest[half:], axis=1)))
        coefficients.append(paired_rest(activation, sizes, found, shared))
        matrices.append(np.roll(np.eye(len(a)), half, axis=0))
    labels = labels_given(target, seen / alignment, alignment, kappa)
    return Layer(
        weights,
        np.array(coefficients),
        np.array(matrices),
        np.array(modes, dtype=float).T,
        np.array(values),
        labels,
        np.array([one.linear for one in found]),
        np.array([(g[:, None] * (rest @ beside.T)).T for g in groups]),
    )


def layer_errors(layer: Layer, n: int, ridge: float) -> Errors:
    """The errors of ridge regression on n samples.

    Parameters
    ----------
    layer : Layer
        The first layer.
    n : int
        Samples.
    ridge : float
        Above zero.
    """
    c, G = layer.coefficients, layer.matrices
    p = G.shape[1]
    Q, V, status = _fixed_point(layer, n, ridge)
    damp = layer.weights / (1 + V)
    # The mean readout.
    M, phi, labels = layer.modes, layer.values, layer.labels
    inverse_modes = Q @ M
    cross = (phi * damp) @ phi.T
    known = M @ (phi @ (damp * labels.mean))
    linear = np.einsum("gk,hk,ghp->p", layer.along * damp, labels.linear, layer.hidden)
    right = Q @ (known + linear)
    # Woodbury, as the modes may have no weight at all.
    inner = np.eye(len(cross)) + n / p * cross @ (M.T @ inverse_modes)
    mean = right - n / p * inverse_modes @ np.linalg.solve(inner, cross @ (M.T @ right))
    mean *= n / math.sqrt(p)
    # Its error given kappa.
    fitted = (M.T @ mean) @ phi / math.sqrt(p)
    learned = np.einsum("ghp,p->gh", layer.hidden, mean) / math.sqrt(p)
    noise = np.einsum("apq,p,q->a", G, mean, mean, optimize=True) / p @ c
    base = labels.square - 2 * fitted * labels.mean + fitted**2 + noise
    base -= 2 * np.einsum("gk,gh,hk->k", layer.along, learned, labels.linear)
    # What the fluctuations of the readout add.
    moved = [Q @ one for one in G]
    kernel = n / p**2 * np.array([[np.sum(x * y.T) for y in moved] for x in moved])
    squared = damp / (1 + V)
    amounts = np.linalg.solve(np.eye(len(c)) - (c * squared) @ c.T @ kernel, c @ (squared * base))
    error = base + c.T @ (kernel @ amounts)
    return Errors(float(layer.weights @ error), float(squared @ error), status)


def _fixed_point(layer: Layer, n: int, ridge: float) -> tuple[Array, Array, str]:
    """The resolvent Q, V at the nodes and whether they were reached."""
    from scipy.optimize import root

    c, G = layer.coefficients, layer.matrices
    p = G.shape[1]
    flat = G.reshape(len(G), -1)

    def resolvent(V: Array) -> Array:
        shares = n / p * (c @ (layer.weights / (1 + V)))
        system = (shares @ flat).reshape(p, p)
        system[np.diag_indices(p)] += ridge
        return np.asarray(np.linalg.inv(system))

    def image(traces: Array) -> Array:
        Q = resolvent(np.maximum(traces @ c, 0.0))
        return np.asarray(flat @ Q.ravel() / p)

    traces = np.array([np.trace(one) for one in G]) / p / (ridge + n / p)
    for _ in range(4):
        traces = image(traces)
    scale = np.abs(traces).max()

    def gap_of(x: Array) -> Array:
        return np.asarray(image(scale * x) / scale - x)

    found = root(gap_of, traces / scale, tol=1e-9)
    traces = scale * found.x
    V = np.maximum(traces @ c, 0.0)
    Q = resolvent(V)
    gap = np.abs(flat @ Q.ravel() / p - traces).max() / scale
    return Q, V, "converged" if gap < 1e-6 else "stopped"
