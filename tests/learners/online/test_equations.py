"""Which averages the equations take, their error, and the solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnability import GradientFlow, LearnabilityError, OnlineSGD, SpikedIndex
from learnability.inputs import Isotropic, Spiked
from learnability.inputs.base import MarkedInputs
from learnability.labels.link import Link
from learnability.learners.networks.starts import Start
from learnability.learners.online._equations import Equations
from learnability.targets import MultiIndex


def equations(link: str, inputs: MarkedInputs | None = None, **fields: Any) -> Equations:
    learner, frame = OnlineSGD(step=0.4, **fields), (inputs or Isotropic()).frame(Link(link).r, 100)
    target = MultiIndex(link, inputs=inputs)
    return Equations(learner._recipe(target, frame), 0.0, learner._rates, frame)


@pytest.mark.parametrize(
    ("link", "fields", "method"),
    [
        ("erf(z/sqrt(2))", {"activation": "erf(z/sqrt(2))"}, "closed form"),
        ("He2(z)", {"activation": "He2(z)", "loss": "correlation", "spherical": True},
         "Hermite series"),
        ("He2(z1) + sign(z1*z2)", {"activation": "tanh(z)"},
         "one coordinate between its breaks, Gauss rules and even grids"),
        ("tanh(z)", {"activation": "tanh(z)"}, "Gauss rules"),
        ("tanh(z)", {"activation": "relu(z)"}, "Gauss rules and even grids"),
        ("tanh(z)", {"activation": "relu(z)", "width": 3},
         "pairs of fields, squared terms by Sobol points"),
    ],
)  # fmt: skip
def test_the_best_averages_are_taken(link: str, fields: dict[str, Any], method: str) -> None:
    assert equations(link, **fields).method == method


def test_two_routes_have_one_solution() -> None:
    """A linear network on a linear label: dm/dt = step (1 - m) and dQ/dt are known."""
    made = equations("z", activation="z")
    times = np.array([0.0, 1.0, 3.0])
    found = made.solve(Start(np.array([[0.96]]), np.array([[0.2]])), np.ones(1), times)
    m = 1 - 0.8 * np.exp(-0.4 * times)
    np.testing.assert_allclose(found.overlap[0, :, 0, 0], m, rtol=1e-5)
    # E(f - y)^2 = Q - 2 m + 1 decays with the rate 2 step - step^2.
    error = found.rest[0, :, 0, 0] + (1 - m) ** 2
    np.testing.assert_allclose(error, error[0] * np.exp(-(0.8 - 0.16) * times), rtol=1e-4)
    assert not found.diverged and len(found.overlap) == 1


def test_a_spike_that_is_none_changes_nothing() -> None:
    """The frame has one direction more; the label's is the first."""
    times = np.array([0.0, 1.0, 2.0])
    plain = equations("tanh(2*z)", activation="tanh(z)").solve(
        Start(np.array([[0.91]]), np.array([[0.3]])), np.ones(1), times
    )
    framed = equations("tanh(2*z)", Spiked(0.0, 1.0), activation="tanh(z)")
    found = framed.solve(Start(np.array([[0.75]]), np.array([[0.3, 0.4]])), np.ones(1), times)
    np.testing.assert_allclose(found.overlap[..., :1], plain.overlap, atol=1e-6)
    rest = found.rest + found.overlap[..., 1:] ** 2
    np.testing.assert_allclose(rest, plain.rest, atol=1e-6)
    start = Start(np.array([[0.75]]), np.array([[0.3, 0.4]]))
    reached, lost = framed.recovery(start, np.ones(1), 50.0, 0.6)
    at = framed.solve(start, np.ones(1), reached[:1])
    m, Q = float(at.overlap[0, 0, 0, 0]), float(at.rest[0, 0, 0, 0] + (at.overlap[0] ** 2).sum())
    assert not lost and m / np.sqrt(Q) == pytest.approx(0.6, abs=1e-3)


# ---- inputs with spikes

TARGET = SpikedIndex("He2(z)/sqrt(2) + z/2", spike_exponent=0.4, alignment_exponent=0.2)


@pytest.mark.parametrize("flow", ["spherical", "normalised", "whitened"])
def test_small_steps_are_the_gradient_flow(flow: str) -> None:
    """Half the squared loss at steps / d = t is the flow of the whole at step t / 2."""
    step, time = 1e-3, 2000.0
    fields: dict[str, Any] = {"spherical": True} if flow == "spherical" else {"normalisation": flow}
    learner = OnlineSGD(activation="tanh(z) + z/2", step=step, **fields)
    found = learner.predict(TARGET, d=2000, time=[0.0, time], start=(1.0, 0.2, 0.1))  # type: ignore[arg-type]
    wanted = GradientFlow("tanh(z) + z/2", flow).predict(
        TARGET, d=2000, time=[0.0, step * time / 2], start=(1.0, 0.2, 0.1)
    )
    assert abs((wanted.correlation_trace[1] - wanted.correlation_trace[0]).item()) > 0.2
    for name in ("correlation_trace", "spike_overlap_trace"):
        np.testing.assert_allclose(found[name].squeeze(), wanted[name].squeeze(), atol=2e-3)


def test_names_and_starts_are_those_of_runs() -> None:
    learner = OnlineSGD(width=2, activation="tanh(z)", step=0.3, second_step=0.1)
    theory = learner.predict(TARGET, d=3000, time=[0.0, 0.5], seeds=[4, 2])
    runs = learner.simulate(TARGET, d=3000, time=[0.0, 0.5], seeds=[4, 2])
    names = {name for name in map(str, theory) if not name.endswith("_stderr")}
    assert names == set(runs) and (theory.status == "solved").all()
    np.testing.assert_allclose(theory.gram_trace[:, 0], runs.gram_trace[:, 0], atol=1e-12)


def test_recovery() -> None:
    learner = OnlineSGD(activation="z", loss="correlation", step=0.5, normalisation="whitened")
    target = SpikedIndex("z", spike=20.0, alignment=0.3)
    start: Any = (1.0, 0.05, 0.02)
    found = learner.predict(
        target, question="recovery", d=2000, time=50.0, start=start, overlap=0.7
    )
    assert str(found.status.values) == "recovered"
    there = learner.predict(target, d=2000, time=float(found.recovery_time), start=start)
    assert there.correlation.item() == pytest.approx(0.7, abs=1e-3)
    several = learner.predict(target, question="recovery", d=2000, time=1e-3, seeds=3)
    assert np.isinf(several.recovery_time).all() and (several.status == "stopped").all()


@pytest.mark.parametrize(
    ("fields", "arguments", "sentence"),
    [
        ({}, {}, "needs `d`"),
        ({}, {"d": 500, "start": (1.0, [0.1, 0.2])}, "S = W mu"),
        ({"spherical": True}, {"d": 500, "start": (4.0, 0.1, 0.1)}, "have length 1"),
        ({}, {"d": 500, "start": (1.0, 0.1), "seeds": 2}, "no randomness"),
    ],
)
@pytest.mark.parametrize("question", ["path", "recovery"])
def test_bad_input_ends_in_a_sentence(
    question: str, fields: dict[str, Any], arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        OnlineSGD(**fields).predict(TARGET, question=question, time=1.0, **arguments)


def test_strong_spikes_are_left_to_the_chain() -> None:
    with pytest.raises(LearnabilityError, match="`simulate`, whose chain is exact at every d"):
        OnlineSGD().predict(SpikedIndex("z", spike_exponent=0.9), d=500, time=1.0)
