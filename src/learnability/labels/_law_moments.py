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
from learnability.labels._soft_cells import core_section, soft_cells, visible_products
from learnability.labels.cells import mixture_mean
from learnability.labels.continuous_laws import GaussianLaw, LatentLaw
from learnability.labels.finite_laws import FiniteLaw
from learnability.labels.laws import Law
from learnability.labels.line_tables import line_table
from learnability.labels.link import Link

if TYPE_CHECKING:
    from learnability.labels.conditional import ConditionalMoments

__all__ = ["law_on", "mean_of_law", "moments_of_law"]

Array = NDArray[np.float64]


def law_on(section: Section) -> Law | None:
    """Return the law of the random label of a section; None when the label is a function."""
    return section.link.law if isinstance(section.link, Link) else None


def moments_of_law(
    section: Section,
    law: Law,
    noise: float,
    orders: list[int],
    invariant: dict[int, Array],
    samples: int,
) -> dict[int, ConditionalMoments]:
    """Return K_k of a random label; see `conditional.conditional_moments`.

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
    """
    from learnability.labels.conditional import (
        ConditionalMoments,
        conditional_moments,
        mixed_cells,
    )

    if isinstance(law, FiniteLaw):
        cells = soft_cells(section, law, orders)
        return mixed_cells(cells, np.array(law.labels), noise, orders, invariant)
    if section.m == 1:
        tables = [line_table(law, section.A, section.b, noise, nodes=n) for n in (12, 9)]
        found = [table.squared_moments(max(orders)) for table in tables if table is not None]
        if len(found) == 2:
            fine, rough = found
            off = abs(1 - fine[0])

            def on_line(k: int) -> ConditionalMoments:
                other = np.array([[rough[k] + off]])
                return ConditionalMoments(k, np.array([[fine[k]]]), (other,), (), "level sets", 1)

            return {k: on_line(k) for k in orders}
    assert isinstance(law, GaussianLaw | LatentLaw)
    core = core_section(section, law)
    whole = conditional_moments(core, noise, orders, None, samples)
    return {k: _restricted(whole[k], section.m, core.m - section.m) for k in orders}


def _restricted(moments: ConditionalMoments, m: int, latents: int) -> ConditionalMoments:
    """Return the moments of products of visible coordinates alone."""
    keep = visible_products(m, latents, moments.order)
    block = np.ix_(keep, keep)
    return replace(
        moments,
        matrix=moments.matrix[block],
        rules=tuple(rule[block] for rule in moments.rules),
        replicates=tuple((part[block], tag) for part, tag in moments.replicates),
        allowed=min(moments.allowed, len(keep)),
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
    core = core_section(section, law)
    keep = visible_products(section.m, core.m - section.m, order)
    found = conditional_law(core, noise, order)
    return lambda y: found(y)[:, keep]
