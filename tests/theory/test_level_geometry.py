"""Points of level sets, cells and rules of labels, against densities in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chi2, multivariate_normal, norm

from learnability import Link
from learnability.theory._label_panels import label_rule
from learnability.theory._limit_information import limit_information, sampled_slopes
from learnability.theory.cell_edges import cells_of, label_atoms, label_sample
from learnability.theory.level_points import LevelPoints, Points
from learnability.theory.line_points import LabelScores, line_points


def densities(points: Points, mean: np.ndarray, variance: float) -> np.ndarray:
    """Z(y) = int over the level set of N(z; mean, variance) dS / |grad g|, label by label."""
    r = points.z.shape[1]
    square = np.sum((points.z - mean) ** 2, axis=1) / variance
    law = np.exp(-0.5 * square) / (2 * math.pi * variance) ** (r / 2)
    ends = zip(points.start[:-1], points.start[1:], strict=True)
    return np.array([float((points.weight * law)[a:b].sum()) for a, b in ends])


@pytest.mark.parametrize(
    ("text", "r", "step", "tolerance"), [("plane", 2, 0.03, 2e-3), ("plane", 3, 0.25, 2e-2),
                                         ("ball", 2, 0.03, 2e-3), ("ball", 3, 0.12, 2e-2)],
)  # fmt: skip
def test_points_of_level_sets_make_up_the_density(
    text: str, r: int, step: float, tolerance: float
) -> None:
    """A sum of coordinates is normal, a squared length has the law of chi-square."""
    names = [f"z{i + 1}" for i in range(r)]
    link = Link(" + ".join(names if text == "plane" else [f"{n}**2" for n in names]))
    labels = np.array([-0.7, 0.4, 1.9]) if text == "plane" else np.array([0.6, 1.5, 4.0])
    points = LevelPoints(link, 6.0, step).of(labels)
    assert len(points.start) == 4 and points.start[-1] == len(points.weight)
    np.testing.assert_allclose(
        np.asarray(link(points.z)), np.repeat(labels, np.diff(points.start)), atol=1e-3
    )
    exact = norm.pdf(labels, 0, math.sqrt(r)) if text == "plane" else chi2.pdf(labels, r)
    found = densities(points, np.zeros(r), 1.0)
    np.testing.assert_allclose(found, exact, rtol=tolerance)
    if text == "plane":
        moved = densities(points, np.full(r, 0.3), 0.6)
        exact = norm.pdf(labels, 0.3 * r, math.sqrt(0.6 * r))
        np.testing.assert_allclose(moved, exact, rtol=2 * tolerance)


def test_points_on_lines_drawn_at_random_make_up_the_density() -> None:
    """In four directions, with the scatter of 2**12 lines."""
    labels = np.array([-0.8, 0.9])
    link = Link("z1 + z2 + z3 + z4")
    found = np.array(
        [densities(line_points(link, labels, 10, seed), np.zeros(4), 1.0) for seed in range(6)]
    )
    error = found.std(axis=0, ddof=1) / math.sqrt(6)
    exact = norm.pdf(labels, 0, 2)
    assert np.all(np.abs(found.mean(axis=0) - exact) < 4 * error + 1e-3)
    assert np.all(error < 0.05 * exact)


@pytest.mark.parametrize("text", ["sign(z1 + z2)", "sign(z1*z2) + 0*z1", "sign(z2 - z1 + 0.5)"])
def test_laws_of_cells_on_a_grid_of_means(text: str) -> None:
    """P(y | omega) and its gradient, from normal probabilities of planes and quadrants."""
    link = Link(text)
    atoms = label_atoms(link)
    assert atoms == (-1.0, 1.0)
    cells = cells_of(link, atoms, (1.0, 0.0, 0.0, 1.0), 6.0, 0.05)
    nodes = [np.array([-0.6, 0.0, 0.9]), np.array([-0.2, 0.7])]
    variance = np.array([0.5, 0.3])
    first, second = np.meshgrid(*nodes, indexing="ij")

    def up(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if text == "sign(z1 + z2)":
            return ndtr((a + b) / math.sqrt(0.8))
        if text == "sign(z2 - z1 + 0.5)":
            return ndtr((b - a + 0.5) / math.sqrt(0.8))
        s, t = a / math.sqrt(0.5), b / math.sqrt(0.3)
        return ndtr(s) * ndtr(t) + ndtr(-s) * ndtr(-t)

    h = 1e-5
    slopes = [
        (up(first + h, second) - up(first - h, second)) / (2 * h),
        (up(first, second + h) - up(first, second - h)) / (2 * h),
    ]
    laws = dict(cells.laws(nodes, variance))
    for label, sign in ((1.0, 1.0), (-1.0, -1.0)):
        chance = up(first, second) if sign > 0 else 1 - up(first, second)
        np.testing.assert_allclose(laws[label][0], chance.ravel(), atol=1e-3)
        for k in (0, 1):
            np.testing.assert_allclose(laws[label][1 + k], sign * slopes[k].ravel(), atol=5e-3)


def test_atoms_and_samples_of_labels() -> None:
    assert label_atoms(Link("relu(z)")) == (0.0,)
    assert label_atoms(Link("z1*z2")) == ()
    sample = label_sample(Link("z1**2 + z2**2"))
    assert len(sample) == 2**14
    assert sample.mean() == pytest.approx(2, abs=0.01)


def test_the_information_of_exact_labels_in_the_limit() -> None:
    """E[n n^T / n.V.n]: 1 / V along one direction, and half of it for directions all around."""
    V = np.diag([0.2, 0.5])
    along = limit_information(sampled_slopes(Link("z1 + 0*z2", r=2)), V)
    np.testing.assert_allclose(along, np.diag([5.0, 0.0]), atol=1e-12)
    around = limit_information(sampled_slopes(Link("z1**2 + z2**2")), 0.2 * np.eye(2))
    np.testing.assert_allclose(around, 2.5 * np.eye(2), atol=0.02)
    # At angles t, E[cos^2 / (a cos^2 + b sin^2)] = 1 / (a + sqrt(a b)).
    turned = limit_information(sampled_slopes(Link("z1**2 + z2**2")), V)
    a, b = 0.2, 0.5
    exact = np.diag([1 / (a + math.sqrt(a * b)), 1 / (b + math.sqrt(a * b))])
    np.testing.assert_allclose(turned, exact, atol=0.02)


def test_rules_of_labels_integrate_what_they_are_shown() -> None:
    """A narrow bump beside a wide one, to a share of the whole that is asked for."""
    sample = np.concatenate([np.linspace(-6, 6, 3001), 0.3 + 0.01 * np.linspace(-5, 5, 500)])

    def bumps(y: np.ndarray) -> np.ndarray:
        return np.column_stack([norm.pdf(y), norm.pdf(y, 0.3, 0.01), y**2 * norm.pdf(y)])

    for tolerance in (1e-3, 1e-8):
        y, weight = label_rule(sample, bumps, tolerance, 6, 2.0, 4000)
        assert np.all(np.diff(y) > 0)
        assert weight.sum() == pytest.approx(12, rel=1e-12)
        np.testing.assert_allclose(weight @ bumps(y), 1, atol=20 * tolerance + 2e-8)
    few, _ = label_rule(sample, bumps, 1e-12, 6, 2.0, 40)
    assert len(few) <= 40 * 6 * 2


def test_scores_of_labels_are_their_quantiles() -> None:
    """Of a normal label with noise: E over the rule is that of the law."""
    rule = LabelScores(Link("2*z + 1"), 0.5, 0.2)
    assert rule.weights.sum() == pytest.approx(1, abs=1e-12)
    seen = np.abs(rule.scores) < 3  # Some hundred of the 2**18 labels lie beyond.
    for noisy, spread in ((False, 2.0), (True, math.sqrt(4.5))):
        found = rule.labels(noisy)[seen]
        np.testing.assert_allclose(found, 1 + spread * rule.scores[seen], atol=0.05)
    assert float(rule.weights @ rule.labels()) == pytest.approx(1, abs=5e-3)
    assert float(rule.weights @ (rule.labels() - 1) ** 2) == pytest.approx(4, rel=0.01)
    y = np.array([-1.0, 0.5, 3.0])
    density = rule.blurred(y).sum(axis=1)
    np.testing.assert_allclose(density, norm.pdf(y, 1, math.sqrt(4.5)), rtol=0.01)


def test_a_bivariate_check_of_the_quadrant() -> None:
    """The closed form of the quadrants used above, against the bivariate law itself."""
    law = multivariate_normal([0.9, -0.2], np.diag([0.5, 0.3]))
    both = law.cdf([0, 0]) + (1 - law.cdf([0, 9]) - law.cdf([9, 0]) + law.cdf([0, 0]))
    s, t = 0.9 / math.sqrt(0.5), -0.2 / math.sqrt(0.3)
    assert both == pytest.approx(ndtr(s) * ndtr(t) + ndtr(-s) * ndtr(-t), abs=1e-6)
