"""Labels of the samples of a step."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from learnability import Link
from learnability.learners.online._steps import labels


@pytest.mark.parametrize("noisy", [False, True])
def test_labels_are_the_core_and_the_noise(noisy: bool) -> None:
    """Latent coordinates go into the core, the last one is the noise."""
    rng = np.random.default_rng(1)
    h, latents = rng.standard_normal((2, 50)), rng.standard_normal((2, 50))
    recipe: Any = SimpleNamespace(link=Link("z1*z2"), core=Link("z1*z2 + abs(z1)*z3"), noisy=noisy)
    found = np.asarray(labels(recipe, SimpleNamespace(deviation=0.4), h, latents))  # type: ignore[arg-type]
    exact = h[0] * h[1] + np.abs(h[0]) * latents[0] + (0.4 * latents[1] if noisy else 0.0)
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-6)
    plain: Any = SimpleNamespace(link=Link("z1*z2"), core=Link("z1*z2"), noisy=noisy)
    found = np.asarray(labels(plain, SimpleNamespace(deviation=0.4), h, latents[1:]))  # type: ignore[arg-type]
    exact = h[0] * h[1] + (0.4 * latents[1] if noisy else 0.0)
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-6)
