"""Errors of ridge regression where leverages depend on the lengths of inputs and of neurons.

A kernel that is invariant under rotations, or features sigma(w.x) of isotropic weights, has a block
for each angular degree a: N_a harmonics Y_am share the radial kernel kappa_a(r, r'), or the radial
part S_a(r, s) of sigma at lengths r = |x| and s = |w|. A sample that is left out has the leverage
l(r), and the share ridge u(r), u = 1 / (ridge + l), of its error stays once it is put back; a
neuron that is left out has h(s) and v(s) = 1 / (1 + h). With A = diag(n P(r) u(r)) and
B = diag(P(s) v(s)) on nodes of both laws,

    kappa_a = S_a B S_a^T ,   G_a = (kappa_a^(-1) + A)^(-1) ,   L_a = (1 - G_a A) S_a ,
    H_a = S_a^T A L_a ,   l = sum_a N_a diag G_a ,   h = sum_a N_a diag H_a / p .

The fit of a part f_am of the target misses (1 - G_a A) f_am on average. The mean squared error e(r)
of a sample that is left out, and c(s) of the field on a neuron that is, solve

    e = noise + sum_am |(1 - G_a A) f_am|^2 + sum_a N_a (G_a^2 [n P u^2 e] + L_a^2 [P v^2 c] / p) ,
    c = sum_am |S_a^T A (1 - G_a A) f_am|^2 + sum_a N_a (L_a'^2 [n P u^2 e] + H_a^2 [P v^2 c] / p),

squares being entry by entry and ' the transpose. A kernel is v = 1, without c. Degrees too fine to
be learned, of weight tail(r, s) = sum_a N_a S_a^2, have L_a = S_a and nothing else. Where nothing
depends on lengths these are the equations of `equivalent`.

What is left out is of order 1 / n and 1 / p, and is stated as an error: the change from one sample
and one neuron less, and that from leverages which differ at equal length. Sample j lowers the
leverage of sample i by u_j g(t)^2, g = sum_a N_a G_a P_a at the cosine t between them, and neuron j
by v_j g(t)^2 / p with L_a in place of G_a; the variances of these squares add up. Those of degrees
two and three are large, 14 and 92 squared means, where Gaussian features have 2. All that is passed
on, up to the factor 1 / (1 - Y) with Y the largest eigenvalue of the matrix that passes errors on.

References
----------
Defilippis, Loureiro, Misiakiewicz, NeurIPS 2024, arXiv:2405.15699 (without lengths). El Karoui,
Probab. Theory Relat. Fields 170 (2018) (leave-one-out for designs of varying length).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError

__all__ = ["Blocks", "LengthErrors", "Parts", "length_errors"]

Array = NDArray[np.float64]

_FLOOR = 1e-12
"""The least ridge, as a share of the kernel at equal points."""
_PEAK = 1e-5
"""Without a ridge, errors are infinite where as little as this of them is not passed on."""
_NEWTON, _DAMPED = 40, 4000
_SETTLED = 1e-10


class Blocks(NamedTuple):
    """A kernel or random features on nodes of the lengths.

    Attributes
    ----------
    inputs : array, shape (q,)
        Weights of the nodes of |x|, which sum to one.
    sizes : array, shape (a,)
        Numbers N_a of harmonics.
    radial : array, shape (a, q, s)
        The S_a; of a kernel, factors of kappa_a.
    neurons : array, shape (s,), optional
        Weights of the nodes of |w|; None for a kernel.
    tail : array, shape (q, s)
        Weight of all finer degrees; one column for a kernel.
    cosines : tuple of array
        Weights of nodes of the cosine of two directions, and N_a P_a there, shape (a, nodes).
    """

    inputs: Array
    sizes: Array
    radial: Array
    neurons: Array | None
    tail: Array
    cosines: tuple[Array, Array]


class Parts(NamedTuple):
    """A target on nodes of the lengths.

    Attributes
    ----------
    along : array, shape (a, q, k)
        Its parts f_am by angular degree, as k functions of |x| whose squares are summed.
    noise : array, shape (q,)
        Mean square at each length of what no block can learn, noise included.
    """

    along: Array
    noise: Array


class LengthErrors(NamedTuple):
    """Mean squared errors on fresh and on training samples, and what is not known of them.

    They are infinite at the interpolation peak, and NaN where too few samples tell nothing.
    """

    test: float
    train: float
    test_stderr: float
    train_stderr: float


class _Weights(NamedTuple):
    """The u and v, first in the mean and then as roots of the mean of squares."""

    u: Array
    v: Array


class _Fit(NamedTuple):
    """The matrices of the equations above, and squares summed over all harmonics.

    A^(1/2) S B^(1/2) = U s V^T; V stands for V^T B^(-1/2).
    """

    A: Array
    U: Array
    s: Array
    V: Array
    G: Array
    L: Array
    H: Array
    GG: Array
    LL: Array
    HH: Array


def length_errors(
    blocks: Blocks, parts: Parts, samples: float, features: float, ridge: float
) -> LengthErrors:
    """Return the errors of a typical training set and typical neurons.

    Parameters
    ----------
    blocks : Blocks
        The kernel or the features.
    parts : Parts
        The target.
    samples, features : float
        The numbers n and p; p is infinite for a kernel.
    ridge : float
        The ridge, at least zero.

    Raises
    ------
    LearnabilityError
        When the weights u and v are not found.
    """
    own = blocks.tail @ _neurons(blocks) + np.einsum(
        "a,aqs,s->q", blocks.sizes, blocks.radial**2, _all_neurons(blocks)
    )
    none = [np.zeros(1), np.zeros(1)]
    least = max(ridge, _FLOOR * float(blocks.inputs @ own))
    start = _Weights(np.full(len(own), 1 / (least + float(own.max()))), np.ones(_width(blocks)))
    weights = _solved(blocks, samples, features, least, start, none)
    fit = _fit(blocks, samples, weights)
    test, train = _errors(blocks, parts, features, weights, fit, none, least)
    share, spread = _spread(blocks, samples, features, weights, fit)
    if not math.isfinite(test) or (ridge == 0 and share > 1 - _PEAK):
        return LengthErrors(math.inf, math.nan, math.nan, math.nan)
    changes = []
    for n, p, varied in (
        (samples, features, spread),
        (samples - 1, features - 1, none),
    ):
        if min(n, p) < 1 or max(float(np.max(one)) for one in varied) > 1:
            changes.append((test, train))
            continue
        other = _solved(blocks, n, p, least, weights, varied)
        found = _errors(blocks, parts, p, other, _fit(blocks, n, other), varied, least)
        changes.append((abs(found[0] - test), abs(found[1] - train)))
    unknown = np.sum(changes, axis=0)
    if not np.isfinite(unknown).all():
        return LengthErrors(*4 * (math.nan,))
    return LengthErrors(test, train, float(unknown[0]), float(unknown[1]))


def _width(blocks: Blocks) -> int:
    return 1 if blocks.neurons is None else len(blocks.neurons)


def _neurons(blocks: Blocks) -> Array:
    return np.ones(1) if blocks.neurons is None else blocks.neurons


def _all_neurons(blocks: Blocks) -> Array:
    """Weights of the last axis of `radial`, which is no length for a kernel."""
    return np.ones(blocks.radial.shape[2]) if blocks.neurons is None else blocks.neurons


def _fit(blocks: Blocks, n: float, weights: _Weights) -> _Fit:
    """Return the matrices, from a singular value decomposition in which nothing cancels.

    With F = S B^(1/2) and A^(1/2) F = U s V^T, G is F V (1 + s^2)^(-1) V^T F^T.
    """
    S, N = blocks.radial, blocks.sizes
    A = n * blocks.inputs * weights.u
    root = np.ones(1) if blocks.neurons is None else np.sqrt(blocks.neurons * weights.v)
    F = S * root
    U, s, V = np.linalg.svd(np.sqrt(A)[:, None] * F, full_matrices=False)
    half = F @ V.transpose(0, 2, 1) / (1 + s**2)[:, None, :]
    G = half @ (V @ F.transpose(0, 2, 1))
    GG = np.einsum("a,aqr->qr", N, G**2)
    if blocks.neurons is None:
        none = np.zeros((0, 0))
        return _Fit(A, U, s, V, G, none, none, GG, none, none)
    L = half @ (V / root)
    H = S.transpose(0, 2, 1) @ (L * A[:, None])
    LL = np.einsum("a,aqs->qs", N, L**2) + blocks.tail
    return _Fit(A, U, s, V / root, G, L, H, GG, LL, np.einsum("a,ast->st", N, H**2))


def _leverages(blocks: Blocks, p: float, weights: _Weights, fit: _Fit) -> tuple[Array, Array]:
    """Return l and h."""
    N = blocks.sizes
    below = np.einsum("a,aqq->q", N, fit.G) + blocks.tail @ (_neurons(blocks) * weights.v)
    if blocks.neurons is None:
        return below, np.zeros(1)
    return below, (np.einsum("a,ass->s", N, fit.H) + fit.A @ blocks.tail) / p


def _solved(
    blocks: Blocks,
    n: float,
    p: float,
    ridge: float,
    start: _Weights,
    spread: list[Array],
) -> _Weights:
    """Return the weights by Newton's method in their logarithms, or by slow steps where it fails.

    Raises
    ------
    LearnabilityError
        When neither settles.
    """
    count = len(blocks.inputs)
    kernel = blocks.neurons is None
    logs = np.log(np.concatenate([start.u, start.v]))
    more = np.concatenate(
        [np.log1p(np.broadcast_to(one, len(w))) for one, w in zip(spread, start, strict=True)]
    )

    def gaps(logs: Array, slopes: bool) -> tuple[Array, Array | None]:
        weights = _Weights(np.exp(logs[:count]), np.exp(logs[count:]))
        fit = _fit(blocks, n, weights)
        below, above = _leverages(blocks, p, weights, fit)
        found = logs + np.log(np.concatenate([ridge + below, 1 + above])) - more
        if not slopes:
            return found, None
        u, v = 1 / (ridge + below)[:, None], 1 / (1 + above)[:, None]
        matrix = np.eye(len(logs))
        matrix[:count, :count] -= u * fit.GG * fit.A
        if not kernel:
            B = _neurons(blocks) * weights.v
            matrix[:count, count:] += u * fit.LL * B
            matrix[count:, :count] += v * fit.LL.T * fit.A / p
            matrix[count:, count:] -= v * fit.HH * B / p
        return found, matrix

    for _ in range(_NEWTON):
        gap, matrix = gaps(logs, True)
        assert matrix is not None
        if not np.isfinite(gap).all():
            break
        step = np.linalg.solve(matrix, gap)
        if float(np.abs(gap).max()) < _SETTLED:
            return _Weights(
                np.exp(logs[:count] - step[:count]), np.exp(logs[count:] - step[count:])
            )
        size = float(np.abs(step).max())
        # Far from the solution the slow step, which always leads there, is safer.
        logs = logs - (step if size < 1 else 0.5 * gap if size > 30 else step / size)
    logs = np.log(np.concatenate([start.u, start.v]))
    for _ in range(_DAMPED):
        gap, _ = gaps(logs, False)
        logs = logs - 0.5 * gap
        if float(np.abs(gap).max()) < _SETTLED:
            return _Weights(np.exp(logs[:count]), np.exp(logs[count:]))
    raise LearnabilityError(
        "The leverages of samples and neurons did not settle, so that no error is known here: use "
        "`simulate`, or a larger ridge."
    )


def _spread(
    blocks: Blocks, n: float, p: float, weights: _Weights, fit: _Fit
) -> tuple[float, list[Array]]:
    """Return Y, and the relative variances of leverages at equal length of samples and neurons."""
    u, v = weights
    share = float(np.abs(np.linalg.eigvals(_passed_on(blocks, p, weights, fit, [u, v]))).max())
    factor = 1 / max(1 - share, 1e-9)
    chances, table = blocks.cosines

    def squared(matrices: Array) -> Array:
        """Return the variance of g(t)^2 at each pair of lengths."""
        g = np.tensordot(matrices, table, axes=(0, 0)) ** 2
        mean = g @ chances
        return np.asarray(g**2 @ chances - mean**2)

    samples = squared(fit.G) @ (n * blocks.inputs * u**2)
    if blocks.neurons is None:
        return share, [u**2 * samples * factor, np.zeros(1)]
    both = squared(fit.L) + 2 * blocks.tail**2
    samples = samples + both @ (blocks.neurons * v**2) / p
    neurons = squared(fit.H) @ (blocks.neurons * v**2) / p
    neurons = (neurons + both.T @ (n * blocks.inputs * u**2)) / p**2
    return share, [u**2 * samples * factor, v**2 * neurons * factor]


def _passed_on(
    blocks: Blocks, p: float, weights: _Weights, fit: _Fit, squares: list[Array]
) -> Array:
    """Return the matrix by which errors of samples and fields of neurons make one another."""
    own = fit.A * squares[0]
    if blocks.neurons is None:
        return np.asarray(fit.GG * own)
    square = _unit(blocks, weights, fit, squares)
    back = blocks.neurons * (weights.v * squares[1] / square) / p
    fields = np.block([fit.LL.T * own, fit.HH * back]) * square[:, None]
    return np.vstack([np.block([fit.GG * own, fit.LL * back]), fields])


def _unit(blocks: Blocks, weights: _Weights, fit: _Fit, squares: list[Array]) -> Array:
    """Return the unit of squared fields: in it they stay of order one for any ridge and size."""
    return weights.v * squares[1] / float(np.max(fit.A / blocks.inputs.clip(1e-300)))


def _errors(
    blocks: Blocks,
    parts: Parts,
    p: float,
    weights: _Weights,
    fit: _Fit,
    spread: list[Array],
    ridge: float,
) -> tuple[float, float]:
    """Return the errors on fresh samples and on training samples; infinite where none is finite."""
    # The mean square of a weight whose inverse has a small relative variance V is 1 + 3 V times the
    # square without it, and its mean 1 + V times.
    squares = [(1 + 3 * one) / (1 + one) ** 2 * w for one, w in zip(spread, weights, strict=True)]
    root = np.sqrt(fit.A)[:, None]
    seen, s = fit.U.transpose(0, 2, 1) @ (root * parts.along), fit.s[..., None]
    known = fit.U @ (s**2 / (1 + s**2) * seen)
    missed = np.where(root > 0, root * parts.along - known, parts.along)
    missed = np.divide(missed, root, out=missed, where=root > 0)
    bias = parts.noise + np.einsum("aqk,aqk->q", missed, missed)
    count = len(bias)
    if blocks.neurons is not None:
        felt = fit.V.transpose(0, 2, 1) @ (s / (1 + s**2) * seen)
        felt = np.einsum("ask,ask->s", felt, felt)
        bias = np.concatenate([bias, felt * _unit(blocks, weights, fit, squares)])
    matrix = np.eye(len(bias)) - _passed_on(blocks, p, weights, fit, squares)
    found = np.linalg.solve(matrix, bias)
    if not (np.isfinite(found).all() and (found >= 0).all()):
        return math.inf, math.nan
    e = found[:count]
    train = ridge**2 * float(blocks.inputs @ (weights.u * squares[0] * e))
    test = float(blocks.inputs @ e)
    return test, train if train > 1e-12 * test else 0.0
