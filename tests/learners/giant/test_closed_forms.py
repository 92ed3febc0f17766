"""Gradients, spectra and steps where everything is a formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from learnability import Link, MultiIndex
from learnability.inputs import Spiked
from learnability.learners.giant._bulk import Batch
from learnability.learners.giant._gradient_theory import (
    Prediction,
    gradient_theory,
    law_of_inputs,
    seen_axes,
)
from learnability.learners.giant._layer_spectrum import (
    batch_eigenvalues,
    layer_density,
    layer_outlier,
    resolutions,
)
from learnability.learners.giant._outlier import outlier
from learnability.learners.giant._parameters import bends, linear_direction, one_step

N, P, D = 700, 90, 300


def predicted(target: MultiIndex, activation: str, bias: float, init: str = "signs") -> Prediction:
    frame = seen_axes(target.inputs.frame(target.r, D)).frame
    (points,) = law_of_inputs(target, frame)
    return gradient_theory(points, Link(activation), bias, init, frame, N, P, D)


@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_the_gradient_of_linear_neurons(noise: float) -> None:
    """sigma(x) = x: every row is (1/n) sum_i y_i x_i, here with y = z + noise."""
    found = predicted(MultiIndex("z", noise=noise), "z", 0.0)
    along = 1 + (3 + noise - 1) / N
    beside = (D - 1) / N * (1 + noise)
    assert found.norm == pytest.approx(along + beside, rel=1e-9)
    assert found.alignment == pytest.approx(along / (along + beside), rel=1e-9)
    assert found.correlation == pytest.approx(along / (along + beside), rel=1e-9)
    power = 1 + (D - 1) / N * (1 + noise)
    assert found.outliers[0] == pytest.approx(math.sqrt(P * power), rel=1e-6)
    assert found.overlaps[0] == pytest.approx(1 / power, rel=1e-6)
    np.testing.assert_allclose(found.outliers[1:], 0.0, atol=1e-5)


@pytest.mark.parametrize("bias", [0.0, 0.8])
@pytest.mark.parametrize(("init", "mean"), [("signs", 0.0), ("ones", 1.0), ("symmetric", 0.0)])
def test_the_gradient_of_square_neurons(bias: float, init: str, mean: float) -> None:
    """sigma(x) = x^2 / 2 and y = He_2(z); f = (1 + b^2) / 2 where all signs are one."""
    found = predicted(MultiIndex("He2(z)"), "z**2/2", bias, init)
    shift = mean * 0.5 * (1 + bias**2)
    square = 2 + shift**2  # E[e^2], e = z^2 - 1 - shift.
    own = 10 - 2 * shift * 2 + shift**2  # E[e^2 z^2].
    power = 1 + bias**2  # E[sigma'^2].
    moved = 2 - shift  # E[e z^2], while E[e z] vanishes.
    along = own * power / N + moved**2 / D
    beside = (D - 1) / N * square * power + (1 - 1 / D) * shift**2
    assert found.norm == pytest.approx(along + beside, rel=1e-7)
    assert found.alignment == pytest.approx(along / (along + beside), rel=1e-7)


def test_a_spike_stretches_what_lies_along_it() -> None:
    """Linear neurons on inputs with a spike along the hidden direction: E[y x] = sqrt(1 + s)."""
    spike = 4.0
    target = MultiIndex("z", inputs=Spiked(spike, 1.0))
    found = predicted(target, "z", 0.0)
    stretch = 1 + spike
    along = stretch * (1 + 2 / N)
    beside = (D - 1) / N
    assert found.norm == pytest.approx(along + beside, rel=1e-6)
    assert found.alignment == pytest.approx(along / (along + beside), rel=1e-6)
    explained = stretch * along / (stretch * along + beside)
    assert found.correlation == pytest.approx(explained, rel=1e-6)


# ---- spectra


def singular_density(s: np.ndarray, beta: float) -> np.ndarray:
    """Of p x d matrices of entries N(0, 1/d), over the min(p, d) singular values."""
    low, high = (1 - math.sqrt(beta)) ** 2, (1 + math.sqrt(beta)) ** 2
    x = s**2
    inside = np.sqrt(np.maximum((x - low) * (high - x), 0.0)) / (2 * math.pi * x)
    return np.asarray(2 * s * inside / min(beta, 1.0))


@pytest.mark.parametrize("beta", [0.4, 1.0, 2.5])
def test_rows_without_structure_have_the_law_of_marchenko_and_pastur(beta: float) -> None:
    low, high = abs(1 - math.sqrt(beta)), 1 + math.sqrt(beta)
    s = low + (high - low) * np.array([0.15, 0.4, 0.7, 0.9])
    found = layer_density(np.ones(5), beta, s)
    np.testing.assert_allclose(found, singular_density(s, beta), rtol=0.01)
    scaled = layer_density(np.full(3, 4.0), beta, 2 * s)
    np.testing.assert_allclose(scaled, found / 2, rtol=1e-6)
    mass = quad(lambda x: float(layer_density(np.ones(1), beta, np.array([x]))[0]), low, high,
                limit=60, epsrel=1e-3)[0]  # fmt: skip
    assert mass == pytest.approx(1.0, abs=0.02)
    outside = layer_density(np.ones(5), beta, np.array([high + 0.5]))
    assert abs(outside[0]) < 0.01


def test_resolutions_solve_their_equation() -> None:
    rows = np.array([0.3, 1.0, 2.5])
    share = np.array([0.7 + 0.2j, 2.0 - 0.1j])
    xi = resolutions(rows, share, 1.4, share / 1.4 + 1)
    trace = (rows / (rows + xi[:, None])).mean(axis=1)
    np.testing.assert_allclose(xi * (1.4 - trace), share, rtol=1e-10)


def batch_of(pull: float, noise: float, size: float = 2.0) -> Batch:
    z = np.linspace(-2, 2, 41)[:, None]
    weights = np.exp(-0.5 * z[:, 0] ** 2)
    return Batch(z, z[:, 0].copy(), weights / weights.sum(), size, pull, noise)


@pytest.mark.parametrize("strength", [0.6, 1.5, 4.0])
def test_an_outlier_on_rows_that_hardly_moved_is_the_known_one(strength: float) -> None:
    """A rank-one part t u v^T beside p x d normal entries of variance 1/d."""
    beta, d = 0.5, 400
    common = np.array([0.8, 0.6]) * strength / math.sqrt(beta * d)
    found = layer_outlier(batch_of(1e-6, 1e-6), common, beta, d)
    known = outlier(strength, beta)
    assert found.outlier.edge == pytest.approx(known.edge, rel=1e-3)
    assert found.outlier.value == pytest.approx(known.value, rel=1e-3)
    assert found.outlier.left == pytest.approx(known.left, abs=5e-3)
    assert found.outlier.right == pytest.approx(known.right, abs=5e-3)
    assert found.alignment == pytest.approx(0.64 * known.right, abs=5e-3)


def test_outliers_of_one_spike() -> None:
    """Nothing up to t = beta^(1/4); beyond, the value and both overlaps of the known formulas."""
    beta = 0.3
    for t in (0.1, beta**0.25):
        assert outlier(t, beta)[2:] == (0.0, 0.0)
        assert outlier(t, beta).value == outlier(t, beta).edge == 1 + math.sqrt(beta)
    rng = np.random.default_rng(0)
    d = 500
    p = round(beta * d)
    u, v = rng.standard_normal(p), rng.standard_normal(d)
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    G = rng.standard_normal((p, d)) / math.sqrt(d) + 1.4 * np.outer(u, v)
    left, values, right = np.linalg.svd(G, full_matrices=False)
    found = outlier(1.4, beta)
    assert values[0] == pytest.approx(found.value, rel=0.03)
    assert (left[:, 0] @ u) ** 2 == pytest.approx(found.left, abs=0.1)
    assert (right[0] @ v) ** 2 == pytest.approx(found.right, abs=0.1)
    assert values[1] == pytest.approx(found.edge, rel=0.05)


def test_eigenvalues_of_a_batch_have_its_mean_square() -> None:
    batch = batch_of(0.3, 0.5)
    values = batch_eigenvalues(batch, 250, np.random.default_rng(1))
    assert values.shape == (250,) and values.min() > 0
    assert values.mean() == pytest.approx(batch.square, rel=0.08)
    still = batch_eigenvalues(batch_of(0.0, 0.0), 40, np.random.default_rng(2))
    np.testing.assert_allclose(still, 1.0, atol=1e-12)


# ---- one step


def test_bends_of_activations() -> None:
    np.testing.assert_allclose(bends(Link("z**3 + z**2")), (1, 3, 2, 27 + 4), atol=1e-8)
    np.testing.assert_allclose(
        bends(Link("relu(z)")), (1 / math.sqrt(2 * math.pi), 0.5, 1 / math.sqrt(2 * math.pi), 0.5),
        atol=1e-8,
    )  # fmt: skip


@pytest.mark.parametrize(("init", "kept"), [("ones", 1.0), ("signs", 0.0)])
def test_one_step_on_square_neurons(init: str, kept: float) -> None:
    """sigma = z^2 / 2 + z: E sigma = 1/2, s_1 = 1, s_2 = 1, E sigma'^2 = 2."""
    target = MultiIndex("3*z1 - 4*z2 + 2", noise=0.5)
    length, direction = linear_direction(target)
    assert length == pytest.approx(5.0)
    np.testing.assert_allclose(direction, [0.6, -0.8], atol=1e-9)
    step, batch = 0.3, 2.5
    found = one_step(target, Link("z**2/2 + z"), init, step, batch)
    mean = 2 - 0.5 * kept
    power = (25 + 0.5 + mean**2) / batch
    spike = math.sqrt(25 + power)
    assert found.spike == pytest.approx(step * spike)
    assert found.alignment == pytest.approx(5 / spike)
    shift = step * mean
    own = (1 + shift) ** 2 if init == "ones" else 1 + shift**2
    assert found.bulk == pytest.approx(math.sqrt(own + step**2 * power))
    down = one_step(target, Link("-z"), init, step, batch)
    assert down.alignment < 0 < down.spike
