"""SGD in all coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnability import OnlineSGD, SpikedIndex

TARGET = SpikedIndex("z + abs(z)", spike=4.0, alignment=0.5, noise=0.1)


def test_it_has_the_law_of_the_chain() -> None:
    """Means and squares of 2000 runs at d = 7, |z| < 4; all rules are in the agreement tests."""
    both = []
    for engine in ("reduced", "full"):
        learner = OnlineSGD(
            activation="tanh(z)", step=0.6, engine=engine, normalisation="normalised"
        )
        runs = learner.simulate(TARGET, d=7, time=1.0, seeds=2000, start=(1.0, 0.3, 0.4))
        parts = [runs.overlap[:, 0, 0], runs.spike_overlap[:, 0, 0], runs.gram[:, 0, 0]]
        columns = np.column_stack(parts)
        both.append(np.hstack([columns, columns**2]))
    x, y = both
    scores = (x.mean(axis=0) - y.mean(axis=0)) / np.sqrt((x.var(axis=0) + y.var(axis=0)) / 2000)
    assert np.abs(scores).max() < 4, scores


def test_it_starts_where_it_is_told_and_recovers() -> None:
    learner = OnlineSGD(
        width=2, activation="z", loss="correlation", step=0.3, engine="full", spherical=True
    )
    start: Any = ([[1.0, 0.2], [0.2, 1.0]], [0.3, 0.1], [0.2, -0.1])
    first = learner.simulate(TARGET, d=40, time=0.0, seeds=3, start=start)
    np.testing.assert_allclose(first.gram[1], start[0], atol=1e-5)
    np.testing.assert_allclose(first.overlap[2, :, 0], start[1], atol=1e-5)
    np.testing.assert_allclose(first.spike_overlap[0, :, 0], start[2], atol=1e-5)
    found = learner.simulate(
        TARGET, question="recovery", d=40, time=60.0, seeds=3, start=start, overlap=0.8
    )
    assert (found.status == "recovered").all()
    path = learner.simulate(
        TARGET, d=40, time=float(found.recovery_time[0]), seeds=[0], start=start
    )
    assert float(np.abs(path.correlation).max()) >= 0.8
