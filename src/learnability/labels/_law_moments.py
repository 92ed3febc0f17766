"""Conditional moments of random labels, from soft cells, a table on a line, or the core of a law.

The core of a law is the label as a function of visible and latent coordinates. Its moments,
restricted to products of the visible ones, are those of the law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.sections import Section
from learnability.labels._soft_cells import soft_cells
from learnability.labels.cells import mixture_mean
from learnability.labels.continuous_laws import GaussianLaw, LatentLaw
from learnability.labels.core_sections import core_section, visible_products
from learnability.labels.finite_laws import FiniteLaw
from learnability.labels.laws import Law
from learnability.labels.line_tables import line_table

if TYPE_CHECKING:
    from learnability.labels.conditional import ConditionalMoments

__all__ = ["mean_of_law", "moments_of_law"]

Array = NDArray[np.float64]

_FINE, _ROUGH = (12, 9), (7, 5)
"""Nodes of each panel of two tables: of one line, and of one among many that are averaged."""


def moments_of_law(
    section: Section,
    law: Law,
    noise: float,
    orders: list[int],
    invariant: dict[int, Array],
    samples: int,
    place: int | None = None,
) -> dict[int, ConditionalMoments]:
    """Return K_k of a random label; see `conditional.unconditional_moments`.

    Parameters
    ----------
    section : Section
        A section of the space of the visible coordinates.
    law : Law
        The law of the label.
    noise : float
        Variance of added Gaussian noise.
    orders : list of int
        Orders k.
    invariant : dict
        Order -> basis of the products that symmetries allow.
    samples : int
        Base-two logarithm of the number of samples, where samples are used.
    place : int, optional
        Its number when the section is averaged with others.
    """
    from learnability.labels.conditional import (
        ConditionalMoments,
        mixed_cells,
        unconditional_moments,
    )

    if isinstance(law, FiniteLaw):
        cells = soft_cells(section, law, orders)
        return mixed_cells(cells, np.array(law.labels), noise, orders, invariant)
    if section.m == 1:
        nodes = _FINE if place is None else _ROUGH
        tables = [line_table(law, section.A, section.b, noise, nodes=n) for n in nodes]
        found = [table.squared_moments(max(orders)) for table in tables if table is not None]
        if len(found) == 2:
            fine, rough = found
            off = abs(1 - fine[0])

            def on_line(k: int) -> ConditionalMoments:
                other = np.array([[rough[k] + off]])
                return ConditionalMoments(k, np.array([[fine[k]]]), (other,), (), "level sets", 1)

            return {k: on_line(k) for k in orders}
    core = core_section(section)
    assert core is not None
    whole = unconditional_moments(core, noise, orders, samples, place=place)
    latents = core.m - section.m
    return {k: _restricted(whole[k], section.m, latents, invariant[k].shape[1]) for k in orders}


def _restricted(
    moments: ConditionalMoments, m: int, latents: int, allowed: int
) -> ConditionalMoments:
    """Return the moments of products of visible coordinates alone, of which so many may differ."""
    keep = visible_products(m, latents, moments.order)
    block = np.ix_(keep, keep)
    return replace(
        moments,
        matrix=moments.matrix[block],
        rules=tuple(rule[block] for rule in moments.rules),
        replicates=tuple((part[block], tag) for part, tag in moments.replicates),
        allowed=min(moments.allowed, allowed),
    )


def mean_of_law(section: Section, law: Law, noise: float, order: int) -> Callable[[Array], Array]:
    """Return y -> E[h_k(z) | y] of a random label; see `conditional.conditional_law`.

    Parameters
    ----------
    section, law, noise
        As in `moments_of_law`.
    order : int
        The order k.
    """
    from learnability.labels.conditional import conditional_law

    if isinstance(law, FiniteLaw):
        labels = np.array(law.labels)
        mass, moments = soft_cells(section, law, [order])[0]
        if law.kind == "density":
            between = moments[order] / np.maximum(mass, 1e-300)[:, None]
            return lambda y: np.stack([np.interp(y, labels, c) for c in between.T], axis=1)
        return lambda y: mixture_mean(y, labels, mass, moments[order], noise)
    assert isinstance(law, GaussianLaw | LatentLaw)
    table = line_table(law, section.A, section.b, noise) if section.m == 1 else None
    if table is not None:
        return lambda y: table.means(y, order)[:, None]
    core = core_section(section)
    assert core is not None
    keep = visible_products(section.m, core.m - section.m, order)
    found = conditional_law(core, noise, order)
    return lambda y: found(y)[:, keep]
