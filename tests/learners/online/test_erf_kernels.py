"""Closed forms of error functions against integrals over nodes."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link, MultiIndex, OnlineSGD
from learnability.learners.online._averages import nodes_for
from learnability.learners.online._erf_kernels import closed_drift
from learnability.learners.online._motion import Point, Rates, averaged_drift

SIGMA = "2*erf(0.8*z)"


@pytest.mark.parametrize("loss", ["squared", "correlation"])
def test_the_drift_is_that_of_gauss_rules(loss: str) -> None:
    learner = OnlineSGD(width=2, activation=SIGMA, loss=loss, second_step=0.1)
    recipe = learner._recipe(MultiIndex(f"1.5*({SIGMA})"))
    at = Point(np.array([[0.6, 0.2], [0.2, 0.5]]), np.array([[0.3], [-0.4]]), np.array([0.7, -0.2]))
    rates = Rates(0.5, 0.0, 0.3)
    exact = closed_drift(recipe, 0.2)
    assert exact is not None
    nodes = nodes_for(recipe.link, recipe.activation, 2, 0.2, True)[0]
    for one, other in zip(exact(at, rates), averaged_drift(recipe, nodes)(at, rates), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)


def test_other_rules_and_links_have_none() -> None:
    for fields, link in (({"rule": "sam"}, SIGMA), ({}, "z**2"), ({"activation": "tanh(z)"}, "z")):
        learner = OnlineSGD(**{"activation": SIGMA, **fields})  # type: ignore[arg-type]
        assert closed_drift(learner._recipe(MultiIndex(link)), 0.0) is None
    assert Link(SIGMA).r == 1
