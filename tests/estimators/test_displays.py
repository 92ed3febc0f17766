from learnability.estimators import (
    MomentSubspace,
    SpectrumDisplay,
    StabilityDisplay,
)

from tests.estimators.problems import planted


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
