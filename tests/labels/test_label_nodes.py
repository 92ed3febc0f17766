"""Nodes of an integral over labels: their mass is that of the line, however labels are spread."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Link
from learnability.gaussian.sections import Section
from learnability.labels.label_nodes import LabelNodes
from learnability.labels.level_sets import LevelSets


def levels(text: str) -> LevelSets:
    return LevelSets(Section.whole(Link(text)))


def averages(functions: list[LevelSets], shares: list[float]) -> np.ndarray:
    """Mass, E z^2 and E cos z, as integrals over the labels of functions with these shares."""
    counts = [len(f.pieces.branches) for f in functions]
    share = np.repeat(shares, counts)
    total = np.zeros(3)
    for part in LabelNodes(functions)(8):
        z = part.roots
        density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) * part.weights
        density = density * share[part.branches][:, None] * part.widths
        total += [(density * f).sum() for f in (np.ones_like(z), z**2, np.cos(z))]
    return total


TRUTH = np.array([1.0, 1.0, np.exp(-0.5)])


@pytest.mark.parametrize(
    "text",
    ["z**2", "1.5*He4(z)", "(1.5*He4(z))**3 + 1.5*He4(z)", "exp(3*z) - z", "sin(3*z)", "abs(z)**9"],
)
def test_labels_of_any_spread_have_the_mass_of_the_line(text: str) -> None:
    np.testing.assert_allclose(averages([levels(text)], [1.0]), TRUTH, atol=2e-9)


def test_labels_of_several_functions() -> None:
    functions = [levels("z**2"), levels("1 - exp(2*z)"), levels("z")]
    np.testing.assert_allclose(averages(functions, [0.5, 0.3, 0.2]), TRUTH, atol=2e-9)


def test_roots_have_one_label() -> None:
    functions = [levels("z**3 - 2*z"), levels("2*cos(z)")]
    numbers = [len(f.pieces.branches) for f in functions]
    owner = np.repeat([0, 1], numbers)
    for part in LabelNodes(functions)(6):
        labels = [
            functions[owner[b]].section(z[:, None])
            for b, z in zip(part.branches, part.roots, strict=True)
        ]
        size = 1 + np.abs(labels[0])
        assert all((np.abs(y - labels[0]) <= 1e-9 * size).all() for y in labels)
