"""E[ zeta_k zeta_k^T ] and E[h_k | y] of random labels on sections of hidden space.

Finitely many labels have masses and moments of soft cells, by rules that integrate their
probabilities and are split at their breaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learnability.expressions.structure import Symmetry
from learnability.expressions.tree import Tree
from learnability.gaussian.functions import Function
from learnability.gaussian.hermite_products import product_rotation
from learnability.gaussian.quadrature import adapted_frame, rules_for, sampled_rules
from learnability.gaussian.sections import Section
from learnability.labels.core_sections import extended, visible_products
from learnability.labels.finite_laws import FiniteLaw

__all__ = ["soft_cells"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Carrier:
    """A function with the breaks of all probabilities of a law, for rules that are split there."""

    law: FiniteLaw

    @property
    def r(self) -> int:
        return self.law.r + self.law.latents

    @property
    def tree(self) -> Tree | None:
        return None

    @property
    def breaks(self) -> Sequence[Function] | None:
        return self.law.breaks

    @property
    def symmetries(self) -> Sequence[Symmetry]:
        return ()

    def __call__(self, z: Array) -> Array:
        return np.asarray(self.law.carriers[-1](z))

    def gradient(self) -> Sequence[Function]:
        return self.law.carriers[-1].gradient()


def soft_cells(
    section: Section, law: FiniteLaw, orders: Sequence[int]
) -> list[tuple[Array, dict[int, Array]]]:
    """Return masses (K,) and moments, order -> (K, q), of the labels, from each of several rules.

    Parameters
    ----------
    section : Section
        A section with m visible coordinates.
    law : FiniteLaw
        The law whose probabilities are integrated.
    orders : sequence of int
        Orders of the Hermite products of the m coordinates.
    """
    whole = extended(section, _Carrier(law), law.latents)
    frame = adapted_frame(whole)
    turned = whole.inside(frame)
    found = []
    rules, how = rules_for(turned, constant=law.constant)
    if how == "lines" and turned.m > 3:  # Over so coarse a grid their difference is not the error.
        rules = sampled_rules(turned)
    for rule in rules:
        n, p = len(rule.outer), rule.inner.shape[1]
        inner = np.broadcast_to(rule.inner, (n, p, rule.inner.shape[2]))
        outer = np.broadcast_to(rule.outer[:, None, :], (n, p, rule.outer.shape[1]))
        chances = law.each_probability(turned.points(np.concatenate([outer, inner], axis=-1)))
        cells = [rule.hermite_moments(np.asarray(c, dtype=float), [0, *orders]) for c in chances]
        weights = rule.outer_weights
        moments = {k: np.array([weights @ cell[k] for cell in cells]) for k in (0, *orders)}
        turn = {}
        for k in orders:
            full = moments[k] @ product_rotation(frame.T, k).T
            turn[k] = full[:, visible_products(section.m, law.latents, k)]
        found.append((moments[0][:, 0], turn))
    return found
