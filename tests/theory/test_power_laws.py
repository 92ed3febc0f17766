"""Learning curves of power-law spectra."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from learnability import LearnabilityError, scaling_laws

from tests.structured_values import EXPONENTS, OPTIMA

# Values computed apart from this library:
# alpha, r, ridge, n, p, noise, bias, variance, effective ridge, simulated risk and its error.
FINITE = [
    (1.5, 0.3, 1.0, 150, None, 0.25, 0.0605783, 0.0322116, 0.00978443, 0.094008, 0.001737),
    (1.5, 0.75, 8.0, 150, None, 0.25, 0.0126368, 0.00829115, 0.0591196, 0.021359, 0.00107),
    (2.0, 0.5, 0.01, 150, None, 0.0, 0.000167157, 0.0, 0.000216805, 0.000168, 3e-06),
    (1.5, 0.3, 4.0, 200, 60, 0.25, 0.159942, 0.0142555, 0.0344343, 0.180193, 0.003203),
    (1.5, 0.75, 8.0, 150, 300, 0.25, 0.0161298, 0.00856329, 0.0618639, 0.024917, 0.001119),
    (1.2, 0.4, 0.1, 200, 120, 0.1, 0.169276, 0.101847, 0.0131544, 0.274124, 0.005581),
]


@pytest.mark.parametrize("row", FINITE)
def test_reference_values(row: tuple[Any, ...]) -> None:
    alpha, r, ridge, n, p, noise, bias, variance, nu, simulated, error = row
    found = scaling_laws(alpha, r, noise=noise).at(n, ridge, p, levels=2000)
    assert found.bias == pytest.approx(bias, rel=5e-6)  # Six digits are known.
    assert found.variance == pytest.approx(variance, rel=5e-6)
    assert found.effective_ridge == pytest.approx(nu, rel=5e-6)
    assert abs(found.risk - simulated) < 3.5 * error


CELLS = [
    (alpha, r, ell, q)
    for alpha in (1.2, 1.6, 2.5)
    for r in (0.3, 0.75, 1.4)
    for ell in (0.4, 0.8, 3.2)
    for q in (None, 0.5, 1.4)
]


def test_slopes_of_the_curves_are_the_exponents() -> None:
    """Local slopes at n = 10^9 to 10^10, away from r = 1/2, r = 1 and the borders of regimes."""
    gaps = []
    for alpha, r, ell, q in CELLS:
        law = scaling_laws(alpha, r, noise=1.0)
        e = sorted([1.0, ell / alpha] + ([] if q is None else [q]))
        power = 0.0 if q is None else 2 * alpha * e[0] * (min(r, 1) - min(r, 0.5)) - q + e[0]
        if e[1] - e[0] < 0.25 or 0 < abs(power) < 0.25:  # Corrections of n^-0.25 are 0.6 %.
            continue
        curve = law.curve([1e9, 1e10], ell, q)
        for name in ("bias", "variance"):
            slope = float(np.log10(curve[name][0] / curve[name][1]))
            gaps.append(abs(slope - curve.attrs[f"{name}_exponent"]))
    assert len(gaps) > 60 and max(gaps) < 0.01 and np.median(gaps) < 1e-3


def test_the_peak_at_as_many_features_as_samples() -> None:
    law = scaling_laws(1.2, 0.8, noise=1.0)
    curve = law.curve([1e9, 1e10], 2.2, 1.0)
    assert float(np.log10(curve.variance[0] / curve.variance[1])) == pytest.approx(-0.5, abs=1e-3)
    assert float(np.log10(curve.bias[0] / curve.bias[1])) == pytest.approx(0.7, abs=1e-3)
    assert law.exponents(2.2, 1.0)[:2] == pytest.approx((0.7, -0.5))


@pytest.mark.parametrize("row", EXPONENTS)
def test_reference_exponents(row: tuple[Any, ...]) -> None:
    alpha, r, ell, q, *wanted = row
    found = scaling_laws(alpha, r, noise=1.0).exponents(ell, q)
    assert found == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(("alpha", "r", "ell", "exponent", "width"), OPTIMA)
def test_the_optimum(alpha: float, r: float, ell: float, exponent: float, width: float) -> None:
    law = scaling_laws(alpha, r, noise=0.1)
    best = law.optimal()
    assert best == pytest.approx((ell, exponent, width), abs=1e-6)
    around = [law.exponents(best.ell + shift).risk for shift in (-0.05, 0.0, 0.05)]
    assert max(around) == around[1] == pytest.approx(best.exponent)
    assert law.exponents(best.ell, best.width).risk == pytest.approx(best.exponent)
    assert law.exponents(best.ell, 0.97 * best.width).risk < best.exponent - 1e-3


def test_without_noise_the_width_still_counts() -> None:
    law = scaling_laws(1.5, 0.8)
    best = law.optimal()
    assert law.exponents(best.ell + 1).risk == best.exponent == pytest.approx(2.4)
    assert law.exponents(best.ell, best.width).risk == pytest.approx(best.exponent)


def test_endless_features_are_the_kernel() -> None:
    law = scaling_laws(1.7, 0.6, noise=0.1)
    assert law.at(1e4, 3.0, width=1e9).risk == pytest.approx(law.at(1e4, 3.0).risk, rel=1e-4)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: scaling_laws(1.0, 0.5), "`alpha` was given as 1.0, but a finite number above 1"),
        (lambda: scaling_laws(1.5, 0.0), "`r` was given as 0.0"),
        (lambda: scaling_laws(1.5, 0.5, noise=-1), "`noise` was given as -1"),
        (lambda: scaling_laws(1.5, 0.5).at(0, 1.0), "`n` was given as 0"),
        (lambda: scaling_laws(1.5, 0.5).curve("abc", 0.5), "`n` was given as 'abc'"),
        (lambda: scaling_laws(1.5, 0.5).curve([1e3, math.nan], 0.5), "`n` was given as nan"),
        (lambda: scaling_laws(1.5, 0.5).at(10, -1.0), "`ridge` was given as -1.0"),
        (lambda: scaling_laws(1.5, 0.5).at(10, 0.0, 10), "`ridge` is 0, but"),
        (lambda: scaling_laws(1.5, 0.5).exponents(math.nan), "`ell` was given as nan"),
        (lambda: scaling_laws(1.5, 0.5).exponents(1.0, -2), "`q` was given as -2"),
    ],
)
def test_bad_input_ends_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        call()
