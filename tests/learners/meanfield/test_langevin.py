"""Steps of mean-field Langevin dynamics."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.learners.meanfield._langevin import LOSSES, Settings, advance, outputs, start


@pytest.mark.parametrize("loss", LOSSES)
def test_a_cold_step_goes_down_the_gradient(loss: str) -> None:
    """Against central differences of N times the loss, in double precision."""
    import jax

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), np.sign(rng.standard_normal(30))
    neurons = start(0, 5, 4, 0.1).astype(float)

    def value(v: np.ndarray) -> float:
        f = outputs(v, X, 3.0)
        each = np.logaddexp(0, -y * f) if loss == "logistic" else (f - y) ** 2 / 2
        return float(5 * each.mean())

    with jax.enable_x64(True):
        moved = np.asarray(
            advance(loss)(neurons, jax.random.key(0), X, y, 0, 1, Settings(3.0, 1.0, 0.0, 0.1))
        )
    for place in ((0, 0), (2, 3), (4, 4), (1, 5)):
        e = np.zeros_like(neurons)
        e[place] = 1e-5
        slope = (value(neurons + e) - value(neurons - e)) / 2e-5
        assert neurons[place] - moved[place] == pytest.approx(slope, rel=1e-5, abs=1e-9)


def test_without_samples_the_start_is_stationary() -> None:
    """A temperature alone keeps N(0, 1 / (2 confinement)), up to the size of a step."""
    import jax

    X, y = np.zeros((1, 3), np.float32), np.zeros(1, np.float32)
    settings = Settings(*(np.float32(v) for v in (1e-6, 0.1, 0.5, 0.2)))
    first = start(1, 4000, 3, 0.2)
    last = np.asarray(advance("squared")(first, jax.random.key(1), X, y, 0, 300, settings))
    assert first.var() == pytest.approx(2.5, rel=0.05)
    assert last.var() == pytest.approx(2.5, rel=0.06)
    assert abs(np.corrcoef(first.ravel(), last.ravel())[0, 1]) < 0.05
