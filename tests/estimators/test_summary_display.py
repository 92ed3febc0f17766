import numpy as np
import pytest

from learnability.estimators import MomentSubspace, SummaryDisplay

from tests.estimators.problems import planted


@pytest.mark.parametrize("r", [1, 2])
@pytest.mark.parametrize("classes", [False, True])
def test_the_summary_shows_the_coordinates(r, classes):
    X, y, _ = planted(lambda z: z[0] + z[1] ** 2, 2, 200, 4, 0)
    y = np.where(y > 1, "high", "low") if classes else y
    drawn = SummaryDisplay.from_estimator(MomentSubspace(n_components=r).fit(X, y), X, y)
    assert drawn.ax_.get_xlabel() == "first coordinate"
    assert drawn.coordinates.shape == (200, r)


def test_no_direction_is_said():
    drawn = SummaryDisplay(np.zeros((5, 0)), np.arange(5.0)).plot()
    assert drawn.ax_.texts[0].get_text() == "no direction was found"


def test_the_shading_follows_the_curve():
    t = np.random.default_rng(0).standard_normal((2000, 1))
    drawn = SummaryDisplay(t, t[:, 0] ** 3).plot()
    mesh = drawn.ax_.collections[0]
    density = mesh.get_array().reshape(-1, 80)
    # The most likely bin rises with the coordinate.
    likely = density.argmax(axis=0)
    assert (np.diff(likely) >= 0).mean() > 0.95 and likely[-1] - likely[0] > 10


def test_colours_are_as_many_as_classes():
    rng = np.random.default_rng(1)
    for count in (3, 10):
        y = np.array([f"class {k}" for k in rng.integers(0, count, 300)])
        drawn = SummaryDisplay(rng.standard_normal((300, 2)), y).plot()
        points = drawn.ax_.collections
        assert len({tuple(part.get_facecolor()[0]) for part in points}) == count
