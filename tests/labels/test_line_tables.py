"""Tables of P(y | z) on a line: closed forms, and panels that end where a law is not smooth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import k0
from scipy.stats import norm

from learnability.labels import Link
from learnability.labels.line_tables import LineTable, _paved, _zeros, line_table

NODES = 12


def table_of(text: str, noise: float = 0.0, slope: float = 1.0, shift: float = 0.0) -> LineTable:
    law = Link(text).law
    assert law is not None
    found = line_table(law, np.array([[slope]]), np.array([shift]), noise)
    assert found is not None
    return found


def panels(found: LineTable) -> np.ndarray:
    """Ends of the panels of labels, shape (panels, 2), from their nodes and weights."""
    middle = found.y.reshape(-1, NODES).mean(axis=1)
    half = 0.5 * found.width.reshape(-1, NODES).sum(axis=1)
    return np.stack([middle - half, middle + half], axis=1)


# ---- panels


@pytest.mark.parametrize("most", [math.inf, 0.3])
def test_panels_keep_all_edges_and_are_as_short_as_asked(most: float) -> None:
    """Some of the stretches between the edges need no cut, others many."""
    edges = np.array([-3.0, -1.0, -0.95, 0.4, 2.0])

    def width(t: np.ndarray) -> np.ndarray:
        return 0.1 + np.abs(t)

    found = _paved(edges, width, most)
    assert found is not None
    assert np.isin(edges, found).all()
    length = np.diff(found)
    assert (length > 0).all() and length.sum() == pytest.approx(5.0)
    middle = 0.5 * (found[1:] + found[:-1])
    assert (length <= np.minimum(width(middle) + length / 2, most) + 1e-12).all()
    assert length.min() > 0.02


def test_too_many_panels_are_none() -> None:
    assert _paved(np.array([0.0, 1.0]), lambda t: np.full_like(t, 1e-5)) is None
    law = Link("abs(z - 0.4) + 0.0001*xi").law
    assert law is not None
    assert line_table(law, np.eye(1), np.zeros(1), 0.0) is None


def test_panels_are_graded_towards_a_point_without_width() -> None:
    found = _paved(np.array([0.0, 1.0]), lambda t: t)
    assert found is not None
    assert 0 < found[1] < 1e-8 and len(found) < 100
    growth = found[3:] / found[2:-1]
    assert growth.max() < 8


def test_places_where_a_variance_vanishes() -> None:
    found = _zeros(lambda t: (t - 0.3) ** 2 * (t + 2.0) ** 2)
    np.testing.assert_allclose(found, [-2.0, 0.3], atol=1e-6)
    assert len(_zeros(lambda t: 1e-3 + t**2)) == 0


def test_no_panel_of_labels_lies_across_a_singular_one() -> None:
    """Where the width vanishes, at z = 0.7, the density of y = z^2 has a logarithm."""
    ends = panels(table_of("z**2 + (z - 0.7)*xi"))
    low, high = ends.T
    assert not ((low < 0.49 - 1e-10) & (high > 0.49 + 1e-10)).any()
    assert np.abs(low - 0.49).min() < 1e-10


# ---- laws


@pytest.mark.parametrize(
    ("text", "noise"),
    [
        ("abs(z - 0.5) + 0.1*xi", 0.0),
        ("sign(z - 0.3) + 0.1*xi", 0.04),
        ("z*(1 + 0.5*xi)", 0.0),
        ("bernoulli(sigmoid(2*z))", 0.0),
        ("bernoulli(0.2 + 0.6*step(z - 0.2))", 0.01),
    ],
)
def test_the_chances_of_all_labels_are_one(text: str, noise: float) -> None:
    found = table_of(text, noise)
    assert found.normal.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.abs(found.width @ found.chance - 1) @ found.normal < 1e-8
    np.testing.assert_allclose(found.at(found.y), found.chance, rtol=1e-12)
    assert found.width @ found.moments(0)[0] == pytest.approx(1.0, abs=1e-9)


def test_a_product_of_normal_variables() -> None:
    """The density of z xi is K_0(|y|) / pi."""
    found = table_of("z*xi")
    density = found.moments(0)[0]
    seen = (np.abs(found.y) > 1e-3) & (np.abs(found.y) < 9)
    np.testing.assert_allclose(density[seen], k0(np.abs(found.y[seen])) / math.pi, rtol=1e-6)


@pytest.mark.parametrize(("slope", "shift"), [(1.0, 0.0), (0.6, 0.7)])
def test_a_line_with_noise_has_conditional_means_of_a_line(slope: float, shift: float) -> None:
    """y = s t + b + noise of variance v: E[h_k(t) | y] is normalised He_k of a correlation rho."""
    found = table_of("z + 0.5*xi", 0.15, slope, shift)
    spread = 0.4 + slope**2
    rho = slope / math.sqrt(spread)
    powers = found.squared_moments(3)
    np.testing.assert_allclose(powers, rho ** (2 * np.arange(4)), rtol=1e-9)
    y = np.array([-1.0, 0.3, 2.0])
    x = (y - shift) / math.sqrt(spread)
    np.testing.assert_allclose(found.means(y, 1), rho * x, rtol=1e-9)
    np.testing.assert_allclose(found.means(y, 2), rho**2 * (x**2 - 1) / math.sqrt(2), rtol=1e-9)


def test_finitely_many_labels() -> None:
    """P(y = 1) is 0.2 and 0.6 of a normal probability, E[z; y = 1] 0.6 of a normal density."""
    found = table_of("bernoulli(0.2 + 0.6*step(z - 0.2))")
    moments = found.moments(1)
    one = int(np.argmax(found.y))
    chance, mean = 0.2 + 0.6 * norm.sf(0.2), 0.6 * norm.pdf(0.2)
    assert moments[:, one] == pytest.approx([chance, mean], abs=1e-12)
    assert found.means(np.array([1.0]), 1)[0] == pytest.approx(mean / chance)
    assert np.isnan(found.means(np.array([0.5]), 1)).all()


def test_noise_mixes_labels() -> None:
    found = table_of("bernoulli(0.2 + 0.6*step(z - 0.2))", 0.09)
    y = np.array([-0.4, 0.3, 1.2])
    chance = 0.2 + 0.6 * norm.sf(0.2)
    mixed = chance * norm.pdf(y, 1, 0.3) + (1 - chance) * norm.pdf(y, 0, 0.3)
    np.testing.assert_allclose(found.at(y) @ found.normal, mixed, rtol=1e-10)
