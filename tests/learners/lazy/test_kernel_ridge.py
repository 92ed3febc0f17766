"""Kernel ridge regression: runs, predictions, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import (
    Hierarchical,
    KernelRidge,
    LearnabilityError,
    MultiIndex,
    RandomFeatures,
    SparseParity,
)
from learnability.inputs import PowerLaw, Signs, Spiked


def test_the_kernel_of_an_activation_is_the_limit_of_wide_features() -> None:
    kernel = KernelRidge("exp(z)", 0.2)
    wide = RandomFeatures(1e6, "exp(z - 1/2)", 0.2)
    alpha = [0.3, 1.0, 4.0]
    for name in ("error", "train_error"):
        found, limit = (
            kernel.predict("z + z**2", alpha=alpha),
            wide.predict("z + z**2", alpha=alpha),
        )
        np.testing.assert_allclose(found[name], limit[name], rtol=1e-4)
        # In dimension d the features feel the lengths of inputs, and so does their kernel.
        long = KernelRidge("exp(z3 + z1/2 + z2/2 - 1)", 0.2)
        found = long.predict("z + z**2", d=40, alpha=alpha)
        limit = wide.predict("z + z**2", d=40, alpha=alpha)
        np.testing.assert_allclose(found[name], limit[name], rtol=1e-4)


def test_a_run_solves_the_system_of_the_kernel() -> None:
    target = MultiIndex("z1 + abs(z2)", noise=0.1)
    X, y, _, _ = target.sample(2, n=45, d=15)
    K = np.exp(X @ X.T / 15)
    for ridge in (0.0, 0.3):
        c = np.linalg.solve(K + ridge * np.eye(45), y)
        runs = KernelRidge("exp(z)", ridge).simulate(target, d=15, alpha=3.0, seeds=[2])
        residual = np.mean((y - K @ c) ** 2)
        assert float(runs.train_error[0]) == pytest.approx(residual, rel=1e-6, abs=1e-12)


def test_a_function_is_a_kernel() -> None:
    def cube(z: np.ndarray) -> np.ndarray:
        return (1 + z[..., 0]) ** 3

    found = KernelRidge(cube, 0.1).predict("z", alpha=[0.5, 2.0])
    np.testing.assert_allclose(
        found.error, KernelRidge("(1 + z)**3", 0.1).predict("z", alpha=[0.5, 2.0]).error, rtol=1e-4
    )


def test_more_samples_than_functions() -> None:
    """A kernel of finite rank without ridge: the system is singular, the answer is exact."""
    runs = KernelRidge("1 + z", 0.0).simulate("1 + 2*z", d=10, alpha=6.0, seeds=1)
    assert runs.status.values.tolist() == ["least norm"]
    assert float(runs.error[0]) == pytest.approx(0.0, abs=1e-8)
    assert float(KernelRidge("1 + z", 0.0).predict("1 + 2*z", alpha=6.0).error) == 0.0


@pytest.mark.parametrize(
    "target",
    [
        MultiIndex("z1*z2", inputs=Spiked((3.0, 1.0), (0.5, 1.0))),
        MultiIndex("tanh(z1) + z2", inputs=PowerLaw(0.7)),
        SparseParity(2, 0.5),
    ],
    ids=repr,
)
def test_a_run_takes_every_law_of_inputs(target: MultiIndex) -> None:
    X, y, _, _ = target.sample(3, n=40, d=20)
    K = np.exp(X @ X.T / 20)
    c = np.linalg.solve(K + 0.1 * np.eye(40), y)
    runs = KernelRidge("exp(z)", 0.1).simulate(target, d=20, alpha=2.0, seeds=[3])
    assert float(runs.train_error[0]) == pytest.approx(np.mean((y - K @ c) ** 2), rel=1e-6)
    fresh = next(target.batches(3, 4000, 20, first=1))
    wrong = (np.exp(fresh.X @ X.T / 20) @ c - fresh.y) ** 2
    allowed = 5 * wrong.std() / np.sqrt(4000)
    assert float(runs.error[0]) == pytest.approx(wrong.mean(), abs=allowed)


@pytest.mark.parametrize("inputs", [PowerLaw(), Signs()], ids=repr)
def test_theory_says_which_inputs_it_takes(inputs: PowerLaw | Signs) -> None:
    with pytest.raises(LearnabilityError, match="accepts isotropic and spiked inputs"):
        KernelRidge().predict(MultiIndex("z", inputs=inputs), d=20, alpha=1.0)


def test_refusals() -> None:
    with pytest.raises(LearnabilityError, match="not positive definite"):
        KernelRidge("tanh(z)").predict("z", alpha=1.0)
    with pytest.raises(LearnabilityError, match="not positive"):
        KernelRidge("z - 2", 0.1).simulate("z", d=10, alpha=2.0)
    with pytest.raises(LearnabilityError, match="GiB"):
        KernelRidge().simulate("z", d=1000, alpha=1000.0)
    with pytest.raises(LearnabilityError, match="`kernel`"):
        KernelRidge("z1*z2")
    assert math.isfinite(float(KernelRidge("exp(z)").predict("z", alpha=1e-3).error))


def test_named_kernels() -> None:
    assert KernelRidge("quadratic") == KernelRidge("1 + z + z**2/2")
    target = Hierarchical("tanh(3*z)", "He2(z)", noise=0.1)
    learner = KernelRidge("mehler", (1.0, 10.0))
    runs = learner.simulate(target, d=16, alpha=[5.0, 40.0], seeds=4)
    theory = learner.predict(target, d=16, alpha=[5.0, 40.0])
    assert dict(theory.error.sizes) == {"alpha": 2, "ridge": 2}
    np.testing.assert_allclose(runs.error.mean("seed"), theory.error, rtol=0.15)
    # A multi-index target is learned too; in the limit the kernel is exp(2 z).
    found = learner.predict("z + z**2", alpha=2.0).error
    expected = KernelRidge("exp(2*z)", (1.0, 10.0)).predict("z + z**2", alpha=2.0).error
    np.testing.assert_allclose(found, expected)
    assert np.isfinite(learner.predict("z1*z2", d=20, alpha=3.0).error).all()
    with pytest.raises(LearnabilityError, match="needs `d`"):
        learner.predict(target, alpha=1.0)
    with pytest.raises(LearnabilityError, match="all degrees are taken at once"):
        learner.predict("z", d=20, alpha=1.0, degree=2)
