"""Paths of message passing on data of infinite dimension, against state evolution."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Channel, Link
from learnability.learners.bayes._damped_paths import damped_paths
from learnability.theory._relaxation import updated
from learnability.theory.information import label_information


@pytest.mark.parametrize(("text", "noise"), [("sign(z1) + sign(z2)/2", 0.0), ("z1 + z2/2", 0.3)])
def test_without_damping_they_are_those_of_state_evolution(text: str, noise: float) -> None:
    """M -> alpha I(M) (1 + alpha I(M))^-1 from the same start, for two directions."""
    channel, alpha, begin = Channel(Link(text), noise), 3.0, 0.3
    paths = damped_paths(channel, alpha, 3, begin, 1.0)
    assert paths.shape[1:] == (4, 2, 2)
    mean, scatter = paths.mean(axis=0), paths.std(axis=0, ddof=1) / np.sqrt(len(paths))
    M = begin * np.eye(2)
    for k in range(4):
        assert (np.abs(mean[k] - M) <= 5 * scatter[k] + 2e-3).all()
        M = updated(alpha * label_information(channel)(M))


def test_damped_paths_end_where_others_do() -> None:
    """Slower, and at the same fixed point: 0.48626 for the sign at alpha = 1."""
    plain, damped = (damped_paths(Channel(Link("sign(z)")), 1.0, 20, 0.05, w) for w in (1.0, 0.6))
    assert damped[:, 1].mean() < plain[:, 1].mean() - 0.02
    for paths in (plain, damped):
        scatter = paths[:, -1].std(ddof=1) / np.sqrt(len(paths))
        assert paths[:, -1].mean() == pytest.approx(0.48626, abs=4 * scatter + 3e-3)


def test_a_path_at_rest_stays() -> None:
    """Nothing is learned from a label of the noise alone: it comes to rest at once."""
    paths = damped_paths(Channel(Link("0*z"), 1.0), 1.0, 5, 0.0, 1.0)
    assert paths.shape[1] == 6
    np.testing.assert_array_equal(paths, 0.0)
