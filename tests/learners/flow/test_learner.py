"""The learner of gradient flows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from learnability import GradientFlow, LearnabilityError, SpikedIndex

TARGET = SpikedIndex("He2(z)/sqrt(2)", spike=9.0, alignment=0.5)


def test_predict_and_simulate_share_names_and_starts() -> None:
    learner = GradientFlow(step=0.05, batch=500)
    theory = learner.predict(TARGET, d=50, time=[0.0, 0.4], seeds=3)
    runs = learner.simulate(TARGET, d=50, time=[0.0, 0.4], seeds=3)
    assert set(theory) == set(runs)
    np.testing.assert_allclose(theory.correlation_trace[:, 0], runs.correlation_trace[:, 0])
    assert (theory.error_trace[:, 1] < theory.error_trace[:, 0]).all()
    assert (runs.status == "finished").all() and (theory.status == "solved").all()
    alone = learner.predict(TARGET, d=50, time=0.4, start=(0.3, 0.2, 1.0))
    assert alone.correlation.shape == () and alone.overlap.shape == (1, 1)


def test_the_flow_on_samples_reuses_them() -> None:
    learner = GradientFlow("tanh(z)", "whitened", 0.05, 400, reuse=True)
    target = SpikedIndex("z", spike=9.0)
    runs = learner.simulate(target, d=20, time=2.0, seeds=2)
    assert (np.abs(runs.correlation) > 0.9).all()


def test_the_chance_of_recovery() -> None:
    target = SpikedIndex("He3(z)/sqrt(6)", spike_exponent=0.9)
    found = GradientFlow("tanh(z)").recovery_probability(target, d=1000)
    assert found == pytest.approx(0.5 * chi2.sf(0.213886 * 1000**0.1, 1), rel=1e-3)
    assert GradientFlow("He3(z)").recovery_probability(target, d=1000) == 0
    round_inputs = SpikedIndex("He3(z)/sqrt(6)", spike=0.0)
    assert GradientFlow("tanh(z)").recovery_probability(round_inputs, d=1000) == 0


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"flow": "round"}, "`flow` was given as 'round', but spherical, normalised, whitened"),
        ({"batch": 0}, "`batch` was given as 0"),
        ({"step": -1.0}, "`step` was given as -1.0"),
        ({"reuse": "yes"}, "`reuse` was given as 'yes'"),
        ({"activation": "z1*z2"}, "`activation` was given"),
    ],
)
def test_bad_settings_end_in_a_sentence(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        GradientFlow(**fields)  # type: ignore[arg-type]


def test_bad_arguments_end_in_a_sentence() -> None:
    learner = GradientFlow()
    with pytest.raises(LearnabilityError, match="accept a SpikedIndex"):
        learner.predict("z", d=10, time=1.0)  # type: ignore[arg-type]
    with pytest.raises(LearnabilityError, match="`time` was given"):
        learner.predict(TARGET, d=10, time=[1.0, 0.5])
    with pytest.raises(LearnabilityError, match="weights can have are accepted"):
        learner.predict(TARGET, d=10, time=1.0, start=(0.9, -0.9, 1.0))
    with pytest.raises(LearnabilityError, match="weights on the sphere have length 1"):
        learner.predict(TARGET, d=10, time=1.0, start=(0.1, 0.1, 2.0))
    for target in (TARGET, SpikedIndex("He3(z)", spike=1.0, alignment_exponent=0.5)):
        with pytest.raises(LearnabilityError, match="alignment 1"):
            learner.landscape(target)
    for link, activation in (("exp(z**2)", "tanh(z)"), ("z", "exp(z**2)"), ("1/z", "relu(z)")):
        with pytest.raises(LearnabilityError, match="square-integrable"):
            GradientFlow(activation).predict(SpikedIndex(link, spike=1.0), d=10, time=1.0)
