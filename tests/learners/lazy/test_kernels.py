"""Kernels of one and of three variables."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import KernelRidge, LearnabilityError, Link
from learnability.learners.lazy._kernels import kernel_values, mehler_function, on_the_sphere
from learnability.theory.mehler import mehler_values


def test_values() -> None:
    X, Z = np.random.default_rng(0).standard_normal((2, 5, 7))
    gap = ((X[:, None] - Z) ** 2).sum(axis=-1)
    found = kernel_values(Link("exp(z3 - z1/2 - z2/2)"), X, Z)
    np.testing.assert_allclose(found, np.exp(-gap / 14))
    np.testing.assert_allclose(kernel_values(Link("z**2"), X, Z), (X @ Z.T / 7) ** 2)


@pytest.mark.parametrize("d", [3, 40])
def test_the_kernel_of_mehler_is_a_function_of_three_variables(d: int) -> None:
    X, Z = np.random.default_rng(0).standard_normal((2, 5, d))
    np.testing.assert_allclose(kernel_values(mehler_function(d), X, Z), mehler_values(X, Z))


def test_on_the_sphere_a_gaussian_kernel_is_an_exponential() -> None:
    gaussian, scaled = KernelRidge("exp(z3 - z1/2 - z2/2)", 0.1), KernelRidge("exp(z - 1)", 0.1)
    first, second = (k.predict("z + He2(z)", alpha=[0.5, 3.0]).error for k in (gaussian, scaled))
    np.testing.assert_allclose(first, second, rtol=1e-5)
    assert on_the_sphere(Link("exp(z)")) == Link("exp(z)")


def test_two_variables_are_refused() -> None:
    with pytest.raises(LearnabilityError, match="or of the three"):
        KernelRidge("z1*z2")
    with pytest.raises(LearnabilityError, match="`kernel` cannot be read"):
        KernelRidge("exp(")


def test_a_kernel_on_the_sphere_takes_arrays_of_any_shape() -> None:
    kernel = on_the_sphere(Link("exp(z3 - z1/2 - z2/2)"))
    cosine = np.random.default_rng(1).uniform(-1, 1, (2, 3, 4, 1))
    np.testing.assert_allclose(kernel(cosine), np.exp(cosine[..., 0] - 1))
