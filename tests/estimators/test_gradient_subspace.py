import numpy as np
import pytest

from learnability.errors import LearnabilityError
from learnability.estimators import GradientSubspace, subspace_overlap

from tests.estimators.problems import planted


@pytest.mark.parametrize("method", ["opg", "agop", "giant"])
def test_gradients_find_smooth_directions(method):
    X, y, W = planted(lambda z: z[0] + z[0] * z[1], 2, 500, 10, 0)
    found = GradientSubspace(method, 2, n_anchors=60, random_state=0).fit(X, y)
    assert subspace_overlap(found.components_, W) > 0.9
    assert found.gradient_spectrum_[1] > 3 * found.gradient_spectrum_[2]


def test_classes_are_regressed_too():
    X, y, W = planted(lambda z: np.where(z[0] > 0.3, "b", "a"), 1, 400, 6, 1)
    assert subspace_overlap(GradientSubspace("agop", 1).fit(X, y).components_, W) > 0.9


def test_an_unknown_method_is_refused():
    with pytest.raises(LearnabilityError, match="opg"):
        GradientSubspace("mave").fit(np.eye(4), [1, 2, 3, 4])
