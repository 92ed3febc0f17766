"""Quadrature rules for the label, refined where the integrand needs it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.rules import legendre

__all__ = ["label_rule"]

Array = NDArray[np.float64]

_LEVELS = np.array([1e-4, 1e-3, 1e-2, 0.04, 0.1, 0.2, 0.35, 0.5])
_ROUNDS = 16


def label_rule(
    values: Array,
    integrand: Callable[[Array], Array],
    tolerance: float,
    nodes: int,
    widest: float,
    most: int,
) -> tuple[Array, Array]:
    """Return labels and weights of a composite Gauss rule.

    Parameters
    ----------
    values : array
        A sample of labels, with the smallest and the largest label.
    integrand : callable
        Labels (m,), sorted -> values (m, k) that the rule must integrate.
    tolerance : float
        A panel is halved while that changes an integral by more than this share of the whole.
    nodes : int
        Number of nodes per panel.
    widest : float
        Widest panel allowed.
    most : int
        The largest number of panels.

    Returns
    -------
    labels, weights : array, shape (m,)
        Sorted labels.
    """
    y = np.sort(values)
    levels = np.concatenate([[0.0], _LEVELS, 1 - _LEVELS[-2::-1], [1.0]])
    edges = np.unique(np.quantile(y, levels))
    pieces = np.maximum(np.ceil(np.diff(edges) / widest), 1).astype(int)
    if pieces.sum() > most // 2:
        pieces[:] = 1
    edges = np.concatenate(
        [
            np.linspace(a, b, k, endpoint=False)
            for a, b, k in zip(edges[:-1], edges[1:], pieces, strict=True)
        ]
        + [edges[-1:]]
    )
    panels = np.stack([edges[:-1], edges[1:]], axis=1)
    sums = _integrals(panels, integrand, nodes)
    done: list[Array] = []
    for _ in range(_ROUNDS):
        if not len(panels):
            break
        middle = panels.mean(axis=1)
        halves = np.stack([panels[:, 0], middle, middle, panels[:, 1]], axis=1).reshape(-1, 2)
        parts = _integrals(halves, integrand, nodes)
        better = parts.reshape(len(panels), 2, -1).sum(axis=1)
        total = np.abs(sums).sum(axis=0) + sum(np.abs(d[:, 2:]).sum(axis=0) for d in done)
        off = (np.abs(better - sums) > tolerance * total).any(axis=1)
        done.append(np.concatenate([panels[~off], sums[~off]], axis=1))
        if sum(map(len, done)) + 2 * off.sum() > most:
            done.append(np.concatenate([panels[off], sums[off]], axis=1))
            break
        keep = np.repeat(off, 2)
        panels, sums = halves[keep], parts[keep]
    else:
        done.append(np.concatenate([panels, sums], axis=1))
    kept = np.concatenate(done)[:, :2]
    return _nodes(kept[np.argsort(kept[:, 0])], nodes)


def _nodes(panels: Array, nodes: int) -> tuple[Array, Array]:
    x, w = legendre(nodes)
    half = 0.5 * (panels[:, 1] - panels[:, 0])[:, None]
    centre = 0.5 * (panels[:, 1] + panels[:, 0])[:, None]
    return (centre + half * x).ravel(), (half * w).ravel()


def _integrals(panels: Array, integrand: Callable[[Array], Array], nodes: int) -> Array:
    """Return integrals over each panel, shape (panels, k); panels are disjoint, in any order."""
    order = np.argsort(panels[:, 0])
    y, w = _nodes(panels[order], nodes)
    found = integrand(y)
    sums = (w[:, None] * found).reshape(len(panels), nodes, -1).sum(axis=1)
    back: Array = np.empty_like(sums)
    back[order] = sums
    return back
