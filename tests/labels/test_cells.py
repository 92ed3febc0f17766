"""Cells of finitely many labels, with and without noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability.gaussian.sections import Section
from learnability.labels import Link
from learnability.labels.cells import cells_of, few_values, mixture_gram, mixture_mean


def test_labels_equal_to_rounding_are_one() -> None:
    section = Section.whole(Link("z1**2 + sign(z1*z2*z3)"))
    assert few_values(section) is None
    given = section.fix(np.eye(3)[:1], [0.7])
    labels = few_values(given)
    assert labels is not None
    assert np.allclose(labels, [0.49 - 1, 0.49 + 1])


def test_quadrants() -> None:
    section = Section.whole(Link("sign(z1*z2)"))
    for mass, moments in cells_of(section, np.array([-1.0, 1.0]), [2]):
        assert np.allclose(mass, 0.5, atol=1e-14)
        assert np.allclose(moments[2][:, 1], [-1 / math.pi, 1 / math.pi], atol=1e-13)
        assert np.allclose(moments[2][:, [0, 2]], 0, atol=1e-13)


def test_noise_blurs_two_labels() -> None:
    """For labels +-1 the signal is that of E[tanh(y / noise)^2]."""
    labels, mass, moments = np.array([-1.0, 1.0]), np.full(2, 0.5), np.array([[-0.3], [0.3]])
    noise = 0.7
    y = np.array([-1.2, 0.0, 0.4])
    mean = mixture_mean(y, labels, mass, moments, noise)[:, 0]
    assert np.allclose(mean, 0.6 * np.tanh(y / noise), atol=1e-12)
    z = np.random.default_rng(0).standard_normal(400_000)
    sampled = np.tanh((1 + math.sqrt(noise) * z) / noise) ** 2
    exact = float(mixture_gram(labels, mass, moments, noise)[0, 0]) / 0.36
    assert exact == pytest.approx(sampled.mean(), abs=5 * sampled.std() / math.sqrt(len(z)))
    assert np.isnan(mixture_mean(np.array([0.5]), labels, mass, moments, 0.0)).all()
