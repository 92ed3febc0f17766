"""Values computed elsewhere, against which the library is checked.

Copied from the project's table of reference values: closed forms and quadratures worked out by
hand or by separate programs, nearly all of them by two routes. Conventions: He_k are the
probabilists' polynomials, c_k = E[g He_k], alpha = n / d, noise is the variance of additive
Gaussian label noise, and `tolerance` is the error of the value itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

WINDOW_END = 1.608310598815743
WINDOW = f"where(0.5 < abs(z) < {WINDOW_END}, 1, 0)"
BUMP = "z**2*exp(-z**2)"


class Coefficient(NamedTuple):
    """A Hermite coefficient; `index` are the indices of the entry of the tensor."""

    link: str
    index: tuple[int, ...]
    value: float
    tolerance: float
    how: str


class Exponent(NamedTuple):
    link: str
    value: int
    how: str


class Threshold(NamedTuple):
    """A threshold of the grand staircase, with the method of the library that meets it."""

    link: str
    noise: float
    step: int
    value: float
    tolerance: float
    method: str
    how: str


HERMITE = (
    Coefficient(BUMP, (0,) * 2, 0.0, 1e-12, "Gaussian integral, 3^(-3/2) (1 - 1)"),
    Coefficient(BUMP, (0,) * 4, -0.25660011963983365, 1e-12, "Gaussian integral"),
    Coefficient("sign(z)", (0,), 0.7978845608028654, 1e-12, "closed form"),
    Coefficient("sign(z)", (0,) * 3, -0.7978845608028654, 1e-12, "closed form"),
    Coefficient("relu(z)", (0,), 0.5, 1e-12, "closed form"),
    Coefficient("relu(z)", (0,) * 2, 0.3989422804014327, 1e-12, "closed form"),
    Coefficient("relu(z)", (0,) * 4, -0.3989422804014327, 1e-12, "closed form"),
    Coefficient("abs(z)", (0,) * 2, 0.7978845608028654, 1e-12, "closed form"),
    Coefficient("sign(z1*z2)", (0, 1), 0.6366197723675814, 1e-12, "closed form"),
    Coefficient("sign(z1*z2*z3)", (0, 1, 2), 0.5079490874739278, 1e-12, "closed form"),
)

INFORMATION_EXPONENT = (
    Exponent("sign(z)", 1, "Hermite coefficients, parity"),
    Exponent("relu(z)", 1, "Hermite coefficients, parity"),
    Exponent("He3(z)", 3, "Hermite coefficients, parity"),
    Exponent("z**2", 2, "Hermite coefficients, parity"),
    Exponent("He4(z)", 4, "Hermite coefficients, parity"),
    Exponent(BUMP, 4, "c_2 vanishes exactly, c_4 = -(4/3) 3^(-3/2)"),
    Exponent("sign(z1*z2)", 2, "Hermite coefficients, parity"),
    Exponent("z1*z2*z3", 3, "Hermite coefficients, parity"),
    Exponent("sign(z1*z2*z3)", 3, "Hermite coefficients, parity"),
    Exponent("He4(z1) + sign(z1*z2*z3)", 3, "Hermite coefficients, parity"),
    Exponent("z1**2 + sign(z1*z2*z3)", 2, "Hermite coefficients, parity"),
)

GENERATIVE_EXPONENT = (
    Exponent("sign(z)", 1, "conditional Hermite moments"),
    Exponent("relu(z)", 1, "conditional Hermite moments"),
    Exponent("He3(z)", 1, "conditional Hermite moments"),
    Exponent("He5(z)", 1, "conditional Hermite moments"),
    Exponent("z*exp(-z**2/2)", 1, "conditional Hermite moments"),
    Exponent("z**2", 2, "conditional Hermite moments"),
    Exponent("abs(z)", 2, "conditional Hermite moments"),
    Exponent("He4(z)", 2, "conditional Hermite moments"),
    Exponent("sign(abs(z) - 0.5)", 2, "conditional Hermite moments"),
    Exponent("sign(abs(z) - 1)", 2, "conditional Hermite moments"),
    Exponent("sign(z1*z2)", 2, "conditional Hermite moments"),
    Exponent("z1*z2", 2, "conditional Hermite moments"),
    Exponent("z1*z2*z3", 2, "conditional Hermite moments"),
    Exponent("sign(z1*z2*z3)", 3, "conditional Hermite moments"),
    Exponent(BUMP, 4, "conditional Hermite moments"),
    Exponent(WINDOW, 4, "conditional Hermite moments"),
)

_HALF = "E (z^2 - 1)^2 = 2, any injective function of |z|"
_CHI = "variance of the chi-square law"
_CELL = "closed form P (1 - P) / (2 c phi(c))^2"
_PRODUCT = 0.593751098222257

ALPHA_C = (
    Threshold("z**2", 0.0, 0, 0.5, 1e-12, "level sets", _HALF),
    Threshold("abs(z)", 0.0, 0, 0.5, 1e-12, "level sets", _HALF),
    Threshold("exp(-z**2)", 0.0, 0, 0.5, 1e-12, "level sets", _HALF),
    Threshold("log(1 + abs(z))", 0.0, 0, 0.5, 1e-12, "level sets", _HALF),
    Threshold("z1**2 + z2**2", 0.0, 0, 1.0, 1e-12, "regression", _CHI),
    Threshold("z1**2 + z2**2 + z3**2", 0.0, 0, 1.5, 1e-12, "regression", _CHI),
    Threshold("z1**2 + z2**2 + z3**2 + z4**2", 0.0, 0, 2.0, 1e-12, "regression", _CHI),
    Threshold("sign(z1*z2)", 0.0, 0, 2.4674011002723395, 1e-12, "cells", "closed form"),
    Threshold("z1*z2", 0.0, 0, _PRODUCT, 1e-10, "regression", "Bessel-K quadrature"),
    Threshold("z1**2 - z2**2", 0.0, 0, _PRODUCT, 1e-10, "regression", "rotation of 2 z1 z2"),
    Threshold("z1*z2*z3", 0.0, 0, 2.56518040192378, 1e-9, "regression", "Mellin trapezoid"),
    Threshold("He4(z)", 0.0, 0, 0.644850469902304, 1e-9, "level sets", "two-root conditional"),
    Threshold(
        "He2(z) + He4(z)", 0.0, 0, 0.635690667305562, 1e-9, "level sets", "two-root conditional"
    ),
    Threshold("sign(abs(z) - 0.5)", 0.0, 0, 1.90636092849915, 1e-10, "level sets", _CELL),
    Threshold("sign(abs(z) - 1)", 0.0, 0, 0.924958039258904, 1e-10, "level sets", _CELL),
    Threshold(
        "sign(abs(z) - 0.6744897501960817)", 0.0, 0, 1.36045930431196, 1e-10, "level sets", _CELL
    ),
    Threshold("abs(z)", 0.01, 0, 0.510047793451918, 1e-7, "level sets", "kernel matrix"),
    Threshold("abs(z)", 0.1, 0, 0.604287681386758, 1e-7, "level sets", "kernel matrix"),
    Threshold("z**2", 0.1, 0, 0.5180658125692758, 1e-5, "level sets", "kernel matrix"),
    Threshold(
        "z1**2 + sign(z1*z2*z3)",
        0.0,
        0,
        0.575166352288349,
        1e-9,
        "regression",
        "two-branch quadrature",
    ),
    Threshold(
        "z1**2 + sign(z1*z2*z3)",
        0.0,
        1,
        2.4674011002723395,
        1e-12,
        "cells",
        "reduction to sign(z2 z3)",
    ),
    Threshold(
        "He4(z1) + sign(z1*z2*z3)",
        0.0,
        0,
        0.687853450078771,
        1e-8,
        "regression",
        "multi-branch quadrature",
    ),
    Threshold(
        "abs(z1) + abs(z2)",
        0.0,
        0,
        1.0679875403755794,
        1e-9,
        "regression",
        "one-dimensional integral of the rotated link",
    ),
    Threshold(
        "max(abs(z1), abs(z2))",
        0.0,
        0,
        1.0679875403755794,
        1e-9,
        "regression",
        "one-dimensional integral",
    ),
    Threshold(
        "z1**2 + 2*z2**2", 0.0, 0, 0.6157200148910758, 1e-8, "regression", "Bessel-I integral"
    ),
    Threshold("sign(z1*z2*z3)", 0.0, 0, math.inf, 0.0, "symmetry", "G = 0"),
    Threshold(BUMP, 0.0, 0, math.inf, 0.0, "level sets", "the weights of the roots cancel"),
    Threshold("z1 + abs(z2)", 0.0, 1, 0.5, 1e-12, "level sets", "reduction to |z2|, z1 known"),
)

# 1[0.5 < |z| < b] with b phi(b) = 0.5 phi(0.5): E[zeta_2^2] = 0 and this E[zeta_4^2].
WINDOW_FOURTH = 2.708003302263221


class BatchReuse(NamedTuple):
    """Published runs of gradient descent that reuses its batch: 32 seeds, d = 5000, n = 3 d.

    Target tanh(z1 + He3(z2)), two relu neurons with second layer (1, -1) / sqrt(2), orthonormal
    start without overlap, step 0.2 on half the squared error. `overlap` is (m[0, k] - m[1, k]) / 2
    of neuron j and direction k, shape (2, 7); `error` is the mean squared error, not halved.
    """

    overlap: tuple[tuple[float, ...], ...]
    overlap_stderr: tuple[tuple[float, ...], ...]
    error: tuple[float, ...]
    error_stderr: tuple[float, ...]


BATCH_REUSE = BatchReuse(
    overlap=(
        (0.0, 0.0757, 0.12388, 0.15627, 0.1801, 0.19893, 0.21464),
        (0.0, -0.06276, -0.10203, -0.12777, -0.14626, -0.16063, -0.17253),
    ),
    overlap_stderr=(
        (0.0, 0.00036, 0.00056, 0.00065, 0.00068, 0.00069, 0.00071),
        (0.0, 0.00031, 0.00053, 0.00071, 0.00085, 0.00096, 0.00105),
    ),
    error=tuple(
        2 * half for half in (0.491672, 0.420174, 0.385901, 0.368279, 0.358714, 0.353352, 0.350422)
    ),
    error_stderr=tuple(
        2 * spread / math.sqrt(32)
        for spread in (0.00353, 0.003069, 0.00303, 0.00307, 0.003035, 0.003, 0.003032)
    ),
)

HE3_REUSE = (0.0, 0.0012, -0.1388, -0.2344, -0.3022, -0.3524)
"""Overlaps of a tanh neuron with He3(z), alpha = 3, step 0.2: a mean-field theory with 10^6 samples
and derivatives of the force, to 0.003. The first step is 0 exactly."""
HE3_REUSE_TOLERANCE = 0.003
