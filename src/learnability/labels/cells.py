"""Finitely many labels have cells {g = v} with exact masses and moments; noise mixes them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.hermite_products import product_rotation
from learnability.gaussian.quadrature import adapted_frame, rules_for
from learnability.gaussian.rules import Rule, composite_legendre
from learnability.gaussian.sections import Section
from learnability.labels._soft_cells import soft_cells
from learnability.labels.finite_laws import FiniteLaw
from learnability.labels.link import Link

__all__ = ["cells_of", "few_values", "mixture_gram", "mixture_mean", "soft_masses"]

Array = NDArray[np.float64]

_MOST_LABELS = 24


def few_values(section: Section) -> Array | None:
    """Return the labels of a section when they are finitely many, else None."""
    first, second = np.random.default_rng(3).standard_normal((2, 4096, section.m))
    seen = section(np.concatenate([first, 2.5 * first]))
    if len(_different(seen)[0]) > _MOST_LABELS:
        return None
    labels, tolerance = _different(np.append(seen, section(section.beside_breaks)))
    if len(labels) > _MOST_LABELS:
        return None
    again = section(second)
    nearest = labels[np.abs(again[:, None] - labels).argmin(axis=1)]
    return labels if np.abs(again - nearest).max() <= tolerance else None


def _different(labels: Array) -> tuple[Array, float]:
    """Sorted different labels, and the rounding below which two of them are one."""
    ordered = np.sort(labels)
    tolerance = 1e-9 * max(float(np.abs(ordered).max(initial=0.0)), 1e-300)
    starts = np.concatenate([[0], np.nonzero(np.diff(ordered) > tolerance)[0] + 1])
    return ordered[starts], tolerance


def cells_of(
    section: Section, labels: Array, orders: Sequence[int]
) -> list[tuple[Array, dict[int, Array]]]:
    """Return masses (n,) and moments, order -> (n, q), of the cells {g = v}, from each rule."""
    frame = adapted_frame(section)
    turned = section.inside(frame)
    found = []
    for rule in rules_for(turned, constant=True)[0]:
        moments = _cell_moments(rule, turned, labels, [0, *orders])
        turn = {k: moments[k] @ product_rotation(frame.T, k).T for k in orders}
        found.append((moments[0][:, 0], turn))
    return found


def soft_masses(link: Link, law: FiniteLaw) -> tuple[Array, Array]:
    """Return the labels of a random label, and the probability of each."""
    mass = soft_cells(Section.whole(link), law, [1])[0][0]
    return np.array(law.labels), mass


def _cell_moments(
    rule: Rule, section: Section, labels: Array, orders: list[int]
) -> dict[int, Array]:
    """Return moments of every cell: order -> array (labels, q)."""
    values = rule.evaluate(section)
    middle = 0.5 * (labels[1:] + labels[:-1])
    owner = np.searchsorted(middle, values)
    cells = [rule.hermite_moments((owner == j).astype(float), orders) for j in range(len(labels))]
    return {k: np.concatenate([cell[k] for cell in cells]) for k in orders}


def mixture_gram(labels: Array, mass: Array, moments: Array, noise: float) -> Array:
    """E[zeta zeta^T] for labels with given masses (n,) and moments (n, q), plus Gaussian noise."""
    if noise == 0:
        with np.errstate(all="ignore"):
            return moments.T @ np.where(mass[:, None] > 1e-200, moments / mass[:, None], 0.0)
    sigma = math.sqrt(noise)
    steps = np.linspace(-9, 9, 25) * sigma
    edges = np.sort((labels[:, None] + steps).ravel())
    edges = edges[np.diff(edges, prepend=-np.inf) > 0.1 * sigma]
    y, weight = composite_legendre(edges, sigma, 12)
    kernel = np.exp(-0.5 * ((y - labels[:, None]) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
    density, signal = mass @ kernel, moments.T @ kernel
    with np.errstate(all="ignore"):
        ratio = np.where(density > 1e-290, weight / density, 0.0)
    return (signal * ratio) @ signal.T


def mixture_mean(y: Array, labels: Array, mass: Array, moments: Array, noise: float) -> Array:
    """E[h | y] for labels with given masses and moments, plus Gaussian noise, shape (len(y), q)."""
    distance = y[:, None] - labels
    if noise > 0:
        log_kernel = -0.5 * distance**2 / noise
        kernel = np.exp(log_kernel - log_kernel.max(axis=1, keepdims=True))
    else:
        kernel = (np.abs(distance) <= 1e-9 * (1 + np.abs(labels))).astype(float)
    density = kernel @ mass
    with np.errstate(all="ignore"):
        return np.where(density[:, None] > 0, (kernel @ moments) / density[:, None], np.nan)
