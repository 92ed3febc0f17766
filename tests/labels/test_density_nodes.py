"""Laws with a density have thousands of nodes: what needs all of them is computed in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnability import BayesAMP, LearnabilityError, MultiIndex
from learnability.labels import DensityLaw, finite_laws
from learnability.theory import _law_information


def logistic(r: int) -> DensityLaw:
    def log_density(y: Any, z: Any) -> Any:
        t = (y - z[..., 0] - 0.5 * z[..., -1] ** 2) / 0.4
        return -t - np.log(0.4) - 2 * np.logaddexp(0, -t)

    return DensityLaw(log_density, (-np.inf, np.inf), r)


@pytest.mark.parametrize("shape", [(7, 2), (3, 5, 2), (0, 2)])
def test_labels_one_by_one(shape: tuple[int, ...]) -> None:
    law, z = logistic(2), np.random.default_rng(0).standard_normal(shape)
    found = list(law.each_probability(z))
    np.testing.assert_array_equal(np.array(found), law.probabilities(z))


def test_moments_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    law, z = logistic(2), np.random.default_rng(0).standard_normal((4, 25, 2))
    whole = law.mean(z), law.variance(z)
    monkeypatch.setattr(finite_laws, "_AT_A_TIME", 3 * len(law.labels))
    np.testing.assert_allclose(law.mean(z), whole[0], rtol=1e-12)
    np.testing.assert_allclose(law.variance(z), whole[1], rtol=1e-9)


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two directions with 5920 nodes took all the memory of the machine."""
    monkeypatch.setattr(_law_information, "_MOST_WORK", 1e3)
    with pytest.raises(LearnabilityError, match="nodes, which would take minutes"):
        BayesAMP().predict(MultiIndex(logistic(2)), alpha=1.0)
