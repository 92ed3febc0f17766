"""Ridge regression in dimension d on features that have found a subspace: levels and errors.

Neurons have coordinates u along a known subspace U of the hidden directions, small ones v along the
other hidden directions, and a rest of length c (`trained_neurons`). Given x_U, the features are

    E sigma(u . x_U + w g) + sum over beta of v^beta / beta! M_l(u . x_U) He_beta(z) + ...,

with w^2 = |v|^2 + c^2, l = |beta|, M_l the mean of the l-th derivative of sigma at that width
(`shifted_moments`). For each beta the mean over neurons is a kernel on U, which is split into
eigenfunctions; one of them times He_beta is a level (`equivalent`), and the energy of the target on
it comes from E[He_beta(z) f | x_U]. The products of degree l in the d - |U| coordinates that carry
no target are one level for each eigenfunction of E[M_l(u . x_U) M_l(u . x'_U)] w^2l / l!. As d
grows, with n and p powers of d, the errors converge to the risk floors if the neurons fill U.

References
----------
Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25 (2024), conjecture 3; Defilippis, Loureiro,
Misiakiewicz, arXiv:2405.15699 (random features in finite dimension).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.hermite_products import multi_indices
from learnability.gaussian.quadrature import adapted_complement, rules_for
from learnability.gaussian.rules import Rule, gauss_normal, product_grid
from learnability.gaussian.sections import Section
from learnability.labels.link import Link
from learnability.theory.equivalent import Levels
from learnability.theory.shifted_moments import moments_by_width
from learnability.theory.trained_neurons import Neurons

__all__ = ["HIGHEST", "Found", "Group", "levels_in", "subspace_levels"]

Array = NDArray[np.float64]

HIGHEST = 4
"""The highest degree in the unknown coordinates; higher ones act as noise and as a ridge."""
_SMALL = 1e-13
_MOST_SHARED, _NOISE_NODES = 2, 10
"""Directions of shared noise that are kept as coordinates, and the nodes along each."""
_SETTLED = 1e-4
"""The largest difference of E[f^2] by two small rules that are then taken."""


class Group(NamedTuple):
    """Levels that belong to the same functions of the coordinates outside U.

    Attributes
    ----------
    degree : int
        Degree of the products that carry no target; -1 for one product of hidden coordinates.
    weights, energies : array
        Weights of the kernel, and energies of the target, by eigenfunction on U.
    """

    degree: int
    weights: Array
    energies: Array


class Found(NamedTuple):
    """All groups of levels, and the weight and energy beyond them, with the noise."""

    groups: list[Group]
    tail: float
    noise: float


def subspace_levels(
    link: Link, known: Array, activation: Link, neurons: Neurons, noise: float
) -> Found:
    """Return the levels of features and target, without the sizes in dimension d.

    Parameters
    ----------
    link : Link
        The target function.
    known : array, shape (k, r)
        Orthonormal rows, the subspace U.
    activation : Link
        The function sigma.
    neurons : Neurons
        The law of the neurons.
    noise : float
        Variance of the label noise.
    """
    section = Section.whole(link)
    k = len(known)
    frame = np.vstack([known, adapted_complement(section, known)]) if k else np.eye(link.r)
    turned = section.inside(frame)
    rule = _rule(turned, k)
    values = rule.evaluate(turned)
    energy = rule.mean(values**2)
    if k < link.r:
        moments = rule.hermite_moments(values, list(range(HIGHEST + 1)))
    else:  # All directions are known, and no coordinates are left.
        moments = {0: (values * rule.inner_weights).sum(axis=1)[:, None]}
    x, weights = rule.outer, rule.outer_weights
    hidden = neurons.hidden @ frame.T
    along, beside = hidden[:, :k], hidden[:, k:]
    # Noise that neurons share is one more coordinate; the target does not depend on it.
    kept = neurons.shared[:, :_MOST_SHARED]
    lost = np.sum(neurons.shared[:, _MOST_SHARED:] ** 2, axis=1)
    widths = np.sqrt(neurons.rest**2 + np.sum(beside**2, axis=1) + lost)
    if kept.shape[1]:
        noises, shares = product_grid([gauss_normal(np.zeros(0), _NOISE_NODES)] * kept.shape[1])
        x = np.hstack([np.repeat(x, len(noises), axis=0), np.tile(noises, (len(x), 1))])
        weights = np.outer(weights, shares).ravel()
        moments = {one: np.repeat(own, len(noises), axis=0) for one, own in moments.items()}
    fields = x @ np.hstack([along, kept]).T
    seen = moments_by_width(activation, fields, widths, HIGHEST)
    power = moments_by_width(activation, fields, widths, 0, power=2)[0]
    left, missed = float(weights @ power.mean(axis=1)), energy
    groups = []
    for degree in range(HIGHEST + 1):
        for j, beta in enumerate(multi_indices(link.r - k, degree) if degree in moments else ()):
            own = np.prod(beside**beta, axis=1) / math.sqrt(math.prod(map(math.factorial, beta)))
            groups.append(_split(seen[degree] * own, weights, moments[degree][:, j]))
            missed -= float(weights @ moments[degree][:, j] ** 2)
        own = widths**degree / math.sqrt(math.factorial(degree))
        bulk = _split(seen[degree] * own, weights, np.zeros(len(x)))
        left -= float(bulk.weights.sum())
        groups.append(bulk._replace(degree=degree))
    return Found(groups, max(left, 0.0), max(missed, 0.0) + noise)


def _rule(turned: Section, k: int) -> Rule:
    """Return a small rule where two of them agree on E[f^2], else the usual one."""
    small = rules_for(turned, k, constant=True)[0][:2]
    first, second = (rule.mean(rule.evaluate(turned) ** 2) for rule in small)
    return small[0] if abs(first - second) <= _SETTLED * first else rules_for(turned, k)[0][0]


def _split(features: Array, weights: Array, moment: Array) -> Group:
    """Return the eigenvalues of a kernel of features (x, neuron), and a moment's energies."""
    features = features / math.sqrt(features.shape[1])
    squares, vectors = np.linalg.eigh((features.T * weights) @ features)
    kept = squares > _SMALL * max(float(squares[-1]), 1e-300)
    along = ((features @ vectors[:, kept]).T * weights) @ moment
    energies = along**2 / squares[kept]
    total = float(weights @ moment**2)
    # What no neuron sees is a level without weight.
    return Group(
        -1, np.append(squares[kept], 0.0), np.append(energies, max(total - energies.sum(), 0.0))
    )


def levels_in(d: int, known: int, r: int, found: Found) -> Levels:
    """Return the levels in dimension d.

    Parameters
    ----------
    d, known, r : int
        The dimension, that of U, and the number of hidden directions.
    found : Found
        What `subspace_levels` returns.
    """
    eigenvalues, sizes, energies = [], [], []
    for degree, weight, energy in found.groups:
        count, own = 1.0, 1.0
        if degree >= 0:
            count = float(math.comb(d - known + degree - 1, degree))
            hidden = math.comb(r - known + degree - 1, degree) if r > known else int(degree == 0)
            own = max(count - hidden, 0.0)
        eigenvalues.append(weight / count)
        sizes.append(np.where(weight > 0, own, 0.0))
        energies.append(energy)
    return Levels(
        np.concatenate(eigenvalues),
        np.concatenate(sizes),
        np.concatenate(energies),
        found.tail,
        found.noise,
    )
