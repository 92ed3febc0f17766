"""A flow on samples, then a readout on the same ones."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import FlowNetwork, LearnabilityError, MultiIndex
from learnability.inputs import PowerLaw


def test_runs_and_theory_agree() -> None:
    target = MultiIndex("tanh(2*z)", noise=0.1, inputs=PowerLaw(exponent=0.5))
    learner = FlowNetwork(8, "tanh(z)", duration=5.0, step=0.2)
    runs = learner.simulate(target, d=30, alpha=30.0, seeds=3)
    theory = learner.predict(target, d=30, alpha=30.0, seeds=3)
    assert theory.error.dims == ("seed",) and theory.correlation.shape == (3, 8, 1)
    assert theory.error.values.mean() == pytest.approx(runs.error.values.mean(), rel=0.05)
    rho, known = np.abs(runs.correlation.values), np.abs(theory.correlation.values)
    assert rho.mean() == pytest.approx(known.mean(), abs=0.01)
    endless = learner.predict(target, question="population", d=30, seeds=3)
    assert (np.abs(endless.correlation) > 0.999).all()


def test_what_is_not_known_is_undecided() -> None:
    found = FlowNetwork(8).predict("He3(z)", d=30, alpha=4.0)
    assert str(found.status.item()) == "undecided" and np.isnan(found.error).all()
    assert "Too few samples" in found.attrs["note"]


def test_refusals() -> None:
    with pytest.raises(LearnabilityError, match="more samples than dimensions"):
        FlowNetwork(4).simulate("z", d=30, alpha=1.0)
    with pytest.raises(LearnabilityError, match="no run has infinitely many samples"):
        FlowNetwork(4).simulate("z", question="population", d=30)
    with pytest.raises(LearnabilityError, match="it accepts at most 1"):
        FlowNetwork(4).simulate("z1*z2", d=30, alpha=2.0)
