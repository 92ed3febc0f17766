"""The spectral learner: what it returns, what it refuses, and known values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import MultiIndex
from learnability.errors import LearnabilityError
from learnability.learners.base import Learner
from learnability.learners.spectral import Spectral, learner

REFERENCE = {0.6: 0.04233, 0.8: 0.13490, 1.0: 0.23070, 2.0: 0.63888}


def test_it_is_a_learner() -> None:
    assert isinstance(Spectral(), Learner)


# ---- predict


def test_the_default_floor_keeps_the_reference_values() -> None:
    theory = Spectral().predict("abs(z)", alpha=list(REFERENCE))
    np.testing.assert_allclose(
        theory.overlap.values.ravel() ** 2, list(REFERENCE.values()), atol=2e-5
    )
    np.testing.assert_allclose(theory.subspace_overlap, theory.overlap.values.ravel() ** 2)
    np.testing.assert_allclose(theory.eigenvalue.values.ravel(), 1 / theory.alpha, rtol=2e-3)
    assert theory.attrs["alpha_c"] == pytest.approx(0.5, rel=1e-9)
    assert theory.attrs["note"] == ""


def test_a_scalar_alpha_is_a_scalar_coordinate() -> None:
    theory = Spectral().predict("abs(z)", alpha=0.4)
    assert theory.overlap.dims == ("estimate", "index")
    assert theory.alpha.ndim == 0
    assert float(theory.overlap.squeeze()) == 0.0
    assert np.isnan(theory.eigenvalue).all()
    assert float(theory.edge) == pytest.approx(2.5, rel=0.01)


@pytest.mark.parametrize(("text", "power"), [("sign(z)", 2 / math.pi), ("z**3", 1.0)])
def test_a_trivial_direction_by_the_mean(text: str, power: float) -> None:
    """cos^2 = alpha E / (1 + alpha E) with E = E[E[z | y]^2]."""
    alpha = np.array([0.1, 1.0, 7.0])
    theory = Spectral().predict(text, alpha=alpha)
    expected = alpha * power / (1 + alpha * power)
    np.testing.assert_allclose(theory.overlap.values.ravel() ** 2, expected, rtol=1e-6)
    assert theory.attrs["alpha_c"] == 0.0


@pytest.mark.parametrize("method", ["symmetric", "asymmetric"])
def test_a_parity_has_a_multiple_of_the_identity(method: str) -> None:
    theory = Spectral(method).predict("sign(z1*z2)", alpha=[2.0, 4.0])
    first, second = theory.overlap.values
    np.testing.assert_array_equal(first, 0)
    np.testing.assert_allclose(second, second[0, 0] * np.eye(2), atol=1e-6)
    square = second[0, 0] ** 2
    assert square == pytest.approx({"symmetric": 0.4292, "asymmetric": 0.3831}[method], abs=1e-4)
    assert theory.attrs["alpha_c"] == pytest.approx(math.pi**2 / 4)


def test_what_is_not_predicted_is_said_in_words() -> None:
    theory = Spectral().predict("sign(z1) + 3*sign(abs(z2) - 1)", alpha=4.0)
    assert "not predicted" in theory.attrs["note"]
    assert np.isnan(theory.overlap.values[1]).all()
    first = 4 * (2 / math.pi) / (1 + 4 * (2 / math.pi))
    np.testing.assert_allclose(theory.overlap.values[0], [math.sqrt(first), 0], atol=1e-6)


# ---- simulate


@pytest.mark.parametrize("method", ["symmetric", "asymmetric"])
def test_runs_are_labelled_and_repeatable(method: str) -> None:
    learner = Spectral(method)
    runs = learner.simulate("sign(z1*z2)", d=60, alpha=[4.0, 8.0], seeds=[3, 5])
    assert runs.overlap.dims == ("alpha", "seed", "estimate", "index")
    assert runs.sizes == {"alpha": 2, "seed": 2, "estimate": 2, "index": 2}
    assert runs.seed.values.tolist() == [3, 5]
    assert set(runs.data_vars) == {
        "overlap", "cosine", "subspace_overlap", "eigenvalue", "products", "status",
    }  # fmt: skip
    alone = learner.simulate("sign(z1*z2)", d=60, alpha=8.0, seeds=[5])
    np.testing.assert_array_equal(alone.overlap[0], runs.overlap[1, 1])
    assert runs.attrs["d"] == 60


def test_a_run_says_whether_it_converged() -> None:
    runs = Spectral().simulate("abs(z)", d=200, alpha=10.0, seeds=2)
    assert (runs.status == "converged").all()
    assert (runs.products <= 40).all()
    assert (runs.overlap > 0.97).all()


def test_the_sign_of_an_even_link_is_resolved() -> None:
    runs = Spectral().simulate("z**2", d=100, alpha=4.0, seeds=8)
    assert (runs.overlap > 0.5).all()


def test_estimates_have_orthonormal_rows_even_where_nothing_is_found() -> None:
    """The second and third direction are hard: their rows are filled at random."""
    runs = Spectral().simulate("sign(abs(z1) - 1) + 0*z2*z3", d=40, alpha=8.0, seeds=2)
    rows = np.sqrt((runs.overlap**2).sum("index"))
    assert float(rows[:, 0].min()) > 0.6
    assert float(rows[:, 1:].max()) < 0.6
    np.testing.assert_allclose(
        runs.subspace_overlap, (runs.overlap**2).sum(("estimate", "index")) / 3, rtol=1e-5
    )


def test_trivial_and_easy_directions_together() -> None:
    runs = Spectral().simulate("sign(z1) + 3*sign(abs(z2) - 1)", d=200, alpha=20.0, seeds=3)
    diagonal = np.array([np.diag(run) for run in runs.overlap.values])
    assert diagonal.mean(axis=0) == pytest.approx([0.96, 0.98], abs=0.04)


@pytest.mark.parametrize("size", [{"d": 1, "alpha": 3.0}, {"d": 3, "alpha": 0.1}])
def test_the_smallest_samples_give_numbers(size: dict[str, float]) -> None:
    runs = Spectral().simulate("abs(z)", **size)  # type: ignore[arg-type]
    assert np.isfinite(runs.overlap).all()


# ---- sentences


@pytest.mark.parametrize("text", ["sign(z1*z2*z3)", "z**2*exp(-z**2)", "3 + 0*z"])
@pytest.mark.parametrize("verb", ["predict", "simulate"])
def test_a_link_without_a_threshold(text: str, verb: str) -> None:
    size = {"d": 20} if verb == "simulate" else {}
    with pytest.raises(LearnabilityError, match="no spectral method"):
        getattr(Spectral(), verb)(text, alpha=2.0, **size)


def test_bad_arguments() -> None:
    with pytest.raises(LearnabilityError, match="one of symmetric, asymmetric is accepted"):
        Spectral("dense")
    for floor in (0.0, 1, math.nan, -math.inf, True, "low"):
        with pytest.raises(LearnabilityError, match="`floor` was given as"):
            Spectral(floor=floor)  # type: ignore[arg-type]
    for alpha in (0, -1.0, math.nan, [1.0, math.inf]):
        with pytest.raises(LearnabilityError, match="`alpha` was given as"):
            Spectral().predict("abs(z)", alpha=alpha)
    with pytest.raises(LearnabilityError, match="at least 2"):
        Spectral().simulate("z1*z2*z1", d=1, alpha=2.0)
    with pytest.raises(LearnabilityError, match="`seeds` was given as"):
        Spectral().simulate("abs(z)", d=10, alpha=2.0, seeds=0)


def test_labels_that_are_not_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    target = MultiIndex("abs(z)")
    sample = target.sample(0, d=20, alpha=3.0)
    sample.y[7] = np.nan
    monkeypatch.setattr(MultiIndex, "sample", lambda *_, **__: sample)
    with pytest.raises(LearnabilityError, match="labels that are not finite"):
        Spectral().simulate(target, d=20, alpha=3.0)


def test_a_run_does_not_wait_for_a_threshold_that_it_does_not_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mean of z1 z2 vanishes by symmetry: many samples say the same of it as few."""
    target = MultiIndex("z1*z2")
    expected = learner._recoverable(target).trivial
    learner._recoverable.cache_clear()
    monkeypatch.setattr(learner, "weak_recovery", None)
    assert np.array_equal(learner._trivial(target), expected) and expected.shape == (0, 2)
    run = Spectral().simulate(target, d=20, alpha=3.0)
    assert np.isfinite(run.subspace_overlap.item())


@pytest.mark.parametrize("method", ["symmetric", "asymmetric"])
def test_given_samples_are_estimated_as_those_of_a_run(method: str) -> None:
    target, way = MultiIndex("sign(z1) + 3*sign(abs(z2) - 1)"), Spectral(method)
    X, y, W, _ = target.sample(4, d=80, alpha=20.0, dtype=np.float32)
    found = way.estimate(target, X, y, seed=4)
    np.testing.assert_allclose(found @ found.T, np.eye(2), atol=1e-6)
    run = way.simulate(target, d=80, alpha=20.0, seeds=[4])
    overlap = np.abs(found @ W.T)
    np.testing.assert_allclose(overlap, np.abs(run.overlap.values[0]), atol=1e-4)
    assert np.diag(overlap).min() > 0.9


def test_labels_that_are_rounded_to_one_tell_what_the_theory_has_of_them() -> None:
    """In runs tanh(z^2 - xi) of large z was 1: the overlap was 0.64 for 0.73."""
    learner, text = Spectral(method="asymmetric"), "tanh(z**2 - 0.96*xi)"
    theory = learner.predict(text, alpha=9.74)
    assert theory.equals(learner.predict("z**2 - 0.96*xi", alpha=9.74).assign_attrs(theory.attrs))
    runs = learner.simulate(text, d=600, alpha=9.74, seeds=3)
    assert float(runs.subspace_overlap.mean()) == pytest.approx(
        float(theory.subspace_overlap), abs=0.04
    )


@pytest.mark.parametrize("link", ["z", "abs(z)"])
def test_samples_that_are_none_end_in_a_sentence(link: str) -> None:
    X, y = np.random.default_rng(0).standard_normal((40, 5)), np.full(40, 2.0)
    missing = np.where(X > 1, np.nan, X)
    for rows, labels, words in (
        (X[:0], y[:0], "n and d at least 1"),
        (X[0], y[:5], "n and d at least 1"),
        (X, y[:39], "n and d at least 1"),
        (missing, y, "not finite"),
        (X, np.full(40, np.nan), "None of the 40 labels"),
    ):
        with pytest.raises(LearnabilityError, match=words):
            Spectral().estimate(MultiIndex(link), rows, labels)
