"""Final values of paths: means and errors of replicates, and divergence."""

from __future__ import annotations

import numpy as np
import pytest

from learnability.learners.batch._observables import observables


def paths(seed: int = 0) -> dict[str, np.ndarray]:
    """Two ratios, four runs, three times, two neurons and one direction."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((2, 4, 3, 2, 6))
    return {
        "overlap": W[..., :1],
        "gram": W @ W.swapaxes(-1, -2),
        "error": rng.random((2, 4, 3)),
        "train_error": rng.random((2, 4, 3)),
    }


def test_runs_keep_their_axis() -> None:
    given = paths()
    found, lost = observables(given, replicates=False)
    assert lost is None
    np.testing.assert_array_equal(found["overlap_trace"], given["overlap"])
    np.testing.assert_array_equal(found["gram_trace"], given["gram"])
    np.testing.assert_array_equal(found["error"], given["error"][:, :, -1])
    assert found["status"].shape == (2, 4) and (found["status"] == "finished").all()
    assert "gram" not in found and not [name for name in found if name.endswith("_stderr")]


def test_replicates_are_averaged() -> None:
    given = paths()
    found, _ = observables(given, replicates=True)
    assert found["cosine"].shape == (2, 2, 1)
    np.testing.assert_allclose(found["error_trace"], given["error"].mean(axis=1))
    spread = given["overlap"].std(axis=1, ddof=1) / 2
    np.testing.assert_allclose(found["overlap_trace_stderr"], spread)
    assert found["status"].shape == (2,)


@pytest.mark.parametrize("value", [1e9, np.inf, np.nan])
def test_a_divergence_hides_what_follows(value: float) -> None:
    given = paths()
    given["gram"][1, 2, 1, 0, 0] = value  # Back within bounds at the next time, and still lost.
    found, lost = observables(given, replicates=False)
    assert lost == 1
    status = np.full((2, 4), "finished", dtype=object)
    status[1, 2] = "diverged"
    np.testing.assert_array_equal(found["status"], status)
    error = found["error_trace"]
    np.testing.assert_array_equal(np.isnan(error[1, 2]), [False, True, True])
    assert np.isnan(error).sum() == 2 and np.isnan(found["subspace_overlap"][1, 2])
    averaged, _ = observables(given, replicates=True)
    np.testing.assert_array_equal(averaged["status"], ["finished", "diverged"])
