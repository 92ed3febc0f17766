"""A kernel or random features, and a target, by degree.

The kernel of random features with activation sigma and weights w ~ N(0, I_d / d) is E_w[sigma(w.x)
sigma(w.x')] = k(x.x' / d) with k(t) = sum_l (c_l^2 / l!) t^l, c_l the Hermite coefficients of
sigma. In dimension d, degree l has N_l ~ d^l / l! functions that share the weight k_l of t^l.
Degrees below log n / log d are learned, those above act as noise and as a ridge. The squared length
of a Gaussian x is d up to corrections of relative order 1 / sqrt(d). They are left out but for one:
where the kernel depends on q = |x|^2 / d, its first function is not the constant, and what is
missing of the label's mean is not learned. Where that mean is large the constant and the
standardised length rho are taken together, with the kernel G(q, q', c) there,

    G + k_2 / d           (G_q + k_2 / d) sqrt(2 / d)
    (the same)            (G_qq' + k_2 / d) 2 / d          at q = q' = 1, c = 0.

A degree that the kernel lacks is seen through t^(l+2), of which a part
(l+2)(l+1) / (2 d) is of degree l.

References
----------
El Karoui, Ann. Statist. 38 (2010); Ghorbani, Mei, Misiakiewicz, Montanari, Ann. Statist. 49 (2021);
Hu, Lu, Misiakiewicz, arXiv:2403.08160 (degrees at which n / d^l stays finite).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.sections import Section
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.learners.measurement import lengths_count
from learnability.targets.base import Target
from learnability.theory.equivalent import Levels
from learnability.theory.radial import harmonics

__all__ = [
    "HIGHEST_DEGREE",
    "Bends",
    "activation_bends",
    "activation_weights",
    "finite_levels",
    "kernel_weights",
    "limit_levels",
]

Array = NDArray[np.float64]

HIGHEST_DEGREE = 6
"""Theory resolves degrees up to this one."""
_ZERO = 1e-14


class Bends(NamedTuple):
    """How a kernel G(q, q', c) depends on the lengths at q = q' = 1, c = 0: G_q and G_qq'."""

    slope: float
    cross: float


def activation_bends(activation: Link) -> Bends:
    """Return those of the kernel of an activation: E sigma(sqrt(q) z) has the slope c_2 / 2."""
    found = expand(activation, 2)
    half = 0.5 * float(found.tensors[2].item())
    return Bends(found.mean * half, half**2)


def activation_weights(activation: Link) -> tuple[Array, float]:
    """Return weights k_0 ... k_7 of an activation's kernel and that of all higher degrees."""
    found = expand(activation, HIGHEST_DEGREE + 1)
    weights = np.array([found.power(k) for k in range(found.order + 1)])
    weights[weights < _ZERO * found.energy] = 0.0
    return weights, _cleaned(found.remainder, found.energy)


def kernel_weights(kernel: Link) -> tuple[Array, float]:
    """Return Taylor coefficients k_0 ... k_7 of a kernel k(t) and the sum of all others.

    Raises
    ------
    LearnabilityError
        When the function is not a kernel in every dimension.
    """
    total = float(kernel(1.0))
    breaks = Section.whole(kernel).breakpoints if kernel.breaks is not None else np.zeros(0)
    if (np.abs(breaks) < 1).any() or not math.isfinite(total):
        raise _not_a_kernel(kernel, "it is not smooth between -1 and 1")
    weights, accuracy = _taylor(kernel)
    rest = total - weights.sum()
    lowest = min(weights.min(), rest) if np.isfinite(weights).all() else -math.inf
    if lowest < -accuracy * abs(total) or total <= 0:
        raise _not_a_kernel(kernel, "its Taylor coefficients at 0 are not all positive")
    weights[np.abs(weights) < accuracy * total] = 0.0
    return weights, rest if rest > accuracy * total else 0.0


def _taylor(kernel: Link) -> tuple[Array, float]:
    """Return Taylor coefficients at 0, exact for formulas, else from a fit, and their accuracy."""
    count = HIGHEST_DEGREE + 2
    if kernel.tree is not None:
        found, part = [], kernel
        for degree in range(count):
            found.append(float(part(0.0)) / math.factorial(degree))
            part = part.derivative()
        return np.array(found), 1e-12
    # A kernel is analytic in the unit disc: on (-0.5, 0.5) interpolation has errors 3.7^-degree.
    fit = np.polynomial.Chebyshev.interpolate(lambda t: np.asarray(kernel(t)), 24, (-0.5, 0.5))
    return np.array(fit.convert(kind=np.polynomial.Polynomial).coef[:count], dtype=float), 1e-6


def _not_a_kernel(kernel: Link, why: str) -> LearnabilityError:
    return LearnabilityError(
        f"`kernel` was given as {kernel!r}, but {why}, so it is not positive definite in every "
        "dimension: kernels such as exp(z) or (1 + z)**3 are accepted."
    )


def _cleaned(rest: float, total: float) -> float:
    return rest if rest > 1e-12 * total else 0.0


def limit_levels(weights: Array, rest: float, target: Target, degree: int) -> Levels:
    """Return levels in units of d^l / l! functions, for n and p of that order, as d grows.

    Parameters
    ----------
    weights, rest : array, float
        Weights of the kernel by degree, and their rest.
    target : Target
        The target.
    degree : int
        The degree l.
    """
    powers, beyond = target.degree_energies(degree)
    # Lower degrees are learned completely if the kernel has them.
    seen = np.append(weights, [0.0, 0.0])
    lower = np.arange(degree)
    eigenvalues = np.where((seen[lower] > 0) | (seen[lower + 2] > 0), np.inf, 0.0)
    if degree and seen[degree - 1] == 0:
        eigenvalues[-1] = 0.5 * (degree + 1) * seen[degree + 1]
    eigenvalues = np.append(eigenvalues, weights[degree])
    sizes = np.zeros(degree + 1)
    sizes[degree] = 1.0
    tail = float(weights[degree + 1 :].sum()) + rest
    return Levels(eigenvalues, sizes, powers, tail, beyond + target.label_noise)


def finite_levels(
    weights: Array, rest: float, target: Target, d: int, bends: Bends | None = None
) -> Levels:
    """Return all levels in dimension d, with N_l the number of harmonics of degree l.

    Parameters
    ----------
    weights, rest : array, float
        Weights of the kernel by degree, and their rest.
    target : Target
        What is learned.
    d : int
        Dimension.
    bends : Bends, optional
        How the kernel depends on the lengths of inputs.
    """
    count = len(weights)
    powers, beyond = target.degree_energies(count - 1, d)
    sizes = np.array([harmonics(d, k) for k in range(count)], dtype=float)
    k = np.arange(count)
    through = (k + 2) * (k + 1) / (2 * d) * np.append(weights, [0.0, 0.0])[k + 2]
    eigenvalues = np.where(weights > 0, weights, through) / sizes
    noise = beyond + target.label_noise
    if bends is None or not any(bends) or not lengths_count(target, 2 / d):
        return Levels(eigenvalues, sizes, powers, rest, noise)
    radial, root = weights[2] / d, math.sqrt(2 / d)
    across = (bends.slope + radial) * root
    kernel = np.array([[weights[0] + radial, across], [across, (bends.cross + radial) * root**2]])
    values, vectors = np.linalg.eigh(kernel)
    own = target.length_part / math.sqrt(2 * d)  # E[y rho].
    shares = (np.array([target.label_mean, own]) @ vectors) ** 2
    powers = powers.copy()
    powers[2] = max(powers[2] - own**2, 0.0)
    return Levels(
        np.append(np.maximum(values, 0.0), eigenvalues[1:]),
        np.append([1.0, 1.0], sizes[1:]),
        np.append(shares, powers[1:]),
        rest,
        noise,
    )
