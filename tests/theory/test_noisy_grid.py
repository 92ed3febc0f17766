"""Stated errors of the information of several directions, against that of one of them.

Given omega, a label f(z1) + c z2 with noise D tells of z1 as much as f(z1) with noise
D + c^2 (1 - q2) does, at the overlap diag(q1, q2).
"""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Channel
from learnability.statuses import Status
from learnability.theory._noisy_grid import NoisyGrid
from learnability.theory._noisy_line import NoisyLine
from learnability.theory._relaxation import allowed, response
from learnability.theory.information import label_information
from learnability.theory.state_evolution import StateEvolution


def _alone(text: str, noise: float, q: float) -> float:
    return float(NoisyLine(Channel(text, noise))(np.array([[q]]))[0, 0])


def _cases(count: int, seed: int) -> list[tuple[str, float, float, float]]:
    """A link of one variable, c, and two overlaps."""
    rng = np.random.default_rng(seed)
    texts = rng.permutation(["exp(0.5*z1)", "sin(2*z1)", "z1**2", "tanh(3*z1)"])
    return [
        (str(texts[k % 4]), float(rng.choice([0.7, 1.0])), *rng.uniform(0.1, 0.985, 2).tolist())
        for k in range(count)
    ]


@pytest.mark.parametrize(("text", "c", "q", "other"), _cases(8, 5))
def test_a_grid_of_two_directions(text: str, c: float, q: float, other: float) -> None:
    noise = 0.1
    found = NoisyGrid(Channel(f"{text} + {c}*z2", noise), 0.75)(np.diag([q, other]))
    assert found is not None
    expected = _alone(text, noise + c * c * (1 - other), q)
    assert found[0, 0] == pytest.approx(expected, rel=3e-4)
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    turned = text.replace("z1", "(0.6*z1+0.8*z2)") + f"+ {c}*(0.6*z2-0.8*z1)"
    again = NoisyGrid(Channel(turned, noise), 0.75)(turn.T @ np.diag([q, other]) @ turn)
    assert again is not None
    assert turn @ again @ turn.T == pytest.approx(found, abs=3e-4 * np.abs(found).max())


def test_a_grid_of_three_directions() -> None:
    M = np.diag([0.5, 0.8, 0.2])
    found = NoisyGrid(Channel("tanh(z1) + z2 - z3", 0.3))(M)
    assert found is not None
    assert found[0, 0] == pytest.approx(_alone("tanh(z1)", 0.3 + 0.2 + 0.8, 0.5), rel=1e-4)


def test_too_many_nodes_are_not_tried() -> None:
    assert NoisyGrid(Channel("z1*z2*z3", 1e-6))(0.5 * np.eye(3)) is None


@pytest.mark.parametrize("seed", range(4))
def test_labels_that_level_sets_resolve_well_leave_out_large_omega(seed: int) -> None:
    """exp(u z) tells what u z does; 1e-6 was stated of 1e-5, as both resolutions leave it out."""
    rng, u = np.random.default_rng(seed), np.array([0.6, 0.8])
    frame = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    M = (frame * rng.uniform(0.0, 0.8, 2)) @ frame.T
    information = label_information(Channel("exp(0.6*z1 + 0.8*z2)"))
    expected = np.outer(u, u) / (1 - u @ M @ u)
    off = np.abs(information(M) - expected).max()
    assert off <= information.error_at(M) * expected.max()
    assert information.error_at(M) < 1e-4


@pytest.mark.parametrize(("q", "other"), [(0.36, 0.985), (0.98, 0.3), (0.6, 0.975)])
def test_noisy_labels_beyond_level_sets(q: float, other: float) -> None:
    """The law of the limit was off by several times the error that was stated."""
    information, M = label_information(Channel("exp(0.5*z1) + z2", 0.03)), np.diag([q, other])
    found, error = information(M), information.error_at(M)
    off = abs(found[0, 0] - _alone("exp(0.5*z1)", 0.03 + 1 - other, q))
    assert off <= error * found.max()
    assert error < 1e-3


def test_what_no_grid_resolves_has_the_error_of_its_growth() -> None:
    information = label_information(Channel("3*z1 + z1*z2 + 0.5*z3", 0.01))
    information.__dict__["error"] = 1e-3
    M = np.diag([0.97, 0.6, 0.1])
    assert information._grid is not None and information._grid(M) is None
    assert information.error_at(M) > 1
    label_information.cache_clear()


def test_errors_of_entries_between_two_directions() -> None:
    """An overlap between two directions that is small is off by what both of them allow."""
    M = np.array([[0.5, 1e-4], [1e-4, 0.3]])
    found = response(lambda at: 0.5 * at + 0.5 * M, M)
    assert found[0, 1] == pytest.approx(np.sqrt(found[0, 0] * found[1, 1]), rel=1e-3)
    weak = allowed(np.diag([0.25, 1e-4, 0.0]))
    assert np.diag(weak) == pytest.approx([0.25, 5e-3, 0.0])


def test_the_family_has_the_error_of_its_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    evolution = StateEvolution(Channel("z1*z2 + z3"))
    information = evolution.information
    information.__dict__["error"] = 1e-3
    found, moves = (0.9 * np.eye(3), 1e-4 * np.eye(3)), 0.1 * np.eye(3)
    monkeypatch.setattr(type(information), "error_at", lambda self, M: 0.011)
    point = evolution._between_members(found, moves)
    assert point is not None and point.status is Status.CONVERGED
    assert np.diag(point.error) == pytest.approx(1.1e-3)
    assert evolution._between_members(found, None) is None
    label_information.cache_clear()
