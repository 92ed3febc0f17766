"""Random features: reference values, what runs return, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError, Link, MultiIndex, RandomFeatures
from learnability.learners.networks.features import first_layer

# Computed elsewhere from the self-consistent system of the proportional limit, checked by
# simulations: width 1 and alpha = 0.5, 1, 1.5, 2, 3, 4.
ALPHAS = [0.5, 1.0, 1.5, 2.0, 3.0, 4.0]
REFERENCE = {
    ("tanh(z)", 0.01): [0.41157, 0.35146, 0.25413, 0.20573, 0.1667, 0.15082],
    ("sign(z)", 0.1): [1.02317, 0.9173, 0.82058, 0.75526, 0.68039, 0.64041],
}


def test_fields_are_read() -> None:
    assert RandomFeatures(activation=Link("relu(z)")) == RandomFeatures()


@pytest.mark.parametrize(("link", "ridge"), REFERENCE)
def test_reference_values(link: str, ridge: float) -> None:
    theory = RandomFeatures(activation="tanh(z)", ridge=ridge).predict(link, alpha=ALPHAS)
    np.testing.assert_allclose(theory.error, REFERENCE[link, ridge], atol=2e-5)


def test_degrees_beyond_the_first_act_as_noise() -> None:
    learner = RandomFeatures(activation="erf(z)", ridge=0.3)
    noisy = learner.predict(MultiIndex("2*z", noise=2.0), alpha=[0.5, 3.0])
    bent = learner.predict("2*z + He2(z)", alpha=[0.5, 3.0])
    np.testing.assert_allclose(bent.error, noisy.error, rtol=1e-9)
    np.testing.assert_allclose(bent.train_error, noisy.train_error, rtol=1e-9)
    assert bent.attrs["floor"] == pytest.approx(2.0)


def test_only_the_length_of_the_linear_part_counts() -> None:
    learner = RandomFeatures(activation="relu(z)", width=2.0)
    np.testing.assert_allclose(
        learner.predict("3*z1 + 4*z2", alpha=[0.3, 3.0]).error,
        learner.predict("5*z", alpha=[0.3, 3.0]).error,
    )


def test_the_limit_of_a_higher_degree_is_that_of_finite_dimensions() -> None:
    """At n of order d^2 / 2 in a dimension so large that nothing else is between."""
    link, d = "z1 + z1*z2 + He3(z1)", 10**6
    learner = RandomFeatures(1.5, "exp(z - 1/2)", 0.1)
    theory = learner.predict(link, alpha=[0.5, 2.0], degree=2)
    wide = RandomFeatures(1.5 * d / 2, "exp(z - 1/2)", 0.1)
    finite = wide.predict(link, d=d, alpha=np.array([0.5, 2.0]) * d / 2)
    np.testing.assert_allclose(finite.error, theory.error, rtol=1e-4)
    np.testing.assert_allclose(finite.kappa, np.log(np.array([0.5, 2]) * d**2 / 2) / np.log(d))


def test_floors_between_powers_of_the_dimension() -> None:
    link, d = "z + He2(z)/sqrt(2) + He3(z)/sqrt(6)", 10**9
    for kappa, width, floor in ((0.5, 3.5, 3), (1.5, 3.5, 2), (2.5, 3.5, 1), (2.5, 1.5, 2)):
        learner = RandomFeatures(d ** (width - 1), "exp(z - 1/2)", 0.1)
        found = learner.predict(link, d=d, alpha=d ** (kappa - 1))
        assert float(found.error) == pytest.approx(floor, rel=0.01)


def test_runs_and_predictions_share_their_names() -> None:
    learner = RandomFeatures(0.5, "tanh(z)", (0.01, 1.0))
    runs = learner.simulate("sign(z)", d=30, alpha=[0.5, 2.0], seeds=[3, 1])
    theory = learner.predict("sign(z)", alpha=[0.5, 2.0])
    assert runs.error.dims == ("alpha", "seed", "ridge") and theory.error.dims == ("alpha", "ridge")
    assert set(theory.data_vars) < set(runs.data_vars)
    assert runs.seed.values.tolist() == [3, 1] and runs.ridge.values.tolist() == [0.01, 1.0]
    assert runs.attrs["d"] == 30 and set(runs.status.values.ravel()) == {"solved"}
    alone = RandomFeatures(0.5, "tanh(z)", 1.0).simulate("sign(z)", d=30, alpha=2.0, seeds=[1])
    assert alone.error.dims == ("seed",)
    expected = runs.sel(alpha=2.0, seed=1, ridge=1.0)
    assert float(alone.error[0]) == pytest.approx(float(expected.error), rel=1e-5)
    assert float(alone.train_error[0]) == pytest.approx(float(expected.train_error), rel=1e-5)


def test_a_run_is_the_fit_of_its_sample() -> None:
    target = MultiIndex("z1*z2 + z1", noise=0.2)
    X, y, _, _ = target.sample(5, n=40, d=16)
    F = np.maximum(X @ first_layer(5, 24, 16).T.astype(float), 0) / np.sqrt(24)
    a = np.linalg.solve(F.T @ F + 0.1 * np.eye(24), F.T @ y)
    runs = RandomFeatures(1.5, ridge=0.1).simulate(target, d=16, alpha=2.5, seeds=[5])
    sampled32 = target.sample(5, n=40, d=16, dtype=np.float32)
    F32 = np.maximum(sampled32.X @ first_layer(5, 24, 16).T, 0) / np.sqrt(24)
    a32 = np.linalg.solve(F32.T @ F32 + 0.1 * np.eye(24), F32.T @ sampled32.y)
    expected = np.mean((sampled32.y - F32 @ a32) ** 2)
    assert float(runs.train_error[0]) == pytest.approx(expected, rel=1e-4)
    assert a.shape == a32.shape and float(runs.error[0]) > 0.2


def test_the_interpolation_threshold_without_a_ridge() -> None:
    learner = RandomFeatures(1.0, "tanh(z)", 0.0)
    theory = learner.predict("tanh(z)", alpha=[0.5, 1.0, 2.0])
    assert np.isinf(theory.error[1]) and np.isfinite(theory.error[[0, 2]]).all()
    runs = learner.simulate("tanh(z)", d=40, alpha=[0.5, 1.0, 2.0], seeds=2)
    assert np.isfinite(runs.error).all()
    np.testing.assert_allclose(runs.train_error[:2], 0.0, atol=1e-10)


def test_constant_features_give_the_mean() -> None:
    learner = RandomFeatures(2.0, "1 + 0*z", 0.0)
    runs = learner.simulate("3 + z", d=20, alpha=5.0, seeds=1)
    assert set(runs.status.values) == {"least norm"}
    assert float(runs.error[0]) == pytest.approx(1.0, rel=0.1)
    assert float(learner.predict("3 + z", alpha=5.0).error) == pytest.approx(1.0)


WRONG = {
    "width": {"width": 0.0},
    "activation": {"activation": "z1*z2"},
    "ridge": {"ridge": -1.0},
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_fields_end_in_a_sentence(name: str) -> None:
    with pytest.raises(LearnabilityError, match=f"`{name}`"):
        RandomFeatures(**WRONG[name])  # type: ignore[arg-type]


def test_bad_arguments_end_in_a_sentence() -> None:
    learner = RandomFeatures()
    with pytest.raises(LearnabilityError, match="`alpha` was given"):
        learner.predict("z", alpha=[-1.0])
    with pytest.raises(LearnabilityError, match="`degree`"):
        learner.predict("z", alpha=1.0, degree=0)
    with pytest.raises(LearnabilityError, match="`d` was given"):
        learner.predict("z", d=1, alpha=1.0)
    with pytest.raises(LearnabilityError, match="`d` was given"):
        learner.simulate("z", d="20", alpha=1.0)  # type: ignore[arg-type]
    with pytest.raises(LearnabilityError, match="GiB"):
        RandomFeatures(width=1e6).simulate("z", d=3000, alpha=1.0)
    with pytest.raises(LearnabilityError, match="finite"):
        RandomFeatures(activation="exp(exp(2*z))").simulate("z", d=20, alpha=20.0)
