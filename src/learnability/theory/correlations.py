"""Correlations of Hermite polynomials with the target function, given the known coordinates.

With T_j(x_U) = E[He_j(x_perp) f | x_U] and K_j(U) = E[unfold(T_j) unfold(T_j)^T] / j!, the range of
K_j is what gradient steps on fresh data see at order j, and its trace is the part of E[f^2] that
is of degree j in the unknown coordinates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.hermite_products import (
    multi_indices,
    product_rotation,
    symmetric_basis,
)
from learnability.gaussian.invariances import invariant_subspace
from learnability.gaussian.quadrature import adapted_complement, rules_for
from learnability.gaussian.rules import Rule
from learnability.gaussian.sections import Section, complement
from learnability.labels.conditional import HIGHEST_ORDER
from learnability.labels.core_sections import core_section, visible_products
from learnability.labels.hermite import ZERO
from learnability.labels.link import Link
from learnability.theory.subspaces import (
    Signal,
    is_square_integrable,
    open_range,
    top_range,
)

__all__ = [
    "MOST_DIRECTIONS",
    "correlation_kernels",
    "correlation_signals",
    "shown_directions",
    "snapped",
    "transformed_signal",
]

Array = NDArray[np.float64]
Kernels = tuple[list[Array], list[float], float]

MOST_DIRECTIONS = 4
"""The largest number of directions for which correlations given known ones are computed."""


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
    """Return K_j(U), j = 0 ... 8, on the complement of U, errors of their entries, and E[f^2]."""
    rest = adapted_complement(section, known)
    frame = np.vstack([known, rest]) @ section.A.T
    kernels, errors, energy = _kernels(
        section.link, np.ascontiguousarray(frame).tobytes(), section.m, len(known)
    )
    turn = complement(known, section.m) @ rest.T
    return [kernels[0], *(turn @ kernel @ turn.T for kernel in kernels[1:])], errors, energy


def correlation_signals(section: Section, known: Array, tilt: float = 0.0) -> dict[int, Signal]:
    """Return the range of every K_j(U), j = 1 ... 8.

    If the known directions are off by an angle, a share of the variance may be so too.
    """
    kernels, errors, energy = correlation_kernels(section, known)
    # The variance of f is the scale of all its correlations; these are squares.
    scale = max(energy - float(kernels[0][0, 0]), 1e-12 * energy, 1e-300)
    floor = max(ZERO**2, 100 * tilt)
    return {k: open_range(kernels[k], errors[k], scale, floor) for k in range(1, len(kernels))}


def snapped(section: Section, known: Array, rows: Array, tilt: float) -> tuple[Array, float]:
    """Return the exact directions close to directions found by sampling, and the error left.

    A subspace of the unknown directions must be invariant under every symmetry of g that keeps
    the known ones: where this leaves no choice it is exact. Else averages of z z^T - I against
    the label and its square, given the known coordinates, come from quadrature. When eigenvectors
    of one of them lie within a percent of the span of `rows` (k, m - j), and all others are that
    close to its complement, they are taken instead, up to the difference between two rules.
    """
    left = section.m - len(known)
    if len(rows) == left:
        return np.eye(left), 0.0
    turned = section.inside(np.vstack([known, complement(known, section.m)]))
    allowed = invariant_subspace(rows, _turns_of_unknown(turned, len(known))[0])
    if allowed is not None:
        return allowed, 0.0
    rules = _label_rules(section, core_section(section), known)
    if rules is None:
        return rows, tilt
    best, best_tilt = rows, tilt
    for power in (1, 2):
        found = [_meant(rule, rule.values**power, rows) for rule in rules]
        if found[0] is None or found[1] is None:
            continue
        moved = float(np.abs(found[0].T @ found[0] - found[1].T @ found[1]).max())
        if moved < best_tilt:
            best, best_tilt = top_range(found[0].T @ found[0], len(rows)), moved
    return best, best_tilt


@dataclass(frozen=True)
class _LabelRule:
    """An integral over unknown coordinates given known ones, and labels at its nodes.

    Attributes
    ----------
    rule : Rule
        Over all unknown coordinates, and over the latent ones of a random label.
    values : array, shape (n, p)
        The label at the nodes.
    turn : array, shape (q, q)
        From the rule's coordinates to the unknown visible ones and the latent ones after them.
    left : int
        Number of the unknown visible ones.
    """

    rule: Rule
    values: Array
    turn: Array
    left: int

    def moments(self, values: Array, order: int) -> Array:
        """Return averages (n, q) of values times the products of unknown visible coordinates."""
        every = self.rule.hermite_moments(values, [order])[order]
        keep = visible_products(self.left, len(self.turn) - self.left, order)
        return np.asarray((every @ product_rotation(self.turn, order).T)[:, keep])


def _label_rules(section: Section, whole: Section | None, known: Array) -> list[_LabelRule] | None:
    """Two rules for functions of the label of a section; `whole` has its latent coordinates too."""
    if whole is None or whole.m > MOST_DIRECTIONS or whole.hides_cells:
        return None
    latents = whole.m - section.m
    given = np.hstack([known, np.zeros((len(known), latents))])
    rest = adapted_complement(whole, given)
    turned = whole.inside(np.vstack([given, rest]))
    left = section.m - len(known)
    own = np.zeros((left + latents, whole.m))
    own[:left, : section.m] = complement(known, section.m)
    own[left:, section.m :] = np.eye(latents)
    return [
        _LabelRule(rule, rule.evaluate(turned), own @ rest.T, left)
        for rule in rules_for(turned, len(known))[0][:2]
    ]


def _meant(rule: _LabelRule, values: Array, rows: Array) -> Array | None:
    """Return eigenvectors of the mean square of E[T (z z^T - I) | z_U] that are close to `rows`."""
    k, left = rows.shape
    matrices = np.einsum("nq,qij->nij", rule.moments(values, 2), symmetric_basis(left))
    total = np.einsum("n,nij,njk->ik", rule.rule.outer_weights, matrices, matrices)
    sizes, vectors = np.linalg.eigh(total)
    closeness = np.sum((rows @ vectors) ** 2, axis=0)
    best = np.sort(np.argsort(closeness)[left - k :])
    others = np.setdiff1d(np.arange(left), best)
    apart = np.abs(sizes[best][:, None] - sizes[others]).min(initial=np.inf)
    close = closeness[best].min() > 1 - 1e-4 and closeness[others].max(initial=0.0) < 1e-4
    return vectors[:, best].T if close and apart > 1e-7 * sizes[-1] else None


def transformed_signal(section: Section, known: Array, order: int) -> Signal:
    """Return the directions that correlations of one order with functions of the label show.

    Of a standardised label u these functions are u^2 / (1 + u^2 / 10), u / (1 + u^2) and
    exp(-u^2). The answer is in doubt when the quadrature is not exact to nine digits along the
    other directions: then it does not prove that a signal is absent. Where a symmetry of g forbids
    one, it is exact.
    """
    left = section.m - len(known)
    whole = core_section(section)
    rules = _label_rules(section, whole, known)
    if rules is None or whole is None or whole.break_functions is None:
        return Signal(np.zeros((0, left)), True)
    found: list[list[tuple[Array, float]]] = []
    for label in rules:
        rule, values = label.rule, label.values
        mean = rule.mean(values)
        u = (values - mean) / max(math.sqrt(rule.mean((values - mean) ** 2)), 1e-300)
        found.append(
            [
                (
                    _unfolded(label.moments(t, order), rule.outer_weights, left, order),
                    rule.mean(t**2),
                )
                for t in (u**2 / (1 + 0.1 * u**2), u / (1 + u**2), np.exp(-(u**2)))
            ]
        )
    total, doubt = np.zeros((left, left)), False
    for (kernel, scale), (other, _) in zip(*found, strict=True):
        signal = open_range(kernel, float(np.abs(kernel - other).max()), scale, ZERO**2)
        rest = complement(signal.basis.reshape(-1, left), left)
        inside, off = (rest @ part @ rest.T for part in (kernel, kernel - other))
        error = float(np.abs(off).max(initial=0.0))
        further = open_range(inside, error, scale, ZERO**2)
        doubt = doubt or further.doubt or len(further.basis) > 0 or error > ZERO * scale
        total += signal.basis.T @ signal.basis
    return Signal(top_range(total, int(np.linalg.matrix_rank(total, tol=1e-6))), doubt)


def shown_directions(link: Link, section: Section, known: Array, tilt: float) -> dict[int, Signal]:
    """Return directions that correlations of each order prove to be seen, bases (k, m - j).

    They are empty, and in doubt, where correlations do not exist or are not computed.
    """
    left = section.m - len(known)
    if section.m > MOST_DIRECTIONS or not is_square_integrable(link):
        return {k: Signal(np.zeros((0, left)), True) for k in range(1, HIGHEST_ORDER + 1)}
    return correlation_signals(section, known, tilt)
