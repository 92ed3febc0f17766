"""Ridge regression in dimension d on features that have found a subspace: levels and errors.

After steps that found a subspace U of the hidden directions, neurons are w = w_0 + s u with w_0
random of unit length and u standard normal in U. Given x_U, the features have the degrees l in the
d - |U| other coordinates,

    E_u[M_l(s u . x_U) M_l(s u . x'_U)] (x_perp . x'_perp / d)^l / l!,

with M_l the mean of the l-th derivative of sigma (`shifted_moments`). Each of these kernels on U is
split into eigenfunctions; one of them times the products of degree l is a level (`equivalent`), and
the energy of the target on it comes from E[He_beta(x_perp) f | x_U]. As d grows, with n and p
powers of d, the errors converge to the risk floors.

References
----------
Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25 (2024), conjecture 3; Defilippis, Loureiro,
Misiakiewicz, arXiv:2405.15699 (random features in finite dimension).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.quadrature import adapted_complement, rules_for
from learnability.gaussian.rules import sobol_normals
from learnability.gaussian.sections import Section
from learnability.labels.link import Link
from learnability.theory.equivalent import Levels
from learnability.theory.shifted_moments import tabulated_moments

__all__ = ["HIGHEST", "levels_in", "subspace_levels"]

Array = NDArray[np.float64]

HIGHEST = 4
"""The highest degree in the unknown coordinates; higher ones act as noise and as a ridge."""
_LOG_NEURONS = 8
_SMALL = 1e-13


def subspace_levels(
    link: Link, known: Array, activation: Link, strength: float, noise: float
) -> list[tuple[int, Array, Array]]:
    """Return the levels of features and target by degree, without their sizes.

    Parameters
    ----------
    link : Link
        The target function.
    known : array, shape (k, r)
        Orthonormal rows, the subspace U.
    activation : Link
        The function sigma.
    strength : float
        The length s of the neurons along each direction of U.
    noise : float
        Variance of the label noise.

    Returns
    -------
    list of (degree, weights, energies)
        Weights k_lm of the kernel on each eigenfunction and energies of the target there; the last
        entry, of degree -1, has the weight and the energy of all higher degrees, with the noise.
    """
    section = Section.whole(link)
    k = len(known)
    frame = np.vstack([known, adapted_complement(section, known)]) if k else np.eye(link.r)
    turned = section.inside(frame)
    rule = rules_for(turned, k)[0][0]
    values = rule.evaluate(turned)
    energy = rule.mean(values**2)
    if k < link.r:
        moments = rule.hermite_moments(values, list(range(HIGHEST + 1)))
    else:  # All directions are known, and no coordinates are left.
        own = (values * rule.inner_weights).sum(axis=1)[:, None]
        moments = {degree: own * (degree == 0) for degree in range(HIGHEST + 1)}
    x, weights = rule.outer, rule.outer_weights
    u = sobol_normals(max(k, 1), _LOG_NEURONS, seed=0)[:, :k] if k else np.zeros((1, 0))
    fields = strength * (x @ u.T) if k else np.zeros((len(x), 1))
    reach = float(np.abs(fields).max()) + 1.0
    seen = tabulated_moments(activation, reach, 1.0, HIGHEST)(fields)
    power = float(weights @ tabulated_moments(activation, reach, 1.0, 0, 2)(fields)[0].mean(axis=1))
    found: list[tuple[int, Array, Array]] = []
    left, missed = power, energy
    for degree in range(HIGHEST + 1):
        features = seen[degree] / math.sqrt(len(u) * math.factorial(degree))
        squares, vectors = np.linalg.eigh((features.T * weights) @ features)
        kept = squares > _SMALL * max(float(squares[-1]), 1e-300)
        functions = features @ vectors[:, kept]
        along = (functions.T * weights) @ moments[degree]
        energies = np.sum(along**2, axis=1) / squares[kept]
        total = float(weights @ np.sum(moments[degree] ** 2, axis=1))
        missed -= total
        # The part of this degree that no neuron sees is a level without weight.
        found.append((degree, np.append(squares[kept], 0.0),
                      np.append(energies, max(total - energies.sum(), 0.0))))  # fmt: skip
        left -= float(np.sum(squares))
    found.append((-1, np.array([max(left, 0.0)]), np.array([max(missed, 0.0) + noise])))
    return found


def levels_in(d: int, known: int, found: list[tuple[int, Array, Array]]) -> Levels:
    """Return the levels in dimension d.

    Parameters
    ----------
    d, known : int
        The dimension, and that of U.
    found : list
        What `subspace_levels` returns.
    """
    eigenvalues, sizes, energies = [], [], []
    for degree, weight, energy in found[:-1]:
        count = math.comb(d - known + degree - 1, degree)
        eigenvalues.append(weight / count)
        sizes.append(np.where(weight > 0, float(count), 0.0))
        energies.append(energy)
    return Levels(
        np.concatenate(eigenvalues),
        np.concatenate(sizes),
        np.concatenate(energies),
        float(found[-1][1][0]),
        float(found[-1][2][0]),
    )
