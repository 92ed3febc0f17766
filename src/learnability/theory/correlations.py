"""What correlations with the target function itself show, given the known coordinates.

T_j(x_U) = E[He_j(x_perp) f | x_U] and K_j(U) = E[unfold(T_j) unfold(T_j)^T] / j!: the range of
K_j is what gradient steps on fresh data see at order j, and its trace is the part of E[f^2] that
is of degree j in the unknown coordinates.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.hermite_products import multi_indices, product_rotation
from learnability.gaussian.quadrature import adapted_complement, rules_for
from learnability.gaussian.sections import Section, complement
from learnability.labels.conditional import HIGHEST_ORDER
from learnability.labels.hermite import ZERO
from learnability.labels.link import Link
from learnability.theory.subspaces import (
    Signal,
    is_square_integrable,
    open_range,
    symmetric_basis,
    top_range,
)

__all__ = [
    "MOST_DIRECTIONS",
    "correlation_kernels",
    "correlation_signals",
    "shown_directions",
    "snapped",
]

Array = NDArray[np.float64]
Kernels = tuple[list[Array], list[float], float]

MOST_DIRECTIONS = 4
"""Correlations given known coordinates are computed for at most so many directions."""


@lru_cache(maxsize=64)
def _kernels(link: Link, frame_bytes: bytes, m: int, known: int) -> Kernels:
    frame = np.frombuffer(frame_bytes).reshape(m, link.r)
    section = Section.whole(link).inside(frame)
    turns, fixing = _turns_of_unknown(section, known)
    orders = list(range(HIGHEST_ORDER + 1))
    found: list[list[Array]] = []
    energies = []
    for rule in rules_for(section, known)[0]:
        values = rule.evaluate(section)
        energies.append(rule.mean(values**2))
        moments = {
            k: moment @ np.mean([product_rotation(turn, k) for turn in fixing], axis=0).T
            for k, moment in rule.hermite_moments(values, orders).items()
        }
        found.append(
            [
                _symmetrised(_unfolded(moments[k], rule.outer_weights, m - known, k), turns)
                for k in orders
            ]
        )
    kernels = found[0]
    errors = [
        float(max(np.abs(kernels[k] - other[k]).max(initial=0.0) for other in found[1:]))
        for k in orders
    ]
    return kernels, errors, energies[0]


def _turns_of_unknown(section: Section, known: int) -> tuple[list[Array], list[Array]]:
    """Return symmetries of g on the unknown directions: all that keep U, and those that fix it."""
    keeping = [t for t in section.symmetries if np.allclose(t[:known, known:], 0, atol=1e-9)]
    fixing = [t for t in keeping if np.allclose(t[:known, :known], np.eye(known), atol=1e-9)]
    return [t[known:, known:] for t in keeping], [t[known:, known:] for t in fixing]


def _symmetrised(kernel: Array, turns: list[Array]) -> Array:
    if kernel.shape[0] != turns[0].shape[0] or len(turns) == 1:
        return kernel
    return np.asarray(np.mean([turn @ kernel @ turn.T for turn in turns], axis=0))


def _unfolded(moments: Array, weights: Array, m: int, k: int) -> Array:
    """Return K_k from orthonormal moments (n, q); 1 x 1 for k = 0."""
    if k == 0:
        return np.array([[float(weights @ moments[:, 0] ** 2)]])
    position = {tuple(beta): j for j, beta in enumerate(multi_indices(m, k).tolist())}
    kernel = np.zeros((m, m))
    for gamma in multi_indices(m, k - 1).tolist():
        rows = np.empty((m, len(moments)))
        for a in range(m):
            beta = list(gamma)
            beta[a] += 1
            rows[a] = math.sqrt(beta[a] / k) * moments[:, position[tuple(beta)]]
        kernel += (rows * weights) @ rows.T
    return kernel


def correlation_kernels(section: Section, known: Array) -> Kernels:
    """K_j(U) for j = 0 ... 8 on the complement of U, the errors of their entries, and E[f^2]."""
    rest = adapted_complement(section, known)
    frame = np.vstack([known, rest]) @ section.A.T
    kernels, errors, energy = _kernels(
        section.link, np.ascontiguousarray(frame).tobytes(), section.m, len(known)
    )
    turn = complement(known, section.m) @ rest.T
    return [kernels[0], *(turn @ kernel @ turn.T for kernel in kernels[1:])], errors, energy


def correlation_signals(section: Section, known: Array) -> dict[int, Signal]:
    """Return the range of every K_j(U), j = 1 ... 8."""
    kernels, errors, energy = correlation_kernels(section, known)
    # The variance of f is the scale of all its correlations; these are squares.
    scale = max(energy - float(kernels[0][0, 0]), 1e-12 * energy, 1e-300)
    return {k: open_range(kernels[k], errors[k], scale, ZERO**2) for k in range(1, len(kernels))}


def snapped(section: Section, known: Array, rows: Array) -> tuple[Array, bool]:
    """Directions found by sampling, moved to exact ones that they mean, and whether that worked.

    Averages of z z^T - I against the label and its square, given the known coordinates, come from
    quadrature. When eigenvectors of one of them lie within a percent of `rows` (k, m - j), and the
    others are as far away, they are what was meant.
    """
    left = section.m - len(known)
    if section.m > MOST_DIRECTIONS or len(rows) == left:
        return rows, len(rows) == left
    rest = adapted_complement(section, known)
    turned = section.inside(np.vstack([known, rest]))
    rows = rows @ complement(known, section.m) @ rest.T
    rule = rules_for(turned, len(known))[0][0]
    values = rule.evaluate(turned)
    basis = symmetric_basis(left)
    for power in (1, 2):
        moments = rule.hermite_moments(values**power, [2])[2]
        matrices = np.einsum("nq,qij->nij", moments, basis)
        total = np.einsum("n,nij,njk->ik", rule.outer_weights, matrices, matrices)
        sizes, vectors = np.linalg.eigh(total)
        closeness = np.sum((rows @ vectors) ** 2, axis=0)
        best = np.sort(np.argsort(closeness)[left - len(rows) :])
        others = np.setdiff1d(np.arange(left), best)
        apart = np.abs(sizes[best][:, None] - sizes[others]).min(initial=np.inf)
        if (
            closeness[best].min() > 1 - 1e-4
            and closeness[others].max(initial=0.0) < 1e-4
            and apart > 1e-7 * sizes[-1]
        ):
            found = vectors[:, best].T @ rest @ complement(known, section.m).T
            return top_range(found.T @ found, len(rows)), True
    return rows @ rest @ complement(known, section.m).T, False


def shown_directions(link: Link, section: Section, known: Array) -> dict[int, Array]:
    """Return rows (k, m - j) that correlations of each order prove to carry a signal.

    Empty where correlations do not exist or are not computed: they never prove its absence.
    """
    left = section.m - len(known)
    if section.m > MOST_DIRECTIONS or not is_square_integrable(link):
        return {k: np.zeros((0, left)) for k in range(1, HIGHEST_ORDER + 1)}
    signals = correlation_signals(section, known)
    return {k: signal.basis.reshape(-1, left) for k, signal in signals.items()}
