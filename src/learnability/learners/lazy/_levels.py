"""A kernel or random features, and a target, by degree.

The kernel of random features with activation sigma and weights w ~ N(0, I_d / d) is E_w[sigma(w.x)
sigma(w.x')] = k(x.x' / d) with k(t) = sum_l (c_l^2 / l!) t^l, c_l the Hermite coefficients of
sigma. Degree l has about d^l / l! functions that share the weight k_l of t^l. As d grows at
n ~ d^l, degrees below l are learned, those above act as noise and as a ridge. A degree that the
kernel lacks is seen through t^(l+2), of which a part (l+2)(l+1) / (2 d) is of degree l. Dimension d
itself, with the lengths of its inputs, is in `_length_blocks`.

References
----------
El Karoui, Ann. Statist. 38 (2010); Ghorbani, Mei, Misiakiewicz, Montanari, Ann. Statist. 49 (2021);
Hu, Lu, Misiakiewicz, arXiv:2403.08160 (degrees at which n / d^l stays finite).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.sections import Section
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.targets.base import Target
from learnability.theory.equivalent import Levels

__all__ = [
    "HIGHEST_DEGREE",
    "activation_weights",
    "kernel_weights",
    "limit_levels",
]

Array = NDArray[np.float64]

HIGHEST_DEGREE = 6
"""Theory resolves degrees up to this one."""
_ZERO = 1e-14


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
