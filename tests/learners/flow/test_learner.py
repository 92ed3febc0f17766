"""The learner of gradient flows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from learnability import GradientFlow, LearnabilityError, MultiIndex, SpikedIndex
from learnability.inputs import PowerLaw, Spiked

TARGET = SpikedIndex("He2(z)/sqrt(2)", spike=9.0, alignment=0.5)
TWO = MultiIndex("He2(z)/sqrt(2)", inputs=Spiked((9.0, 4.0), (0.5, -0.4)))


@pytest.mark.parametrize("target", [MultiIndex("He2(z)/sqrt(2)"), TARGET, TWO])
def test_predict_and_simulate_share_names_and_starts(target: MultiIndex) -> None:
    learner = GradientFlow(step=0.05, batch=500)
    theory = learner.predict(target, d=50, time=[0.0, 0.4], seeds=3)
    runs = learner.simulate(target, d=50, time=[0.0, 0.4], seeds=3)
    assert set(theory) == set(runs) and all(theory[k].dims == runs[k].dims for k in runs)
    np.testing.assert_allclose(theory.correlation_trace[:, 0], runs.correlation_trace[:, 0])
    assert (theory.error_trace[:, 1] < theory.error_trace[:, 0]).all()
    assert (runs.status == "finished").all() and (theory.status == "solved").all()
    spikes = target.inputs.frame(1, 50).spikes
    assert ("spike_overlap" in runs) == (spikes > 0)
    alone = learner.predict(
        target, d=50, time=0.4, start=(1.0, 0.3, [0.2] * spikes)[: 2 + (spikes > 0)]
    )
    assert alone.correlation.dims == alone.overlap_trace.dims == ("estimate", "index")
    assert alone.length.dims == ("estimate",) and alone.error.shape == ()


def test_isotropic_flows_with_a_start_need_no_dimension() -> None:
    """E (He2(rho) - He2)^2 / 2 on the sphere: d rho / dt = 4 rho (1 - rho^2)."""
    learner = GradientFlow("He2(z)/sqrt(2)")
    found = learner.predict("He2(z)/sqrt(2)", time=[0.0, 0.3], start=(1.0, 0.2))
    rho, odds = found.correlation.item(), 0.04 / 0.96 * math.exp(8 * 0.3)
    assert rho == pytest.approx(math.sqrt(odds / (1 + odds)), rel=1e-6)
    assert found.error.item() == pytest.approx(2 - 2 * rho**2, rel=1e-6)


def test_the_flow_on_samples_reuses_them() -> None:
    learner = GradientFlow("tanh(z)", "whitened", 0.05, 400, reuse=True)
    target = SpikedIndex("z", spike=9.0)
    runs = learner.simulate(target, d=20, time=2.0, seeds=2)
    assert (np.abs(runs.correlation) > 0.9).all()
    again = learner.simulate(target, d=20, time=2.0, seeds=[1])
    np.testing.assert_array_equal(again.overlap[0], runs.overlap[1])


def test_the_landscape() -> None:
    target = SpikedIndex("He3(z)/sqrt(6)", spike_exponent=0.9)
    found = GradientFlow("tanh(z)").predict(target, question="landscape")
    np.testing.assert_allclose(found.maxima, [0.213886, np.nan], rtol=1e-4)
    np.testing.assert_allclose(found.minima, [0.0, 15.3662], rtol=1e-4)
    assert found.attrs["sign"] == -1 and "note" not in found.attrs
    flat = GradientFlow("cos(z)").predict(target, question="landscape")
    assert "flat to rounding" in flat.attrs["note"] and flat.sizes["extremum"] <= 2


def test_the_chance_of_recovery() -> None:
    target = SpikedIndex("He3(z)/sqrt(6)", spike_exponent=0.9)

    def chance(activation: str, target: Any, **at: Any) -> float:
        asked = GradientFlow(activation).predict(target, question="recovery-probability", **at)
        return float(asked.recovery_probability)

    assert chance("tanh(z)", target, d=1000) == pytest.approx(0.2577, abs=1e-4)
    # The flow ends at rho = 0.969: it recovers 0.9 and not 0.98.
    assert chance("tanh(z)", target, d=1000, overlap=0.9) == chance("tanh(z)", target, d=1000)
    assert chance("tanh(z)", target, d=1000, overlap=0.98) == 0
    assert chance("He3(z)", target, d=1000) == 0
    assert chance("tanh(z)", "He3(z)/sqrt(6)", d=1000) == pytest.approx(0.5)
    stuck = GradientFlow("sin(z)").predict(
        SpikedIndex("z", spike=501.0), d=1000, question="recovery-probability"
    )
    assert stuck.status == "undecided" and np.isnan(stuck.recovery_probability)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"flow": "round"}, "`flow` was given as 'round', but one of spherical, normalised"),
        ({"batch": 0}, "`batch` was given as 0"),
        ({"activation": "sign(z)"}, "which jumps at 0"),
        ({"activation": "relu(z) + step(z - 1)"}, "which jumps at 1"),
    ],
)
def test_bad_settings_end_in_a_sentence(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        GradientFlow(**fields)


def test_bad_arguments_end_in_a_sentence() -> None:
    learner = GradientFlow()
    with pytest.raises(LearnabilityError, match="needs `start`, or `d` for a random one"):
        learner.predict("z", time=1.0)
    with pytest.raises(LearnabilityError, match="needs `d`"):
        learner.predict(TARGET, time=1.0, start=(1.0, 0.1, 0.1))
    with pytest.raises(LearnabilityError, match="power-law inputs"):
        learner.predict(MultiIndex("z", inputs=PowerLaw()), d=10, time=1.0)
    with pytest.raises(LearnabilityError, match="at most 1"):
        learner.predict("z1*z2", d=10, time=1.0)
    with pytest.raises(LearnabilityError, match="a dimension from 4 is accepted"):
        learner.simulate(TARGET, d=3, time=1.0)
    with pytest.raises(LearnabilityError, match="`time` was given"):
        learner.predict(TARGET, d=10, time=[1.0, 0.5])
    with pytest.raises(LearnabilityError, match="no weights have these order parameters"):
        learner.predict(TARGET, d=10, time=1.0, start=(1.0, 0.9, -0.9))
    with pytest.raises(LearnabilityError, match="weights on the sphere have length 1"):
        learner.predict(TARGET, d=10, time=1.0, start=(2.0, 0.1, 0.1))
    with pytest.raises(LearnabilityError, match="`seeds` was given beside `start`"):
        learner.predict(TARGET, d=10, time=1.0, start=(1.0, 0.1, 0.1), seeds=2)
    for target in (TARGET, SpikedIndex("He3(z)", spike=1.0, alignment_exponent=0.5), TWO):
        with pytest.raises(LearnabilityError, match="alignment 1"):
            learner.predict(target, question="landscape")
        with pytest.raises(LearnabilityError, match="alignment 1"):
            learner.predict(target, question="recovery-probability", d=100)
    with pytest.raises(LearnabilityError, match="`flow` was given as 'whitened'"):
        GradientFlow(flow="whitened").predict(SpikedIndex("z", spike=1.0), question="landscape")
    with pytest.raises(LearnabilityError, match="has no answer: it is a property of the loss"):
        learner.simulate(SpikedIndex("z", spike=1.0), question="landscape")
    for link, activation in (("exp(z**2)", "tanh(z)"), ("z", "exp(z**2)"), ("1/z", "relu(z)")):
        with pytest.raises(LearnabilityError, match="square-integrable"):
            GradientFlow(activation).predict(SpikedIndex(link, spike=1.0), d=10, time=1.0)
