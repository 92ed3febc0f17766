"""A direction on which the label does not depend is not learned, and changes nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import BayesAMP, Channel, Link, MultiIndex
from learnability.theory.relevant_directions import RelevantStateEvolution, of_relevant_directions
from learnability.theory.state_evolution import state_evolution

from tests.geometry import random_rotation
from tests.random_links import random_formula

ALPHAS = np.array([0.4, 1.0, 3.0])
NUMBERS = [n for n in range(60) if Link(random_formula(n)).r == 1][:6]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_turned_link_of_one_direction_has_its_overlaps(number: int) -> None:
    """g(u z) for a random unit u of three dimensions has M = q u u^T, q that of g(z)."""
    link = Link(random_formula(number))
    Q = random_rotation(3, number)
    turned = Link(link.text or "", r=3).rotate(Q)
    alone = state_evolution(Channel(link)).fixed_points(ALPHAS)
    found = state_evolution(Channel(turned)).fixed_points(ALPHAS)
    for a, b in zip(alone, found, strict=True):
        error = 3 * float(a.error.max() + b.error.max()) + 1e-6
        np.testing.assert_allclose(b.M, a.M[0, 0] * np.outer(Q[0], Q[0]), atol=error)


@pytest.mark.parametrize(
    ("text", "r", "kept"),
    [("sign(z1*z3)", 4, [0, 2]), ("z2**2", 2, [1]), ("sign(z2) + z2", 3, [1])],
)
def test_variables_that_are_not_there(text: str, r: int, kept: list[int]) -> None:
    found = of_relevant_directions(Channel(Link(text, r=r)))
    assert isinstance(found, RelevantStateEvolution)
    np.testing.assert_array_equal(found.directions.basis, np.eye(r)[kept])
    assert f"{len(kept)} of {r} directions" in found.note
    point = found.fixed_point(3.0, informed=True)
    outside = [i for i in range(r) if i not in kept]
    assert not point.M[outside].any() and point.M[kept[0], kept[0]] > 0.1
    assert found.free_entropy(0.3 * np.diag(np.isin(range(r), kept)), 3.0) == pytest.approx(
        found.inner.free_entropy(0.3 * np.eye(len(kept)), 3.0)
    )
    best = found.all_fixed_points(3.0)[0]
    np.testing.assert_allclose(found.step(3.0, best.M), best.M, atol=1e-6)


@pytest.mark.parametrize(
    "text", ["z1*z2", "sign(z1*z2)", "z1 + abs(z2)", "2*sign(z1*z2) + cos(z2)"]
)
def test_a_link_of_all_its_directions(text: str) -> None:
    assert of_relevant_directions(Channel(text)) is None


def test_a_square_of_a_sum_is_predicted() -> None:
    found = BayesAMP().predict(MultiIndex("(z1 + z2)**2"), alpha=[1.0, 3.0])
    alone = BayesAMP().predict(MultiIndex("z**2"), alpha=[1.0, 3.0])
    q = alone.overlap.values[:, 0, 0]
    np.testing.assert_allclose(
        found.overlap.values, q[:, None, None] * np.full((2, 2), 0.5), atol=1e-7
    )
    allowed = 3 * (found.error_stderr.values + 4 * alone.error_stderr.values)
    assert (np.abs(found.error.values - 4 * alone.error.values) <= allowed).all()


def test_a_direction_along_which_the_label_only_jumps_is_told_beside_a_known_one() -> None:
    """Above full recovery of z2 the label tells sign(z1): 0 was the overlap of z1."""
    alone = state_evolution(Channel("sign(z)")).fixed_point(3.0).M[0, 0]
    point = state_evolution(Channel("2*sign(z1*z2) + cos(z2)")).fixed_points(ALPHAS)[-1]
    assert point.M[1, 1] == pytest.approx(1.0)
    assert abs(point.M[0, 0] - alone) <= 3 * point.error[0, 0]
    assert point.error[0, 0] < 0.1


def test_eigenvectors_turned_by_rounding_leave_what_jumps_its_information() -> None:
    """Which of 0 and 0.82 was the overlap of z1 hung on the number of BLAS threads."""
    alone = state_evolution(Channel("step(z - 0.5)")).fixed_point(3.0).M[0, 0]
    channel = Channel("2*step(z1 - 0.5) + 0.5*z2*exp(-z2**2/2)")
    point = state_evolution(channel).fixed_points(ALPHAS)[-1]
    assert abs(point.M[0, 0] - alone) <= 3 * point.error[0, 0] < 0.3


@pytest.mark.parametrize(
    ("text", "r"), [("(z1 + z2)**2", 2), ("(z1 - z3)**3 + z1 - z3", 4), ("z3*exp(z3)", 3)]
)
def test_runs_leave_out_what_the_label_does_not_depend_on(text: str, r: int) -> None:
    target = MultiIndex(Link(text, r=r))
    runs = BayesAMP().simulate(target, d=200, alpha=3.0, seeds=2)
    theory = BayesAMP().predict(target, alpha=3.0)
    np.testing.assert_allclose(runs.overlap.mean("seed").values, theory.overlap.values, atol=0.02)
    np.testing.assert_allclose(
        runs.subspace_overlap.mean("seed").values, theory.subspace_overlap.values, atol=0.02
    )


def test_paths_leave_out_what_the_label_does_not_depend_on() -> None:
    turned, alone = (
        BayesAMP(damping=1.0).predict(MultiIndex(text), question="path", alpha=2.0, steps=4)
        for text in ("tanh(2*(z1 + z2)/sqrt(2))", "tanh(2*z)")
    )
    half = np.full((2, 2), 0.5)
    expected = alone.overlap_trace.values * half
    np.testing.assert_allclose(turned.overlap_trace.values, expected, atol=1e-6)
