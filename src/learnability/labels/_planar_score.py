"""g_out on boxes of two coordinates or more, with exact probabilities in the last two.

The coordinates before them are the roots of a smooth one, or nodes. With one particle of weight
w_p for each, mean t_p, and A_p the probability of the label given it,

    Z = sum_p w_p A_p,   g_out = L^-T E[t | y],   Z E[t | y] = sum_p w_p t_p A_p

for these coordinates, and Z g_out = sum_p w_p grad A_p in the last two. It costs a fraction of
`BoxPosterior.moments`, and loses digits where a label is improbable.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from learnability.gaussian.particles import COARSE, Particles, outer_nodes
from learnability.gaussian.planar import Jumps, box_average
from learnability.labels._box_posterior import BoxPosterior

__all__ = ["PlanarScore"]


class PlanarScore:
    """g_out(y_i, omega_i, V) for given labels.

    Parameters
    ----------
    scheme : BoxPosterior
        A scheme for which `is_planar` is true.
    y : array, shape (N,)
        Labels.
    dtype : dtype
        The type in which numbers are computed.
    """

    def __init__(self, scheme: BoxPosterior, y: NDArray[Any], dtype: DTypeLike) -> None:
        self.scheme = scheme
        self.data = {name: v.astype(dtype) for name, v in scheme.prepare(y).items()}
        if scheme.flat_boxes[0]:
            self.top, self.boxes = self._boxes()
        if scheme.smooth is not None:
            last_two = np.moveaxis(scheme.allowed, (-3, -2), (0, 1))
            self.roots = Jumps.of(last_two[..., None].astype(dtype))

    def _boxes(self) -> tuple[NDArray[Any], Jumps]:
        """Return the log likelihood of the likeliest box (N,), and jumps of the likelihood over it.

        The axes that stay are the boxes of the outer coordinates, flat, and the samples.
        """
        scheme = self.scheme
        cells = scheme.flat_boxes[0]
        shape = [len(scheme.edges[i]) + 1 for i in scheme.order]
        number = np.full(shape, len(cells))
        number[tuple(np.array(cells).T)] = np.arange(len(cells))
        log_likelihood = self.data["boxes"]
        top = np.maximum(log_likelihood.max(axis=0), -1e30)
        likelihood = np.concatenate([np.exp(log_likelihood - top), np.zeros_like(top)[None]])
        last_two = np.moveaxis(number.reshape(-1, *shape[-2:]), 0, -1)
        return top, Jumps.of(likelihood[last_two])

    def __call__(self, omega: NDArray[Any], V: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return g_out and how plausible the labels are.

        Parameters
        ----------
        omega : array, shape (r, N)
            Means, in the `dtype` of this score.
        V : array, shape (r, r)
            Covariance.

        Returns
        -------
        g : array, shape (r, N)
            g_out.
        plausible : array, shape (N,)
            Probability of the label, relative to the total weight of its particles. The error of g
            is the rounding error of the type, divided by this number.
        """
        L, (average, *means), possible = self._sums(omega, V, False)
        total = np.maximum(average, 1e-30)
        return self._score(L, means, total), total / possible

    def with_information(
        self, omega: NDArray[Any], V: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the same, and minus the derivatives of g_out in the means, shape (r, r, N)."""
        L, (average, *sums), possible = self._sums(omega, V, True)
        r, total = len(L), np.maximum(average, 1e-30)
        g = self._score(L, sums[:r], total)
        # E[t t^T | y] - I of the outer coordinates, of these with the last two, of the last two.
        inner = np.empty((r, r, len(total)), dtype=omega.dtype)
        for (i, j), part in zip(_pairs(r), sums[r:], strict=True):
            inner[i, j] = inner[j, i] = part / total - (i == j < r - 2)
        # z = omega + L t, and the last two are already derivatives in their own means.
        turn = np.linalg.inv(L)
        turn[r - 2 :] = L[r - 2 :, r - 2 :] @ turn[r - 2 :]
        bent = np.einsum("ki,klN,lj->ijN", turn, inner, turn)
        order = np.ix_(self.scheme.order, self.scheme.order)
        found = np.empty_like(bent)
        found[order] = -bent
        found += g[:, None] * g
        return g, total / possible, found

    def _score(
        self, L: NDArray[Any], means: list[NDArray[Any]], total: NDArray[Any]
    ) -> NDArray[Any]:
        """g_out from sums with t of the outer coordinates and gradients in the last two."""
        order = self.scheme.order
        g = np.empty((len(order), len(total)), dtype=total.dtype)
        for k in range(len(order) - 1, -1, -1):  # L^T g = E[t | y] is solved from its last row on.
            g[order[k]] = means[k] / total
            if k < len(order) - 2:
                after = sum(L[j, k] * g[order[j]] for j in range(k + 1, len(order)))
                g[order[k]] = (g[order[k]] - after) / L[k, k]
        return g

    def _sums(
        self, omega: NDArray[Any], V: NDArray[Any], curvature: bool
    ) -> tuple[NDArray[Any], list[NDArray[Any]], Any]:
        """Return the root of V, sums over particles (N,), and their total weight."""
        scheme, dtype = self.scheme, omega.dtype
        L = np.array(_root(V.tolist(), scheme.order), dtype=dtype)
        start = Particles.nothing(np, omega[0])
        parts = []
        if scheme.flat_boxes[0]:
            outer, jumps = self._over_boxes(start, omega, L)
            log_weight, *rest = self._planar(outer, jumps, omega, L, curvature)
            parts.append((log_weight + self.top, *rest))
        if scheme.smooth is not None and len(self.data["roots"]):
            outer, jumps = self._at_roots(omega, L)
            parts.append(self._planar(outer, jumps, omega, L, curvature))
        if len(parts) == 1 and len(parts[0][0]) == 1:
            return L, [x[0] for x in parts[0][1:]], 1.0
        log_weight, *sums = (np.concatenate(part) for part in zip(*parts, strict=True))
        weight = np.exp(log_weight - np.maximum(log_weight.max(axis=0), -1e30))
        possible = np.maximum(weight.sum(axis=0), 1e-30)
        return L, [(weight * x).sum(axis=0) for x in sums], possible

    def _over_boxes(
        self, outer: Particles, omega: NDArray[Any], L: NDArray[Any]
    ) -> tuple[Particles, Jumps]:
        """Return nodes of the coordinates before the last two, and the jumps at each."""
        axes = self.scheme.order[:-2]
        if not axes:
            return outer, self.boxes
        outer = self._with_nodes(outer, axes, omega, L)
        sizes = [len(self.scheme.edges[i]) + 1 for i in axes]
        box = np.ravel_multi_index(tuple(outer.cell.T), sizes)
        return outer, Jumps(*(jump[..., box, :] for jump in self.boxes))

    def _at_roots(self, omega: NDArray[Any], L: NDArray[Any]) -> tuple[Particles, Jumps]:
        """Return roots of the smooth coordinate with nodes of others, and the jumps at each."""
        outer = self.scheme.at_roots(self.data, omega, L, np)
        axes = self.scheme.order[1:-2]
        if not axes:
            return outer, self.roots
        outer = self._with_nodes(outer, axes, omega, L)
        which = (*outer.cell.T[1:], outer.cell[:, 0])
        return outer, Jumps(*(jump[(..., *which, slice(None))] for jump in self.roots))

    def _with_nodes(
        self, outer: Particles, axes: list[int], omega: NDArray[Any], L: NDArray[Any]
    ) -> Particles:
        """Integrate further coordinates over nodes."""
        for axis in axes:
            row, cuts = L[len(outer.t)], self.scheme.edges[axis]
            nodes, reach = COARSE.panel_nodes, COARSE.reach
            outer = outer_nodes(outer, omega[axis], row, cuts, nodes, reach, np)
        return outer

    def _planar(
        self,
        outer: Particles,
        jumps: Jumps,
        omega: NDArray[Any],
        L: NDArray[Any],
        curvature: bool,
    ) -> tuple[NDArray[Any], ...]:
        """Log weight, average, its products with t, and its gradient, all of shape (P, N).

        With `curvature` also products of two, in the order of `_pairs`.
        """
        r = len(L)
        a, b = self.scheme.order[-2:]
        mean = tuple(outer.centre(omega[i], L[k]) for i, k in ((a, r - 2), (b, r - 1)))
        root = L[r - 2 :, r - 2 :]
        edges = self.scheme.edges[a], self.scheme.edges[b]
        average, *slopes = box_average(jumps, edges, mean, root, curvature)
        average = np.maximum(average, 0.0)
        first = [*(average * t for t in outer.t), *slopes[:2]]
        pairs = _pairs(r)[:-3] if curvature else []
        twice = [outer.t[i] * first[j] for i, j in pairs]
        return outer.log_weight, average, *first, *twice, *slopes[2:]


def _pairs(r: int) -> list[tuple[int, int]]:
    """Pairs of coordinates, each once."""
    return [(i, j) for i in range(r) for j in range(i, r)]


def _root(V: list[list[float]], order: list[int]) -> list[list[float]]:
    """Cholesky factor of V with its rows in this order; faster than LAPACK for so few rows."""
    L = [[0.0] * len(order) for _ in order]
    for i, row in enumerate(order):
        for j, column in enumerate(order[: i + 1]):
            left = V[row][column] - sum(a * b for a, b in zip(L[i][:j], L[j], strict=False))
            L[i][j] = math.sqrt(max(left, 1e-30)) if i == j else left / L[j][j]
    return L
