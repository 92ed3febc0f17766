"""Moments of the hidden coordinates given the label, with a discrete law in place of the label's.

Averages over the label of functions of E[z | y] and E[z z^T | y] become weighted sums: level sets
for one coordinate, exact masses for finitely many labels, scrambled Sobol points otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.rules import composite_legendre, sobol_normals
from learnability.gaussian.sections import REACH, Section
from learnability.labels.cells import cells_of, few_values, soft_masses
from learnability.labels.channel import Channel
from learnability.labels.continuous_laws import GaussianLaw, LatentLaw
from learnability.labels.finite_laws import FiniteLaw
from learnability.labels.laws import Law
from learnability.labels.level_sets import LevelSets
from learnability.labels.line_tables import line_table

__all__ = ["LabelLaw", "conditionals", "label_law"]

Array = NDArray[np.float64]

_SOBOL = 12  # Base-two logarithm of the number of labels where they are sampled.
_CHUNK = 8192
_FEW = 24


@dataclass(frozen=True, eq=False)
class LabelLaw:
    """Labels with weights, and the conditional moments at each.

    Attributes
    ----------
    weights : array, shape (k,)
        Weights that sum to one.
    means : array, shape (k, r)
        E[z | y].
    G : array, shape (k, r, r)
        E[z z^T - I | y].
    """

    weights: Array
    means: Array
    G: Array


def conditionals(channel: Channel, y: Array, with_means: bool) -> tuple[Array, Array]:
    """Return E[z | y] (n, r) and E[z z^T - I | y] (n, r, r), zero for labels that do not occur.

    The means are also zero when they are not needed, which saves their computation.
    """
    y = np.asarray(y, dtype=float)
    parts = [y[k : k + _CHUNK] for k in range(0, len(y), _CHUNK)]
    means = np.zeros((len(y), channel.link.r))
    if with_means:
        means = np.concatenate([channel.zeta(1, part) for part in parts])
    G = np.concatenate([channel.G(part) for part in parts])
    known = np.isfinite(G).all(axis=(1, 2)) & np.isfinite(means).all(axis=1)
    if not known.any():
        raise LearnabilityError(
            f"None of the {len(y)} labels occurs under {channel.link!r}: check the link and the "
            "labels."
        )
    return np.where(known[:, None], means, 0.0), np.where(known[:, None, None], G, 0.0)


@lru_cache(maxsize=16)
def label_law(channel: Channel, with_means: bool) -> LabelLaw:
    """Return the law of the label of a channel.

    Parameters
    ----------
    channel : Channel
        The link and its noise.
    with_means : bool
        Whether E[z | y] is needed; it is zero otherwise.

    Returns
    -------
    LabelLaw
    """
    if channel.law is not None:
        return _of_random_label(channel, channel.law, with_means)
    section = Section.whole(channel.link)
    if section.m == 1 and not channel.noise:
        levels = LevelSets(section)
        if levels.tractable and (law := _from_level_sets(channel, levels)) is not None:
            return law
    if section.m == 1:
        edges = np.concatenate([[-REACH], section.breakpoints, [REACH]])
        z, weights = composite_legendre(edges, 0.1, 4)
        weights = weights * np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
        return _at(channel, with_means, *_noisy(channel, section(z[:, None]), weights))
    values = few_values(section)
    if values is not None and section.break_functions is not None and section.m <= 4:
        masses = cells_of(section, values, [2])[0][0]
        return _at(channel, with_means, *_noisy(channel, values, masses))
    normals = sobol_normals(section.m + 1, _SOBOL, 0)
    y = section(normals[:, :-1]) + math.sqrt(channel.noise) * normals[:, -1]
    return _at(channel, with_means, y, np.full(len(y), 1 / len(y)))


def _of_random_label(channel: Channel, law: Law, with_means: bool) -> LabelLaw:
    if isinstance(law, FiniteLaw):
        return _at(channel, with_means, *_noisy(channel, *soft_masses(channel.link, law)))
    table = line_table(law, np.ones((1, 1)), np.zeros(1), channel.noise) if law.r == 1 else None
    if table is not None:
        mass, first, second = table.moments(2)
        keep = mass * table.width > 1e-16
        weights = (mass * table.width)[keep]
        means, G = (first / mass)[keep, None], (math.sqrt(2) * second / mass)[keep, None, None]
        return LabelLaw(weights / weights.sum(), means, G)
    assert isinstance(law, GaussianLaw | LatentLaw)
    normals = sobol_normals(law.core.r + 1, _SOBOL, 0)
    y = np.asarray(law.core(normals[:, :-1])) + math.sqrt(channel.noise) * normals[:, -1]
    return _at(channel, with_means, y, np.full(len(y), 1 / len(y)))


def _noisy(channel: Channel, y: Array, weights: Array) -> tuple[Array, Array]:
    """Return labels and weights with the noise added."""
    if not channel.noise:
        return y, weights
    y, which = np.unique(y, return_inverse=True)
    weights = np.bincount(which, weights).astype(float)
    if len(y) <= _FEW:  # With little noise the moments change fast between two values.
        x, inner = composite_legendre(np.array([-8.5, 8.5]), 0.2, 6)
        inner = inner * np.exp(-0.5 * x**2)
    else:
        x, inner = np.polynomial.hermite_e.hermegauss(16)
    noisy = y[:, None] + math.sqrt(channel.noise) * x
    return noisy.ravel(), (weights[:, None] * inner / inner.sum()).ravel()


def _at(channel: Channel, with_means: bool, y: Array, weights: Array) -> LabelLaw:
    keep = weights > 1e-14
    means, G = conditionals(channel, y[keep], with_means)
    return LabelLaw(weights[keep] / weights[keep].sum(), means, G)


def _from_level_sets(channel: Channel, levels: LevelSets) -> LabelLaw | None:
    """Return the law from all roots of each label; None when they miss a part of it."""
    from scipy.special import ndtr

    weights, means, squares = [], [], []
    for part in levels.labels(16):
        density = np.exp(-0.5 * part.roots**2) / math.sqrt(2 * math.pi) * part.weights
        total = np.maximum(density.sum(axis=0), 1e-300)
        weights.append(total * part.widths)
        means.append((part.roots * density).sum(axis=0) / total)
        squares.append((part.roots**2 * density).sum(axis=0) / total)
    flats = levels.pieces.flats
    if len(flats):
        mean, G = conditionals(channel, levels.section(flats.mean(axis=1)[:, None]), True)
        weights.append(np.abs(ndtr(flats[:, 1]) - ndtr(flats[:, 0])))
        means.append(mean[:, 0])
        squares.append(1 + G[:, 0, 0])
    mass = np.concatenate(weights)
    if abs(mass.sum() - 1) > 1e-3:
        return None
    keep = mass > 1e-16
    return LabelLaw(
        mass[keep] / mass[keep].sum(),
        np.concatenate(means)[keep, None],
        np.concatenate(squares)[keep, None, None] - 1,
    )
