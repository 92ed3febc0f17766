"""Giant steps: what runs and predictions return, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import GiantSteps, LearnabilityError, MultiIndex, RandomFeatures
from learnability.learners.protocol import Learner

TANH = {"activation": "tanh(z)", "step": 1.0, "batch": 2.0}


def test_it_is_a_learner() -> None:
    assert isinstance(GiantSteps(), Learner)
    assert GiantSteps(activation="relu(z1)", steps=np.int64(1)) == GiantSteps()


def test_a_published_table() -> None:
    """Test errors after one step with eta / d = 1, from the published theory on one drawn W."""
    alpha = [0.2, 0.666667, 1.133333, 1.6, 2.066667, 2.533333, 3.0]
    published = [0.283891, 0.305001, 0.265949, 0.203767, 0.169963, 0.151384, 0.140036]
    theory = GiantSteps(1.0, "tanh(z)", batch=0.5, step=1.0, ridge=0.01).predict(
        "tanh(z)", alpha=alpha
    )
    np.testing.assert_allclose(theory.error, published, rtol=7e-3)
    assert float(theory.alignment) == pytest.approx(0.563485, abs=1e-6)
    assert float(theory.spike) == pytest.approx(0.651089, abs=1e-6)


@pytest.mark.parametrize(
    ("link", "step", "ridge", "expected"),
    [
        ("tanh(z)", 1.0, 0.01, [0.17252, 0.16445, 0.12265, 0.09947, 0.0805, 0.07279]),
        ("sign(z)", 3.0, 0.1, [0.65757, 0.65054, 0.62519, 0.5978, 0.55417, 0.52505]),
    ],
)
def test_reference_errors(link: str, step: float, ridge: float, expected: list[float]) -> None:
    """Computed elsewhere, as in `test_spiked`: batch 2, at alpha = 0.5, 1, 1.5, 2, 3, 4."""
    learner = GiantSteps(1.0, "tanh(z)", batch=2.0, step=step, ridge=ridge)
    theory = learner.predict(link, alpha=[0.5, 1.0, 1.5, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(theory.error, expected, atol=2e-5)
    assert float(theory.spread) == 0.0


def test_runs_and_predictions_share_their_names() -> None:
    learner = GiantSteps(0.5, ridge=(0.01, 1.0), **TANH)
    runs = learner.simulate("tanh(z)", d=40, alpha=[0.5, 2.0], seeds=[4, 2])
    theory = learner.predict("tanh(z)", alpha=[0.5, 2.0])
    assert set(theory.data_vars) < set(runs.data_vars)
    assert runs.error.dims == ("alpha", "seed", "ridge") and theory.error.dims == ("alpha", "ridge")
    assert runs.overlap_trace.shape == (2, 2, 20, 1) and runs.gradient_cosine.shape == (2, 1, 20, 1)
    np.testing.assert_array_equal(runs.overlap, runs.overlap_trace[:, -1])
    assert np.abs(runs.cosine).max() <= 1 and ((runs.subspace_overlap <= 1 + 1e-6).all())
    again = GiantSteps(0.5, ridge=1.0, **TANH).simulate("tanh(z)", d=40, alpha=2.0, seeds=[2])
    expected = runs.sel(alpha=2.0, seed=2, ridge=1.0)
    assert float(again.error[0]) == pytest.approx(float(expected.error), rel=1e-4)
    np.testing.assert_array_equal(again.overlap[0], expected.overlap)


def test_a_tiny_step_is_no_step() -> None:
    runs = GiantSteps(1.5, "relu(z)", step=1e-9, ridge=0.1, batch=1.0)
    found = runs.simulate("z", d=30, alpha=2.0, seeds=1)
    lazy = RandomFeatures(1.5, "relu(z)", 0.1).simulate("z", d=30, alpha=2.0, seeds=1)
    assert float(found.error[0]) == pytest.approx(float(lazy.error[0]), rel=0.3)
    learner, plain = GiantSteps(1.5, "relu(z)", ridge=0.1), RandomFeatures(1.5, "relu(z)", 0.1)
    theory = learner.predict("z", alpha=2.0, parameters=(0.0, 0.0, 1.0))
    expected = float(plain.predict("z", alpha=2.0).error)
    assert float(theory.error) == pytest.approx(expected, rel=1e-6)


def test_the_default_step_comes_from_the_leap() -> None:
    linear = GiantSteps(0.1).simulate("z1 + z1*z2", d=40, alpha=1.0)
    square = GiantSteps(0.1).simulate("z1*z2", d=40, alpha=1.0)
    assert linear.attrs["step_size"] == 1.0
    assert square.attrs["step_size"] == pytest.approx(np.sqrt(40))
    assert "spike" in linear and "spike" not in square


def test_divergence_is_a_status() -> None:
    learner = GiantSteps(0.5, "z**3", step=1e30, steps=3, batch=1.0)
    runs = learner.simulate("z", d=20, alpha=1.0, seeds=1)
    assert runs.status.values.tolist() == ["diverged"] and np.isnan(runs.error).all()


def test_the_best_ridge() -> None:
    learner = GiantSteps(1.0, ridge=0.1, **TANH)
    ridge, error = learner.best_ridge("sign(z)", alpha=2.0)
    around = GiantSteps(1.0, ridge=(ridge / 2, ridge, 2 * ridge), **TANH)
    found = around.predict("sign(z)", alpha=2.0).error.values
    assert found[1] == pytest.approx(error, rel=1e-6)
    assert found[1] < found[0] and found[1] < found[2]


def test_spectra() -> None:
    learner = GiantSteps(1.0, **TANH)
    found = learner.spectrum("tanh(z)", d=60, alpha=3.0)
    theory = learner.predict_spectrum("tanh(z)", d=60)
    s = found.singular_values.values
    assert s.shape == (2, 60) and (np.diff(s, axis=1) <= 0).all()
    assert s[1, 0] > 1.2 * s[1, 1] and s[0, 0] < 1.1 * float(theory.edge)
    assert float(theory.outlier) == pytest.approx(s[1, 0], rel=0.25)
    assert found.feature_eigenvalues.values[1, 0] > 2 * found.feature_eigenvalues.values[1, 1]
    assert found.feature_eigenvalues.values.min() > -1e-4
    assert 0 <= float(found.alignment[1, 0]) <= 1.001
    weak = GiantSteps(1.0, "tanh(z)", step=1e-3, batch=2.0).predict_spectrum("tanh(z)", d=60)
    assert float(weak.outlier) == float(weak.edge) and float(weak.alignment) == 0.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("width", 0), ("batch", -1.0), ("step", 0.0), ("steps", 0), ("steps", 1.5),
        ("init", "zeros"), ("reuse", 1), ("ridge", -1.0), ("activation", "z1*z2"),
    ],
)  # fmt: skip
def test_bad_fields_end_in_a_sentence(name: str, value: object) -> None:
    with pytest.raises(LearnabilityError, match=f"`{name}`"):
        GiantSteps(**{name: value})  # type: ignore[arg-type]


def test_what_the_theory_does_not_cover_is_refused() -> None:
    tanh = GiantSteps(**TANH)
    with pytest.raises(LearnabilityError, match="no linear part"):
        tanh.predict("z**2", alpha=1.0)
    with pytest.raises(LearnabilityError, match="known after one"):
        GiantSteps(steps=2, **TANH).predict("z", alpha=1.0)
    with pytest.raises(LearnabilityError, match="share more of the batch"):
        GiantSteps(activation="relu(z)").predict("z", alpha=1.0)
    with pytest.raises(LearnabilityError, match="init='symmetric'"):
        GiantSteps(init="symmetric", **TANH).predict("z", alpha=1.0)
    with pytest.raises(LearnabilityError, match="ridges above 0"):
        GiantSteps(ridge=0.0, **TANH).predict_finite("z", d=20, alpha=1.0)
    with pytest.raises(LearnabilityError, match="no linear part"):
        tanh.predict_finite("z**2", d=20, alpha=1.0)
    with pytest.raises(LearnabilityError, match="give `step`"):
        GiantSteps(activation="tanh(z)").predict("z1 + z1**2 + z2**2", alpha=1.0)
    with pytest.raises(LearnabilityError, match="GiB"):
        GiantSteps(width=1e5).simulate("z", d=1000, alpha=100.0)
    odd = GiantSteps(init="signs", **TANH).predict("sign(z)", alpha=2.0)
    assert float(odd.error) == float(tanh.predict("sign(z)", alpha=2.0).error)


def test_given_parameters_ask_for_independent_neurons() -> None:
    learner = GiantSteps(activation="relu(z)", ridge=0.1)
    target = MultiIndex("z + z**2", noise=0.1)
    weak, strong = (
        learner.predict(target, alpha=3.0, parameters=(spike, 0.8, 1.0)) for spike in (0.0, 1.5)
    )
    assert float(strong.error) < float(weak.error)
    assert float(strong.spike) == 1.5


@pytest.mark.parametrize("alpha", [0.4, 2.5])
def test_without_a_ridge(alpha: float) -> None:
    """The limit of small ridges; without a spike the closed form of random features."""
    learner = GiantSteps(1.3, ridge=0.0, **TANH)
    theory = learner.predict("sign(z)", alpha=alpha, parameters=(0.0, 0.0, 1.0))
    expected = RandomFeatures(1.3, "tanh(z)", 0.0).predict("sign(z)", alpha=alpha)
    assert float(theory.error) == pytest.approx(float(expected.error), rel=1e-5)
    assert float(theory.train_error) == pytest.approx(float(expected.train_error), abs=1e-6)
    small = GiantSteps(1.3, ridge=1e-6, **TANH).predict("sign(z)", alpha=alpha)
    none = learner.predict("sign(z)", alpha=alpha)
    assert float(none.error) == pytest.approx(float(small.error), rel=1e-4)


def test_the_peak_without_a_ridge() -> None:
    theory = GiantSteps(1.0, ridge=0.0, **TANH).predict("sign(z)", alpha=[1.0, 3.0])
    assert np.isinf(theory.error[0]) and np.isfinite(theory.error[1])
    assert theory.status.values.tolist() == ["stopped", "converged"]


def test_densities() -> None:
    found = GiantSteps(0.5, **TANH).predict_bulk("tanh(z)", alpha=4.0)
    for density, axis in (("layer_density", "singular_value"), ("feature_density", "eigenvalue")):
        for time in (0, 1):
            mass = np.trapezoid(found[density][time], found[axis])
            assert mass == pytest.approx(1.0, abs=0.03), (density, time)
    with pytest.raises(LearnabilityError, match="share more of the batch"):
        GiantSteps(0.5).predict_bulk("z", alpha=4.0)
