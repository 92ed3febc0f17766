import numpy as np
import pytest

from learnability.estimators import (
    MomentSubspace,
    SpectrumDisplay,
    StabilityDisplay,
    SummaryDisplay,
)

from tests.estimators.problems import planted


@pytest.mark.parametrize("r", [1, 2])
@pytest.mark.parametrize("classes", [False, True])
def test_the_summary_shows_the_coordinates(r, classes):
    X, y, _ = planted(lambda z: z[0] + z[1] ** 2, 2, 200, 4, 0)
    y = np.where(y > 1, "high", "low") if classes else y
    drawn = SummaryDisplay.from_estimator(MomentSubspace(n_components=r).fit(X, y), X, y)
    assert drawn.ax_.get_xlabel() == "first coordinate"
    assert drawn.coordinates.shape == (200, r)


def test_the_spectrum_stands_above_that_of_shuffled_labels():
    X, y, _ = planted(lambda z: z[0], 1, 500, 10, 0)
    drawn = SpectrumDisplay.from_estimator(MomentSubspace("sir", 1).fit(X, y), X, y, repeats=3)
    assert drawn.eigenvalues[0] > 2 * drawn.shuffled.max()


def test_stability_falls_beyond_the_true_number():
    X, y, _ = planted(lambda z: z[0], 1, 300, 10, 0)
    drawn = StabilityDisplay.from_data(
        X, y, estimator=MomentSubspace("sir"), max_components=2, random_state=0
    )
    assert drawn.overlap[0] > 0.9 > drawn.overlap[1]
    assert drawn.information[0] > 3 * drawn.errors[0]
