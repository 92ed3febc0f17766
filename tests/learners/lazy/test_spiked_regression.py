"""Errors of kernel ridge regression on spiked inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import KernelRidge, LearnabilityError, Link, RandomFeatures, SpikedIndex
from learnability.learners.lazy._spiked_kernel import given_kernel
from learnability.learners.lazy._spiked_regression import (
    Points,
    _squared_resolvent,
    conditional_errors,
    limit_errors,
)

from tests.structured_values import KERNEL_ERRORS, KERNELS, LINKS, PLATEAU, STAIRCASE


def found_error(kernel: str, link: str, d: int, n: int, gamma: float, ridge: float) -> float:
    learner: KernelRidge | RandomFeatures
    if KERNELS[kernel] is None:
        learner = RandomFeatures(math.inf, "relu(z)", ridge)
    else:
        learner = KernelRidge(KERNELS[kernel], ridge)
    target = SpikedIndex(LINKS[link], spike_exponent=gamma)
    return float(learner.predict(target, d=d, alpha=n / d).error)


def test_reference_values() -> None:
    """Four kernels and seven links, all 86 values."""
    for row in KERNEL_ERRORS:
        assert found_error(*row[:-1]) == pytest.approx(row[-1], rel=1e-4), row


def test_a_staircase_in_large_dimension() -> None:
    """60 values at d = 500 and 10^6. One of them is wrong in its fourth digit in the table.

    He3 at d = 10^6, gamma = 0.6, ridge 0.1 stands there as 1.0990255. A program of 40 digits with
    monomials as features and the trapezoidal rule gives 1.098891888.
    """
    for link, d, gamma, grows, error in STAIRCASE:
        found = found_error("exp", link, d, d, gamma, d**0.1 if grows else 0.1)
        if (link, d, gamma, grows) == ("he3", 10**6, 0.6, False):
            error = 1.098891888
        assert found == pytest.approx(error, rel=1e-4), (link, d, gamma, grows)


@pytest.mark.parametrize(("ridge", "limit", "known", "runs"), PLATEAU)
def test_the_plateau_lies_above_the_variance(
    ridge: float, limit: float, known: float, runs: float
) -> None:
    """He2 is not learned; what is not learned is noise that the linear bulk fits."""
    assert found_error("exp", "he2", 1000, 1000, 0.25, ridge) == pytest.approx(limit, rel=1e-6)
    target = SpikedIndex(LINKS["he2"], spike_exponent=0.25)
    ours = KernelRidge("exp(z)", ridge).predict(target, d=1000, alpha=1.0, seeds=3).error
    assert float(ours.mean()) == pytest.approx(known, rel=0.02)  # Other training sets.
    assert known == pytest.approx(runs, rel=0.006)


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
    parts = given_kernel(Link("exp(z)"), np.array([0.05]), d)
    from scipy.stats import norm

    def points(u: np.ndarray, weights: np.ndarray) -> Points:
        u = u[:, None]
        return Points(parts.mean(u), parts.linear(u), parts.rest(u), link(u), weights)

    nodes = points(*parts.nodes(link))
    train = points(norm.ppf((np.arange(n) + 0.5) / n), np.full(n, 1 / n))
    conditional = conditional_errors(train, nodes, d, 0.5, 0.0)
    limit = limit_errors(nodes, n, d, 0.5, 0.0)
    assert conditional.test == pytest.approx(limit.test, rel=0.02)
    assert conditional.train == pytest.approx(limit.train, rel=0.02)


def test_squares_of_a_resolvent() -> None:
    """By pairs of columns, or as a matrix where these would be more than the samples."""
    rng = np.random.default_rng(0)
    for n, size in ((40, 3), (6, 5)):
        Lambda, tilde, v = rng.uniform(1, 2, n), rng.standard_normal((n, size)), rng.uniform(size=n)
        Q = np.diag(1 / Lambda) - tilde @ tilde.T
        np.testing.assert_allclose(_squared_resolvent(Lambda, tilde)(v), Q**2 @ v)


def test_partial_alignment_interpolates() -> None:
    """Slightly turned, the prediction is close to the aligned one, and continuous."""
    learner = KernelRidge("exp(z)", 0.1)
    targets = [
        SpikedIndex("He2(z)/sqrt(2)", spike_exponent=0.6, alignment=a)
        for a in (1.0, 1 - 1e-8, 0.999, 0.5)
    ]
    errors = [float(learner.predict(target, d=500, alpha=1.0).error) for target in targets]
    assert errors[1] == pytest.approx(errors[0], rel=1e-4)
    assert errors[0] < errors[2] < errors[3]


def test_what_has_no_answer_ends_in_a_sentence() -> None:
    target = SpikedIndex("z", spike_exponent=0.5)
    with pytest.raises(LearnabilityError, match="needs `d`"):
        KernelRidge().predict(target, alpha=1.0)
    with pytest.raises(LearnabilityError, match="give a larger `ridge`"):
        KernelRidge("z", 0.0).predict(target, d=500, alpha=1.0)
    for link in ("exp(z**2)", "1/z"):
        with pytest.raises(LearnabilityError, match="square-integrable"):
            KernelRidge().predict(SpikedIndex(link, spike=1.0), d=500, alpha=1.0)
    with pytest.raises(LearnabilityError, match="along the spikes of the inputs"):
        KernelRidge().predict("z", d=500, alpha=1.0, seeds=2)
    with pytest.raises(LearnabilityError, match=r"up to d\^\(3/2\)"):
        KernelRidge().predict(target, d=100, alpha=11.0)
