"""What the label tells about the hidden coordinates: E[ zeta_k(Y) zeta_k(Y)^T ].

zeta_k(y) = E[h_k(z) | Y = y] collects the orthonormal Hermite products of order k. Its second
moment K_k decides what is learnable: K_1 spans the trivial directions, K_2 is the operator behind
the threshold alpha_c, and the smallest k with K_k != 0 is the generative exponent. Directions
already known are conditioned on.

Methods: level sets for one unknown coordinate; exact cells for finitely many labels; regression
on the label otherwise. Signed permutations that leave g unchanged force zeros exactly.

References
----------
Damian, Pillaud-Vivien, Lee, Bruna, COLT 2024 (generative exponent).
Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala, arXiv:2405.15480 (multi-index).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.hermite_products import product_rotation
from learnability.gaussian.rules import gauss_normal, product_grid
from learnability.gaussian.sections import Section
from learnability.labels._law_moments import mean_of_law, moments_of_law
from learnability.labels._like_sections import first_alike, turned
from learnability.labels._moment_matrices import ConditionalMoments
from learnability.labels._regressed_moments import regressed_moments, regression_of_products
from learnability.labels.cells import cells_of, few_values, mixture_gram, mixture_mean
from learnability.labels.core_sections import law_on
from learnability.labels.curved_cells import MOST_DIRECTIONS, CurvedCells
from learnability.labels.level_sets import LevelSets
from learnability.labels.link import Link

__all__ = ["ConditionalMoments", "conditional_law", "conditional_moments", "is_sampled"]

Array = NDArray[np.float64]

HIGHEST_ORDER = 8
"""Highest order of the moments that are looked at."""

MANY_SAMPLES = 22
"""Base-two logarithm of the number of samples behind a threshold."""

FEW_SAMPLES = 18
"""The same where a first answer, yes or no, is wanted."""

RAREST_LABEL = 1e-9
"""Labels of curved cells with a smaller probability than this are refused."""

_NODES = {1: (8, 24), 2: (6, 8), 3: (2, 4)}


def conditional_moments(
    section: Section,
    noise: float,
    orders: Sequence[int],
    known: Array | None = None,
    samples: int = MANY_SAMPLES,
    blur: float = 0.0,
) -> dict[int, ConditionalMoments]:
    """Return K_k of a section for several orders, given some known coordinates.

    Parameters
    ----------
    section : Section
        The link in the coordinates of interest, m of them.
    noise : float
        Variance of additive Gaussian label noise.
    orders : sequence of int
        Orders k >= 1.
    known : array, shape (j, m), optional
        Orthonormal rows: directions of the section that are known. The result then lives on
        their `complement`.
    samples : int
        Base-two logarithm of the number of samples, where samples are used.
    blur : float
        Variance of a further noise that hides differences between labels that are not to be
        believed. With it, samples are always used.

    Returns
    -------
    dict
        Order -> ConditionalMoments.
    """
    if known is None or not len(known):
        return unconditional_moments(section, noise, orders, samples, blur)
    if len(known) not in _NODES:
        raise LearnabilityError(
            f"Moments given {len(known)} known directions were asked for, but at most 3 are "
            "accepted."
        )
    if noise == blur == 0 and (labels := _curved_labels(section)) is not None:
        return _by_curved_cells(section, labels, orders, known)
    rough, fine = (_nodes(section, known, n) for n in _NODES[len(known)])
    first = _averaged(section, noise, orders, known, rough, samples - 4, blur)
    if all(m.method == "symmetry" for m in first.values()):
        return first
    found = _averaged(section, noise, orders, known, fine, samples - 2, blur)
    return {k: replace(m, rules=(*m.rules, first[k].matrix)) for k, m in found.items()}


def _nodes(section: Section, known: Array, n: int) -> tuple[Array, Array]:
    """Make a product rule for the known coordinates, split at zero and at the breaks."""
    axes = []
    for row in known:
        breaks = [np.zeros(1)]
        for direction, positions in section.planes or ():
            cosine = float(direction @ row)
            if abs(cosine) > 1 - 1e-9:
                breaks.append(cosine * positions)
        inside = np.unique(np.concatenate(breaks).astype(float).round(12))
        axes.append(gauss_normal(inside, n * (len(inside) + 1) // 2, least=1))
    return product_grid(axes)


def _averaged(
    section: Section,
    noise: float,
    orders: Sequence[int],
    known: Array,
    nodes: tuple[Array, Array],
    samples: int,
    blur: float,
) -> dict[int, ConditionalMoments]:
    points, weights = nodes
    keep = weights > 1e-7
    points, weights = points[keep], weights[keep] / weights[keep].sum()
    sections = [section.fix(known, u) for u in points]
    alike = first_alike(sections, scales=noise == blur == 0)
    different = sorted({j for j, _ in alike})
    budget = max(samples - math.ceil(math.log2(len(different))), 14)
    own = {
        j: unconditional_moments(sections[j], noise, orders, budget, blur, place=j)
        for j in different
    }
    return {k: _mean([turned(own[j][k], signs) for j, signs in alike], weights) for k in orders}


def _mean(parts: list[ConditionalMoments], weights: Array) -> ConditionalMoments:
    """Return the weighted mean of moments; a part without rules or replicates counts as it is."""
    names = {part.method for part in parts}
    method = next(n for n in ("regression", "cells", "level sets", "symmetry") if n in names)
    rules = max(len(part.rules) for part in parts)
    replicates = max((part.replicates for part in parts), key=len)

    def mean(matrices: list[Array]) -> Array:
        return np.tensordot(weights, np.array(matrices), axes=1)

    return ConditionalMoments(
        parts[0].order,
        mean([part.matrix for part in parts]),
        tuple(
            mean([p.rules[j] if j < len(p.rules) else p.matrix for p in parts])
            for j in range(rules)
        ),
        tuple(
            (mean([p.replicates[j][0] if p.replicates else p.matrix for p in parts]), tag)
            for j, (_, tag) in enumerate(replicates)
        ),
        method,
        max(part.allowed for part in parts),
    )


def unconditional_moments(
    section: Section,
    noise: float,
    orders: Sequence[int],
    samples: int,
    blur: float = 0.0,
    place: int | None = None,
) -> dict[int, ConditionalMoments]:
    """Return K_k of a section of which nothing is known; see `conditional_moments`.

    Parameters
    ----------
    section, noise, orders, samples, blur
        As there.
    place : int, optional
        Its number when it is averaged with others, at other values of known coordinates: then rules
        are coarser, samples are its own, and what they do not meet is bounded instead of refused.
    """
    invariant = {k: _invariant_basis(section, k) for k in orders}
    found = {
        k: ConditionalMoments(k, np.zeros((len(b),) * 2), (), (), "symmetry", 0)
        for k, b in invariant.items()
        if not b.shape[1]
    }
    wanted = [k for k in orders if k not in found]
    if not wanted:
        return found
    law = law_on(section)
    if law is not None:
        return found | moments_of_law(section, law, noise + blur, wanted, invariant, samples, place)
    if blur > 0:
        return found | regressed_moments(section, noise + blur, wanted, invariant, samples, place)
    on_line = _on_the_line(section.link, section.A.tobytes(), section.b.tobytes(), noise)
    if on_line is not None:
        value, error = on_line
        for k in wanted:
            other = np.array([[value[k] + error[k]]])
            found[k] = ConditionalMoments(k, np.array([[value[k]]]), (other,), (), "level sets", 1)
        return found
    if (labels := _curved_labels(section)) is not None:
        curved = CurvedCells(section, labels, np.zeros((0, section.m)))
        cells = [curved.moments(wanted, t) for t in _tolerances(curved)]
        return found | mixed_cells(cells, labels, noise, wanted, invariant)
    values = few_values(section)
    # Lines over a grid of three coordinates give no reliable error; samples do.
    if values is not None and section.planes is not None and section.m <= 4:
        cells = cells_of(section, values, wanted)
        return found | mixed_cells(cells, values, noise, wanted, invariant)
    return found | regressed_moments(section, noise, wanted, invariant, samples, place)


@lru_cache(maxsize=256)
def _on_the_line(
    link: Link, slope: bytes, offset: bytes, noise: float
) -> tuple[Array, Array] | None:
    """Return squared moments up to order 8 of a one-dimensional section, kept for all orders.

    Of a section that folds too often nothing is known, and its error is one. The answer is None in
    more dimensions, or where breaks were missed, which shows in a total mass other than one.
    """
    if len(slope) != len(offset):
        return None
    section = Section(link, np.frombuffer(slope).reshape(-1, 1), np.frombuffer(offset))
    levels = LevelSets(section)
    if not levels.tractable:
        return np.zeros(HIGHEST_ORDER + 1), np.ones(HIGHEST_ORDER + 1)
    value, error = levels.squared_moments(HIGHEST_ORDER, noise)
    sound = error[0] < 1e-3 and np.isfinite(value).all() and value.max() < 1 + 1e-3
    return (value, error) if sound else None


def is_sampled(section: Section) -> bool:
    """Return whether the moments of a section rest on samples of its label.

    Parameters
    ----------
    section : Section
        The link in the coordinates of interest.
    """
    return section.m > 1 and law_on(section) is None and few_values(section) is None


def _curved_labels(section: Section) -> Array | None:
    """Return the labels when they are finitely many and their cells have curved boundaries."""
    curves = 2 <= section.m <= MOST_DIRECTIONS and law_on(section) is None
    return few_values(section) if curves and section.planes is None else None


def _tolerances(cells: CurvedCells) -> tuple[float, float]:
    """Tolerances of two rules; rare labels ask for finer ones, since moments are divided by mass.

    Raises
    ------
    LearnabilityError
        When a label is rarer than the integrals can reach.
    """
    rarest = cells.least_mass
    if rarest < RAREST_LABEL:
        raise LearnabilityError(
            f"A label of {cells.section.link!r} has a probability of about {rarest:.1g}, but its "
            f"cells are integrated where each has at least {RAREST_LABEL:g}."
        )
    finer = min(1.0, 50 * rarest)
    fine, rough = (1e-10, 1e-8) if cells.section.m == 2 else (1e-7, 1e-6)
    return fine * finer, rough * finer


def mixed_cells(
    cells: list[tuple[Array, dict[int, Array]]],
    labels: Array,
    noise: float,
    orders: list[int],
    invariant: dict[int, Array],
) -> dict[int, ConditionalMoments]:
    """Return K_k from masses and moments of the cells {g = v}, by each rule; noise mixes them."""
    estimates: dict[int, list[Array]] = {k: [] for k in orders}
    for mass, moments in cells:
        for k in orders:
            gram = mixture_gram(labels, mass, moments[k], noise)
            projector = invariant[k] @ invariant[k].T
            estimates[k].append(projector @ gram @ projector)
    return {
        k: ConditionalMoments(k, grams[0], tuple(grams[1:]), (), "cells", invariant[k].shape[1])
        for k, grams in estimates.items()
    }


def _by_curved_cells(
    section: Section, labels: Array, orders: Sequence[int], known: Array
) -> dict[int, ConditionalMoments]:
    """Return K_k given known coordinates; entries that symmetries forbid are zero."""
    somewhere = section.fix(known, np.random.default_rng(43).standard_normal(len(known)))
    invariant = {k: _invariant_basis(somewhere, k) for k in orders}
    cells = CurvedCells(section, labels, known)
    wanted = [k for k in orders if invariant[k].shape[1]]
    whole = CurvedCells(section, labels, known[:0])
    grams = [cells.grams(wanted, t) for t in _tolerances(whole)] if wanted else []
    found = {}
    for k in orders:
        projector = invariant[k] @ invariant[k].T
        estimates = [projector @ g[k] @ projector for g in grams] if k in wanted else [projector]
        method = "cells" if k in wanted else "symmetry"
        rank = invariant[k].shape[1]
        found[k] = ConditionalMoments(k, estimates[0], tuple(estimates[1:]), (), method, rank)
    return found


def conditional_law(section: Section, noise: float, order: int) -> Callable[[Array], Array]:
    """Return the function y -> E[h(z) | y] of the orthonormal Hermite products of one order.

    Parameters
    ----------
    section : Section
        The link in the coordinates of interest, m of them.
    noise : float
        Variance of the label noise.
    order : int
        Order of the products.

    Returns
    -------
    callable
        From labels (n,) to (n, q); NaN for labels that do not occur. The method is that of
        `conditional_moments`.
    """
    invariant = _invariant_basis(section, order)
    law = law_on(section)
    if law is not None:
        return mean_of_law(section, law, noise, order)
    if section.m == 1 and LevelSets(section).tractable:
        levels = LevelSets(section)
        return lambda y: levels.conditional(y, order, noise)[order][:, None]
    labels = few_values(section)
    if labels is not None and section.break_functions is not None and section.m <= 4:
        mass, moments = cells_of(section, labels, [order])[0]
        return lambda y: mixture_mean(y, labels, mass, moments[order], noise)
    if not invariant.shape[1]:
        return lambda y: np.zeros((len(y), len(invariant)))
    cross = regression_of_products(section, noise, [order], {order: invariant}, MANY_SAMPLES)
    return lambda y: cross.predict(y).T @ invariant.T


def _invariant_basis(section: Section, order: int) -> Array:
    """Orthonormal basis (q, p) of the products of an order that the symmetries of g leave fixed."""
    projector = np.mean([product_rotation(turn, order) for turn in section.symmetries], axis=0)
    values, vectors = np.linalg.eigh(0.5 * (projector + projector.T))
    return vectors[:, values > 0.5]
