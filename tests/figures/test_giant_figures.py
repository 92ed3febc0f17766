"""The figures of giant steps, at small sizes."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError, MultiIndex
from learnability.drawing.files import write
from learnability.figures import (
    FIGURES,
    bbp_transition,
    giant_stairs,
    learning_rates,
    network_kernel,
    one_step_error,
    one_step_spectrum,
    regimes,
)
from learnability.figures._literature import SpikeSize
from learnability.figures._message_passing import Size


def test_they_are_registered() -> None:
    assert {"giant-stairs", "one-step-error", "one-step-spectrum", "regimes"} <= set(FIGURES)


def test_stairs(tmp_path) -> None:  # type: ignore[no-untyped-def]
    data = giant_stairs.compute(giant_stairs.Size(d=60, runs=2))
    assert data["cosine"].shape == (4, 2, 2, 40, 2)
    first = np.sqrt((data["cosine"] ** 2).mean(("seed", "neuron"))).isel(direction=0, step=0)
    assert (first > 3 * data["background"].isel(step=0)).all()
    second = np.sqrt((data["cosine"] ** 2).mean(("seed", "neuron"))).isel(direction=1, step=1)
    assert float(second[0]) > 0.3 and float(second[2]) > 0.25  # Opened by the first direction,
    assert float(second[1]) < 0.5 * float(second[0])  # and not.
    figure = giant_stairs.picture(data)
    assert len(figure.axes) == 4 and len(figure.legends[0].get_texts()) == 2
    assert len(write(figure, data, tmp_path / "stairs")) == 4


def test_error(tmp_path) -> None:  # type: ignore[no-untyped-def]
    data = one_step_error.compute(Size(d=40, runs=2, alphas=(0.5, 2.0), theory=4))
    assert data["theory_error"].shape == (2, 3, 4) and data["runs_error"].shape == (2, 3, 2, 2)
    assert (data["theory_error"].isel(batch=2) < data["theory_random_features"]).all()
    assert data["best_linear"].values == pytest.approx([0.0274, 1 - 2 / np.pi], abs=2e-3)
    assert float(data["theory_bayes"][0, -1]) == pytest.approx(0.0, abs=1e-4)
    figure = one_step_error.picture(data)
    assert len(figure.axes) == 2 and len(figure.legends[0].get_texts()) == 6
    assert len(write(figure, data, tmp_path / "error")) == 4


def test_spectrum(tmp_path) -> None:  # type: ignore[no-untyped-def]
    data = one_step_spectrum.compute(one_step_spectrum.Size(d=120))
    assert data["runs_singular_values"].shape == (2, 60)
    assert float(data["theory_outlier"]) > 1.5 * float(data["theory_edge"])
    mass = np.trapezoid(data["theory_layer_density"][1], data["singular_value"])
    assert mass == pytest.approx(1, abs=0.02)
    figure = one_step_spectrum.picture(data)
    assert "theory" in figure.axes[0].get_title()
    assert len(write(figure, data, tmp_path / "spectrum")) == 4


def test_transition(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(bbp_transition, "PANELS", bbp_transition.PANELS[1:])
    data = bbp_transition.compute(bbp_transition.Size(d=40, runs=2, steps=2, theory=2))
    assert data["runs_outlier"].shape == (1, 2, 2)
    assert (data["theory_outlier"][:, -1] > 1.5 * data["theory_edge"][:, -1]).all()
    assert (data["theory_outlier"][:, 0] < 1.2 * data["theory_edge"][:, 0]).all()
    figure = bbp_transition.picture(data)
    assert len(figure.axes) == 2 and len(write(figure, data, tmp_path / "transition")) == 4


def test_learning_rates(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(learning_rates, "PANELS", learning_rates.PANELS[:1])
    data = learning_rates.compute(Size(d=30, runs=2, alphas=(1e-3, 1.0), theory=2))
    lazy = data["theory_random_features"].values
    np.testing.assert_allclose(data["theory_given_error"][:, 0], lazy, rtol=0.15)
    assert float(data["theory_given_error"][0, 1]) < 0.9 * lazy[0]
    assert float(data["theory_error"][0, 1]) < 0.9 * lazy[0]
    figure = learning_rates.picture(data)
    assert len(figure.axes) == 1 and len(write(figure, data, tmp_path / "rates")) == 4


def test_network_and_kernel(tmp_path) -> None:  # type: ignore[no-untyped-def]
    data = network_kernel.compute(SpikeSize((60,), 2, (0.5,), 2))
    assert data["runs_error"].shape == (1, 3, 2) and "He5" in data.attrs["link"]
    assert len(write(network_kernel.picture(data), data, tmp_path / "kernel")) == 4


CHEAP_REGIMES = regimes.REGIMES[0:3:2]
"""Few neurons, for which layers are drawn in seconds."""


def test_regimes(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(regimes, "REGIMES", CHEAP_REGIMES)
    size = regimes.RegimeSize((12,), (12,), 2, 1e6)
    data = regimes.compute(size, tmp_path / "runs.study")
    np.testing.assert_allclose(data["floor"], [4, 2], atol=1e-9)
    errors = data["runs_error"].mean("seed").values[:, 0]
    assert errors[0] > errors[1] and (errors > data["floor"] - 1).all()
    assert (data["theory_knowing"] > data["floor"]).all()
    figure = regimes.picture(data)
    assert len(figure.legends[0].get_texts()) == 2
    assert len(write(figure, data, tmp_path / "regimes")) == 4


def test_a_target_of_the_user(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(regimes, "REGIMES", CHEAP_REGIMES)
    own = MultiIndex("z1 + z1*z2", noise=0.1)
    stairs = giant_stairs.compute(giant_stairs.Size(d=60, runs=2), target=own)
    assert (
        stairs["cosine"].shape == (1, 2, 2, 40, 2) and len(giant_stairs.picture(stairs).axes) == 1
    )
    size = Size(d=40, runs=2, alphas=(0.5, 2.0), theory=3)
    error = one_step_error.compute(size, target=MultiIndex("erf(z)", noise=0.1))
    assert (error["theory_error"] > 0.1).all() and one_step_error.picture(error).axes
    spectrum = one_step_spectrum.compute(one_step_spectrum.Size(d=60), target=own)
    assert spectrum.attrs["link"] == "z1 + z1*z2" and one_step_spectrum.picture(spectrum).axes
    few = regimes.RegimeSize((12,), (12,), 2, 1e5)
    regime = regimes.compute(few, target=MultiIndex("z1 + He2(z2)", noise=0.1))
    np.testing.assert_allclose(regime["floor"], [2.1, 0.1], atol=1e-9)
    assert regimes.picture(regime).axes
    with pytest.raises(LearnabilityError, match="no two directions"):
        giant_stairs.compute(giant_stairs.Size(d=60, runs=2), target=MultiIndex("z**2"))
