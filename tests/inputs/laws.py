"""Laws of inputs drawn at random, for tests of what they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies
from numpy.typing import NDArray

from learnability.inputs import Inputs, Isotropic, PowerLaw, Signs, Spiked


def sizes(largest: float) -> strategies.SearchStrategy[float]:
    """Numbers from 0 on; those that no field accepts, below 1e-50, count as 0."""
    return strategies.floats(0, largest).map(lambda x: x if x >= 1e-50 else 0.0)


@strategies.composite
def spiked(draw: Any, r: int) -> Spiked:
    """Up to three spikes with any strengths and any possible cosines with r hidden directions."""
    count = draw(strategies.integers(1, 3))
    strengths = draw(strategies.lists(sizes(50), min_size=count, max_size=count))
    rng = np.random.default_rng(draw(strategies.integers(0, 10**6)))
    matrix = rng.standard_normal((count, r))
    matrix *= draw(sizes(1)) / np.linalg.norm(matrix, 2)
    return Spiked(strength=strengths, alignment=matrix.clip(-1, 1).tolist())


def gaussian(r: int) -> strategies.SearchStrategy[Inputs]:
    """Any Gaussian law of inputs."""
    power = strategies.builds(PowerLaw, exponent=sizes(3))
    return strategies.one_of(strategies.just(Isotropic()), spiked(r), power)


EXAMPLES: list[Inputs] = [
    Isotropic(),
    Spiked(8.0, alignment=0.6),
    Spiked((4.0, 1.0), alignment=((0.5, 0.1), (-0.3, 0.7))),
    Spiked(exponent=0.5, alignment_exponent=0.25),
    PowerLaw(exponent=0.8),
    Signs(anisotropy=0.4),
]


def covariance(inputs: Inputs, seed: int, r: int, d: int) -> NDArray[np.float64]:
    """Sigma (d, d), by its action on the axes."""
    return inputs.apply(np.eye(d), inputs.directions(seed, r, d))
