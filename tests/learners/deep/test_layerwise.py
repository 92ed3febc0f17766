"""Layers one after the other: composition, accounting, streaming, sentences."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Hierarchical, LearnabilityError, study
from learnability.learners import (
    Layerwise,
    MehlerReadout,
    MehlerSecondLayer,
    OracleFirstLayer,
    PreconditionedSecondLayer,
    RidgeReadout,
    SpectralFirstLayer,
    SphericalFirstLayer,
    TwoLayer,
)
from learnability.learners.deep import samples

TARGET = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", normalisation="printed")
SMALL = SphericalFirstLayer(width=120)


def test_results_and_accounting(tmp_path) -> None:  # type: ignore[no-untyped-def]
    learner = Layerwise((SMALL, PreconditionedSecondLayer(30), RidgeReadout()), fresh=True)
    store = tmp_path / "a.study"
    runs = study(learner, TARGET, d=16, alpha=[10.0, 40.0], seeds=2, store=store, workers=1)
    assert dict(runs.error.sizes) == {"alpha": 2, "seed": 2}
    alone = learner.simulate(TARGET, d=16, alpha=40.0, seeds=[1])
    assert alone.error.item() == runs.error.sel(alpha=40.0, seed=1).item()
    assert alone.n_first.item() == alone.n_second.item() == alone.n_third.item() == 640
    assert alone.n_total.item() == 1280
    assert alone.kappa.item() == pytest.approx(np.log(640) / np.log(16))
    two = TwoLayer((SMALL, RidgeReadout()), fresh=False).simulate(TARGET, d=16, alpha=40.0)
    assert two.n_third.item() == 0 and two.n_total.item() == 640
    assert two.error.item() == two.two_layer_error.item()
    # A refit of the label on the fitted function learns more.
    better = Layerwise((OracleFirstLayer(200), PreconditionedSecondLayer(), RidgeReadout()))
    found = better.simulate(TARGET, d=16, alpha=100.0)
    assert found.error.item() < 0.8 * found.two_layer_error.item()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Layerwise((SMALL, PreconditionedSecondLayer(20), RidgeReadout()))
    kept = learner.simulate(TARGET, d=16, alpha=300.0)
    monkeypatch.setattr(samples, "_KEPT", 0)
    drawn = learner.simulate(TARGET, d=16, alpha=300.0)
    assert kept.error.item() == drawn.error.item()


def test_fields_build_the_layers() -> None:
    built = Layerwise(width=120, steps=3, ridge=0.01)
    middle = PreconditionedSecondLayer(ridge=0.01)
    given = Layerwise((SphericalFirstLayer(120, 3), middle, RidgeReadout(0.01)))
    assert built.stack == given.stack and built != given
    found = [one.simulate(TARGET, d=16, alpha=40.0, seeds=2) for one in (built, given)]
    np.testing.assert_array_equal(found[0].error, found[1].error)
    assert TwoLayer(width=120).stack == (SMALL, RidgeReadout())
    ideal = (SpectralFirstLayer(None), MehlerSecondLayer(), RidgeReadout())
    assert Layerwise().stack == ideal
    assert TwoLayer(ridge=2.0).stack == (SpectralFirstLayer(None), MehlerReadout(2.0))


def test_any_depth() -> None:
    layers = (SMALL, *(PreconditionedSecondLayer(20),) * 2, RidgeReadout())
    found = Layerwise(layers).simulate(TARGET, d=16, alpha=100.0)
    assert found.error.item() < 1.1 * found.two_layer_error.item()
    tree = Hierarchical("tanh(z)", "He2(z)", depth=4)
    run = Layerwise(layers).simulate(tree, d=64, alpha=10.0)
    assert np.isfinite(run.error).all() and str(run.status.item()) == "trained"


def test_predictions() -> None:
    learner = TwoLayer()
    theory = learner.predict(TARGET, d=64, alpha=[2.0, 64.0, 147.0])
    v = theory.attrs["label_variance"]
    assert theory.first_layer_overlap.values[2] == pytest.approx(0.978, abs=0.002)
    assert np.isnan(theory.two_layer_error.values[0])  # Between n*/4 and 3 n*.
    # The values of the best kernel: 0.604 and 0.468 of the variance.
    np.testing.assert_allclose(theory.kernel_error.values[1:] / v, [0.604, 0.468], atol=0.002)
    assert theory.attrs["n_star"] == pytest.approx(TARGET.n_star(64))
    assert len(theory.attrs["n_star_by_direction"]) == 8
    np.testing.assert_array_equal(theory.error, theory.two_layer_error)
    three = Layerwise().predict(TARGET, d=64, alpha=147.0)
    assert three.three_layer_floor.item() < three.error.item() < three.two_layer_error.item()
    assert three.two_layer_error.item() < three.three_layer_bound.item()
    assert "error" not in Layerwise().predict(TARGET, d=64, alpha=147.0, third=False)
    more = (SpectralFirstLayer(None), MehlerSecondLayer(), PreconditionedSecondLayer())
    deeper = Layerwise((*more, RidgeReadout())).predict(TARGET, d=64, alpha=147.0)
    assert "error" not in deeper and "three_layer_bound" not in deeper


def test_what_is_not_known_is_not_given() -> None:
    network = Layerwise(width=200).predict(TARGET, d=64, alpha=147.0)
    assert np.isnan(network.two_layer_error) and np.isnan(network.first_layer_overlap)
    assert np.isfinite(network.kernel_error) and "not a Mehler kernel" in network.attrs["note"]
    reused = Layerwise(fresh=False)
    near, far = reused.predict(TARGET, d=64, alpha=[30.0, 147.0]).two_layer_error.values
    assert np.isnan(near) and np.isfinite(far)
    rounded = Layerwise().predict(TARGET, d=64, alpha=9.0)
    assert (
        np.isnan(rounded.first_layer_overlap) and "rounds the transition" in rounded.attrs["note"]
    )


def test_sentences() -> None:
    with pytest.raises(LearnabilityError, match="multi-index target, but it accepts hierarchical"):
        Layerwise().simulate("tanh(z)", d=8, alpha=1.0)
    with pytest.raises(LearnabilityError, match="a first layer, any number of"):
        Layerwise((RidgeReadout(), SMALL))
    with pytest.raises(LearnabilityError, match=r"`width` .* acts only with `layers` = None"):
        Layerwise((SMALL, RidgeReadout()), width=3)
    with pytest.raises(LearnabilityError, match="has 3 layers"):
        TwoLayer((SMALL, PreconditionedSecondLayer(), RidgeReadout()))
    with pytest.raises(LearnabilityError, match="give `width` too"):
        Layerwise(steps=3)
    with pytest.raises(LearnabilityError, match="2 samples are needed"):
        Layerwise().simulate(TARGET, d=16, alpha=0.01)
    with pytest.raises(LearnabilityError, match="True or False"):
        Layerwise(fresh=1)  # type: ignore[arg-type]
