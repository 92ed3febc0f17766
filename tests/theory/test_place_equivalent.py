"""Ridge regression with leverages by place and neuron, and the places themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Link
from learnability.theory import place_equivalent
from learnability.theory.length_equivalent import Blocks, Parts, length_errors
from learnability.theory.place_equivalent import best_error, in_classes
from learnability.theory.placed_features import _MOST_SHARED, Placed, placed_features
from learnability.theory.radial import harmonics
from learnability.theory.trained_neurons import Neurons


def test_every_place_a_class_gives_the_errors_by_lengths(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """The other route solves the same equations on nodes, ridge by ridge."""
    rng = np.random.default_rng(0)
    q, m, sizes = 5, 8, np.array([1.0, 30.0])
    P, label = np.full(q, 1 / q), rng.standard_normal(q)
    radial = rng.standard_normal((2, q, m)) * np.array([0.7, 0.2])[:, None, None]
    power = np.einsum("a,aqs->qs", sizes, radial**2)
    tail = 0.5 * power
    placed = Placed(P, np.arange(q) / q, label, sizes, radial, power + tail)
    monkeypatch.setattr(place_equivalent, "_PLACES", 400)
    monkeypatch.setattr(place_equivalent, "_NEURONS", 400)
    classes = in_classes(placed, 1e6)
    assert len(classes.places) == q and len(classes.neurons) == m
    cosines = np.ones(1), np.zeros((2, 1))
    blocks = Blocks(P, sizes, radial, np.full(m, 1 / m), tail, cosines)
    along = np.zeros((2, q, 1))
    along[0, :, 0] = label
    parts = Parts(along, np.full(q, 0.3))
    for n, p in ((40.0, 25.0), (300.0, 80.0)):
        ridges = np.geomspace(1e-3, 1e4, 120)
        expected = min(length_errors(blocks, parts, n, p, ridge).test for ridge in ridges)
        assert best_error(classes, n, p, 0.3) == pytest.approx(expected, rel=2e-3)


def test_radial_parts_are_those_of_samples() -> None:
    """Means over inputs of one length, of a feature times a harmonic of the rest."""
    neurons = Neurons(np.array([[1.2], [-0.4]]), np.array([0.9, 1.1]), np.zeros((2, 0)))
    d, sigma = 12, Link("relu(z - 1/2)")
    found = placed_features(Link("tanh(z)"), sigma, neurons, d)
    D = d - 1
    assert found.sizes == pytest.approx([harmonics(D, a) for a in range(5)])
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.label == pytest.approx(np.tanh(np.sign(found.label) * np.sqrt(found.distances)))
    rng = np.random.default_rng(1)
    x = rng.standard_normal((1_000_000, 2))
    rest = np.sqrt(x[:, 1] ** 2 + rng.chisquare(D - 1, len(x)))
    for j in range(2):
        value = np.maximum(neurons.hidden[j, 0] * x[:, 0] + neurons.rest[j] * x[:, 1] - 0.5, 0)
        assert found.weights @ found.power[:, j] == pytest.approx(np.mean(value**2), rel=0.01)
        linear = np.mean(value * x[:, 1] / rest) * math.sqrt(D)
        seen = found.weights @ found.radial[1, :, j] * math.sqrt(found.sizes[1])
        assert seen == pytest.approx(linear, rel=0.01)


def test_directions_of_shared_noise_beyond_the_first_count_as_rest() -> None:
    rng = np.random.default_rng(4)
    shared = 0.5 * rng.standard_normal((3, 4))
    hidden, rest = rng.standard_normal((3, 1)), np.array([0.9, 1.1, 0.7])
    link, sigma = Link("tanh(z)"), Link("relu(z - 1/2)")
    found = placed_features(link, sigma, Neurons(hidden, rest, shared), 30)
    kept = _MOST_SHARED
    longer = np.sqrt(rest**2 + np.sum(shared[:, kept:] ** 2, axis=1))
    same = placed_features(link, sigma, Neurons(hidden, longer, shared[:, :kept]), 30)
    np.testing.assert_allclose(found.power, same.power, rtol=1e-12)
    np.testing.assert_allclose(found.radial, same.radial, rtol=1e-12, atol=1e-15)
