"""What a first layer has of each direction."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Hierarchical
from learnability.learners.deep import Samples, SpectralFirstLayer
from learnability.theory.recovered_directions import exact_directions, recovered_directions


# n / n*, and M_W^2 of runs at d = 196, N = 14, balanced signs.
@pytest.mark.parametrize(("ratio", "found"), [(4, 0.756), (8, 0.880), (16, 0.940)])
def test_the_transition(ratio: int, found: float) -> None:
    target = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", N=14, normalisation="printed")
    here = recovered_directions(target, 196, ratio * target.n_star(196))
    assert here.overlap**2 == pytest.approx(found, abs=0.01) and not here.reason


def test_signs_and_features_have_their_own_numbers() -> None:
    """z^2 + z of He2: half of the directions are found long before the others, as in a run."""
    target = Hierarchical("z**2 + z", "He2(z)", N=8)
    here = recovered_directions(target, 64, 2000)
    assert here.n_star.max() > 50 * here.n_star.min()
    d, n = 64, 4000
    two = Hierarchical("tanh(z1)*z2 + z1", "He2(z)", N=4)
    shares = recovered_directions(two, d, n)
    assert np.isinf(np.sort(shares.n_star)[4:]).all()  # The second feature is not seen.
    W = SpectralFirstLayer(None).learn(Samples(two, 3, d, n))
    hidden = next(two.batches(3, 1, d, dtype=np.float32)).W
    inside = np.sum((W @ hidden.T) ** 2, axis=0)  # By direction.
    assert inside[:4].mean() == pytest.approx(np.sort(shares.share)[4:].mean(), abs=0.05)
    assert inside[4:].mean() < 0.3


def test_all_dimensions_are_found() -> None:
    target = Hierarchical("tanh(z)", "He2(z)", N=8)
    assert recovered_directions(target, 8, 10).overlap == 1
    np.testing.assert_array_equal(exact_directions(target).share, 1.0)


def test_rounding_is_not_taken_for_a_coefficient() -> None:
    target = Hierarchical("z1 + z1*z2 + z1*z2*z3", "He2(z)", N=4)
    assert np.isinf(target.n_star(64))
    assert np.isinf(recovered_directions(target, 64, 1000).n_star).sum() == 8


def test_vectors_leave_out_no_more_than_the_other_dimensions() -> None:
    """Thirty directions of 32: any 30 orthonormal vectors have at least 28 of them."""
    target = Hierarchical("tanh(z1) + z2 + 0.5*z3", "0.86*He2(z) + 0.2*He1(z)", N=10)
    here = recovered_directions(target, 32, 256)
    assert np.sum(1 - here.share) <= 2 + 1e-9 and "2 dimensions" in here.reason
    assert (here.least <= here.share).all() and (here.most == 1).all()


def test_of_large_labels_nothing_is_promised_of_what_is_not_found() -> None:
    target = Hierarchical("z**3", "He2(z)", N=4)
    here = recovered_directions(target, 400, 500)
    assert "eigenvectors of their own" in here.reason
    chance = 4 / (400 - 4 + 4)
    np.testing.assert_allclose(here.least, chance)
    np.testing.assert_allclose(here.most, 1.0)
