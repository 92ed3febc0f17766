"""Closed forms of error functions against integrals over nodes."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link
from learnability.learners.online._averages import node_averages
from learnability.learners.online._erf_kernels import closed_averages
from learnability.learners.online._motion import Point, Rates
from learnability.learners.online._nodes import nodes_for

from tests.learners.online.recipes import drift_of, recipe_of

SIGMA = "2*erf(0.8*z)"


@pytest.mark.parametrize("loss", ["squared", "correlation"])
def test_the_drift_is_that_of_gauss_rules(loss: str) -> None:
    recipe = recipe_of(f"1.5*({SIGMA})", width=2, activation=SIGMA, loss=loss, second_step=0.1)
    at = Point(np.array([[0.6, 0.2], [0.2, 0.5]]), np.array([[0.3], [-0.4]]), np.array([0.7, -0.2]))
    rates = Rates(0.5, 0.0, 0.3)
    exact = drift_of(recipe, closed_averages(recipe, 0.2))
    nodes = nodes_for(recipe.link, recipe.activation, 2, 0.2, True)[0]
    other_way = drift_of(recipe, node_averages(recipe, nodes))
    for one, other in zip(exact(at, rates), other_way(at, rates), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)


def test_other_rules_and_links_have_none() -> None:
    for fields, link in (({"rule": "sam"}, SIGMA), ({}, "z**2"), ({"activation": "tanh(z)"}, "z")):
        assert closed_averages(recipe_of(link, **{"activation": SIGMA, **fields}), 0.0) is None
    assert Link(SIGMA).r == 1
