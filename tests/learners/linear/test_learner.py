"""Linear models: closed forms, limits and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import KernelRidge, LearnabilityError, LinearModel, MultiIndex
from learnability.labels.hermite import expand


def test_least_squares_has_its_closed_form() -> None:
    alpha, ridge, target = 1.7, 0.3, MultiIndex("z1 + z1*z2", noise=0.2)
    found = LinearModel(ridge=ridge).predict(target, alpha=alpha)
    # V (ridge + alpha / (1 + V)) = 1, and m = alpha V c_1 / (1 + V).
    V = max(np.roots([ridge, ridge + alpha - 1, -1]).real)
    c = np.asarray(expand(target.link, 1).tensors[1])
    np.testing.assert_allclose(found.overlap.values[0], alpha * V / (1 + V) * c, atol=1e-8)


def test_least_squares_is_the_linear_kernel() -> None:
    target = MultiIndex("tanh(2*z) + 0.4*He2(z)", noise=0.1)
    fit = LinearModel(ridge=0.5).predict(target, alpha=[0.6, 2.5])
    # The kernel 4000 + z has an almost free constant in place of the intercept.
    kernel = KernelRidge("4000 + z", ridge=0.5).predict(target, alpha=[0.6, 2.5])
    np.testing.assert_allclose(fit.error, kernel.error, rtol=2e-3)
    np.testing.assert_allclose(fit.train_error, kernel.train_error, rtol=2e-3)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_many_samples_find_the_direction(loss: str) -> None:
    found = LinearModel(loss=loss, ridge=0.1).predict("sign(z)", alpha=[1.0, 10.0, 100.0])
    assert np.all(np.diff(found.misclassification) < 0)
    assert float(found.cosine[-1, 0, 0]) > 0.97


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_an_even_label_tells_a_linear_model_nothing(loss: str) -> None:
    found = LinearModel(loss=loss).predict("sign(z1*z2)", alpha=2.0)
    np.testing.assert_allclose(found.overlap, 0, atol=1e-9)
    assert float(found.misclassification) == pytest.approx(0.5, abs=1e-9)


def test_huber_of_rare_large_noise_beats_least_squares() -> None:
    target = MultiIndex("z1 + 8*relu(abs(z2) - 2.5)", noise=0.05)
    errors = {
        loss: float(LinearModel(loss=loss, ridge=0.05).predict(target, alpha=4.0).cosine[0, 0])
        for loss in ("squared", "huber")
    }
    assert errors["huber"] > errors["squared"] + 0.005


def test_a_loss_of_two_labels_refuses_others() -> None:
    for link in ("tanh(z)", "sign(z1) + sign(z2)"):
        with pytest.raises(LearnabilityError, match="two labels"):
            LinearModel(loss="hinge").predict(link, alpha=1.0)


def test_labels_of_one_kind_only_are_told() -> None:
    target = MultiIndex("step(z - 4.5)")
    with pytest.raises(LearnabilityError, match="are equal"):
        LinearModel(loss="logistic").simulate(target, d=10, alpha=1.0)


def test_a_fixed_point_that_was_not_found_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """At n = d with a ridge of 1e-12 the error is 125000, and 467 +- 233 was printed."""
    monkeypatch.setattr("learnability.learners.linear._asymptotics._MOST_STEPS", 200)
    found = LinearModel(ridge=1e-12).predict(MultiIndex("z", noise=0.25), alpha=[0.5, 1.0])
    assert found.status.values.tolist() == ["converged", "stopped"]
    assert np.isfinite(found.error[0]) and "larger `ridge`" in found.note
    for name in ("error", "train_error", "overlap", "cosine", "error_stderr"):
        assert np.isnan(found[name][1]).all(), name
