"""Errors of kernel ridge regression on spiked inputs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from learnability import KernelRidge, LearnabilityError, Link, SpikedIndex
from learnability.learners.lazy._spiked_kernel import given_kernel
from learnability.learners.lazy._spiked_regression import Points, conditional_errors, limit_errors

HE3 = "He3(z)/sqrt(6)"


# Values computed apart from this library: kernel, link, gamma and the error at d = n = 1000, 0.1.
REFERENCE = [
    ("exp(z)", "z", 0.45, 0.00441712),
    ("exp(z)", HE3, 0.65, 0.684815),
    ("exp(z)", HE3, 0.85, 0.0252274),
    ("exp(z)", "sign(z)", 0.0, 0.570391),
    ("exp(z3 - z1/2 - z2/2)", HE3, 0.85, 0.185425),
    ("exp(z3 - z1/2 - z2/2)", "sign(z)", 0.65, 0.332571),
    ("(1 + z)**3", HE3, 0.65, 0.582265),
    ("(1 + z)**3", "sign(z)", 0.45, 0.407041),
]


@pytest.mark.parametrize(("kernel", "link", "gamma", "error"), REFERENCE)
def test_reference_values(kernel: str, link: str, gamma: float, error: float) -> None:
    target = SpikedIndex(link, spike_exponent=gamma)
    found = KernelRidge(kernel, 0.1).predict(target, d=1000, alpha=1.0)
    assert float(found.error) == pytest.approx(error, rel=1e-4)


def test_a_staircase_in_large_dimension() -> None:
    """Limit values at d = 10^6, computed apart."""
    for gamma, error in ((0.25, 1.207756), (0.4, 1.106557), (0.6, 0.008293008), (0.8, 8.960368e-7)):
        target = SpikedIndex("He2(z)/sqrt(2)", spike_exponent=gamma)
        found = KernelRidge("exp(z)", 0.1).predict(target, d=10**6, alpha=1.0)
        assert float(found.error) == pytest.approx(error, rel=1e-4)


def test_a_linear_kernel_is_ridge_regression() -> None:
    """k(z) = z on a linear label without a spike: the error of plain ridge regression."""
    target = SpikedIndex("z", spike=0.0, noise=0.2)
    found = float(KernelRidge("z", 0.3).predict(target, d=10**6, alpha=2.0).error)
    # f(x) = x.w, |w| = 1: nu solves 2 = 1 / (1 + nu) + 0.3 / nu in units of d.
    nu = np.roots([2, 2 - 1 - 0.3, -0.3])
    nu = float(nu[nu > 0][0])
    shrunk = 1 / (1 + nu)
    assert found == pytest.approx((nu**2 / (1 + nu) ** 2 + 0.2) / (1 - shrunk**2 / 2), rel=1e-5)


def test_many_nodes_as_samples_give_the_limit() -> None:
    """A training set of quantiles, far more than the rank: conditional and limit forms agree."""
    d, n, link = 10**6, 2000, Link("sign(z) + z/3")
    parts = given_kernel(Link("exp(z)"), 0.05, d)
    from scipy.stats import norm

    def points(u: np.ndarray, weights: np.ndarray) -> Points:
        return Points(parts.mean(u), parts.linear(u), parts.rest(u), link(u[:, None]), weights)

    nodes = points(*parts.nodes(link))
    train = points(norm.ppf((np.arange(n) + 0.5) / n), np.full(n, 1 / n))
    conditional = conditional_errors(train, nodes, d, 0.5, 0.0)
    limit = limit_errors(nodes, n, d, 0.5, 0.0)
    assert conditional.test == pytest.approx(limit.test, rel=0.02)
    assert conditional.train == pytest.approx(limit.train, rel=0.02)


def test_partial_alignment_interpolates() -> None:
    """Slightly turned, the prediction is close to the aligned one, and continuous."""
    learner = KernelRidge("exp(z)", 0.1)
    target = SpikedIndex("He2(z)/sqrt(2)", spike_exponent=0.6)
    errors = [
        float(learner.predict(dataclasses.replace(target, alignment=a), d=500, alpha=1.0).error)
        for a in (1.0, 1 - 1e-8, 0.999, 0.5)
    ]
    assert errors[1] == pytest.approx(errors[0], rel=1e-4)
    assert errors[0] < errors[2] < errors[3]


def test_what_has_no_answer_ends_in_a_sentence() -> None:
    target = SpikedIndex("z", spike_exponent=0.5)
    with pytest.raises(LearnabilityError, match="give `d`"):
        KernelRidge().predict(target, alpha=1.0)
    with pytest.raises(LearnabilityError, match="give a larger `ridge`"):
        KernelRidge("z", 0.0).predict(target, d=500, alpha=1.0)
    with pytest.raises(LearnabilityError, match="they belong to spiked data"):
        KernelRidge().predict("z", d=500, alpha=1.0)
