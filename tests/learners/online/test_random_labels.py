"""One-pass SGD on random labels: two ways to say one law, and the chain beside its equations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Link, MultiIndex, OnlineSGD
from learnability.labels import DensityLaw

START = (1.0, 0.3)


def gaussian(y, z):  # type: ignore[no-untyped-def]
    return -0.5 * (y - np.tanh(z[..., 0])) ** 2 / 0.25 - 0.5 * math.log(2 * math.pi * 0.25)


DENSITY = Link(DensityLaw(gaussian, (-np.inf, np.inf)))
NEARLY = Link("flip(sign(z), 1e-9)")  # Random labels that are hardly ever another.


@pytest.mark.parametrize(
    ("law", "other", "noise", "rule"),
    [
        (DENSITY, "tanh(z)", 0.25, "plain"),
        (NEARLY, "sign(z)", 0.0, "plain"),
        (NEARLY, "sign(z)", 0.0, "extragradient"),
    ],
)
def test_one_law_said_twice_has_one_motion(law: Link, other: str, noise: float, rule: str) -> None:
    fields = {"look_ahead": 0.4} if rule != "plain" else {}
    learner = OnlineSGD(activation="tanh(z)", step=0.5, rule=rule, **fields)
    first = learner.predict(law, time=1.0, start=START)
    second = learner.predict(MultiIndex(other, noise=noise), time=1.0, start=START)
    close = 1e-4 if rule == "plain" else 4e-3  # Points of latent variables are sampled.
    assert first.overlap.item() == pytest.approx(second.overlap.item(), abs=close)
    assert first.error.item() == pytest.approx(second.error.item(), rel=1e-2)


@pytest.mark.parametrize("engine", ["reduced", "full"])
def test_runs_are_on_the_line(engine: str) -> None:
    """Counts, whose latent variable chooses among many labels; four standard errors and 2 / d."""
    learner = OnlineSGD(activation="tanh(z)", step=0.4, engine=engine)
    theory = learner.predict("poisson(exp(tanh(z)))", time=1.0, start=START)
    runs = learner.simulate("poisson(exp(tanh(z)))", d=200, time=1.0, start=START, seeds=32)
    spread = float(runs.overlap.std(ddof=1)) / math.sqrt(32)
    assert abs(float(runs.overlap.mean()) - theory.overlap.item()) < 4 * spread + 2 / 200
