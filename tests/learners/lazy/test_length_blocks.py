"""Kernels, features and targets as functions of the lengths of inputs and neurons."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import LearnabilityError, Link, MultiIndex
from learnability.learners.lazy._length_blocks import (
    NODES,
    as_kernel,
    feature_blocks,
    kernel_blocks,
    target_parts,
)
from learnability.theory.radial import length_nodes


@pytest.mark.parametrize("d", [2, 3, 30, 10**6])
def test_nodes_of_the_length_have_its_moments(d: int) -> None:
    nodes, weights = length_nodes(d, NODES)
    q = 2 * nodes / d
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert weights @ q == pytest.approx(1.0, rel=1e-9)
    assert weights @ (q - 1) ** 2 == pytest.approx(2 / d, rel=1e-6)


@pytest.mark.parametrize("text", ["exp(z)", "quadratic", "exp(z3 - z1/2 - z2/2)"])
def test_blocks_make_up_the_kernel(text: str) -> None:
    """At two lengths and any angle: the sum over degrees of N_a kappa_a P_a."""
    kernel, d = Link("1 + z + z**2/2" if text == "quadratic" else text), 12
    blocks = kernel_blocks(kernel, d, 1e9)
    np.testing.assert_array_equal(blocks.sizes[:4], [1, 12, 77, 352])
    nodes, _ = length_nodes(d, NODES)
    q = 2 * nodes / d
    kappa = blocks.radial @ blocks.radial.transpose(0, 2, 1)
    i, j, t = 3, 6, 0.4
    P = [1.0, t]
    for a in range(1, 7):
        P.append(((2 * a + d - 2) * t * P[a] - a * P[a - 1]) / (a + d - 2))
    found = sum(N * k[i, j] * p for N, k, p in zip(blocks.sizes, kappa, P, strict=True))
    c = t * math.sqrt(q[i] * q[j])
    known = kernel(c) if kernel.r == 1 else kernel(np.array([q[i], q[j], c]))
    assert found == pytest.approx(float(known), rel=2e-5)
    own = kernel(q[:, None]) if kernel.r == 1 else kernel(np.column_stack([q, q, q]))
    diagonal = np.einsum("a,aqq->q", blocks.sizes, kappa) + blocks.tail[:, 0]
    np.testing.assert_allclose(diagonal, own, rtol=1e-8)


@pytest.mark.parametrize("activation", ["relu(z)", "relu(z + 0.5)", "sign(z - 1)", "sin(2*z)"])
def test_blocks_of_features_are_those_of_their_kernel(activation: str) -> None:
    """The mean of squares at all lengths is that of the normal law."""
    link = Link(activation)
    blocks = feature_blocks(link, 25, 500.0)
    assert blocks.neurons is not None
    at_lengths = blocks.tail + np.einsum("a,aqs->qs", blocks.sizes, blocks.radial**2)
    x, w = np.random.default_rng(1).standard_normal((2, 200_000, 25))
    sample = np.asarray(link(np.einsum("ij,ij->i", x, w)[:, None] / 5.0)) ** 2
    assert blocks.inputs @ at_lengths @ blocks.neurons == pytest.approx(sample.mean(), rel=0.02)
    wide = as_kernel(blocks)
    assert wide.neurons is None
    total = np.einsum("a,aqs->q", wide.sizes, wide.radial**2) + wide.tail[:, 0]
    np.testing.assert_allclose(total, at_lengths @ blocks.neurons)


def test_features_of_an_exponential_have_its_kernel() -> None:
    """At given |x| their kernel is exp(x.x'/d + (|x|^2 + |x'|^2)/(2 d) - 1)."""
    features = as_kernel(feature_blocks(Link("exp(z - 1/2)"), 40, 1000.0))
    kernel = kernel_blocks(Link("exp(z3 + z1/2 + z2/2 - 1)"), 40, 1000.0)
    for a in range(4):
        one, two = (b.radial[a] @ b.radial[a].T for b in (features, kernel))
        np.testing.assert_allclose(one[2:9, 2:9], two[2:9, 2:9], rtol=1e-5)


@pytest.mark.parametrize("d", [4, 30])
@pytest.mark.parametrize(
    "text", ["1 + z + He2(z) + He3(z)/3", "z1*z2 + z2**2 - z1**4/9", "tanh(2*z)", "z1*z2*z3"]
)
def test_parts_of_a_target_have_its_square_at_every_length(text: str, d: int) -> None:
    """Samples of equal length: all parts and what is beyond them.

    Parts up to degree seven of a function that has more of them are not exact at every length.
    """
    target = MultiIndex(text, noise=0.1)
    parts = target_parts(target, d, 8)
    nodes, weights = length_nodes(d, NODES)
    squares = np.einsum("aqk,aqk->q", parts.along, parts.along) + parts.noise
    energies, beyond = target.degree_energies(7)
    assert weights @ squares == pytest.approx(float(energies.sum()) + beyond + 0.1, rel=1e-9)
    if d <= target.r + 3 and beyond:
        return
    for k in (2, 4, 6):
        x = np.random.default_rng(k).standard_normal((400_000, d))
        x *= math.sqrt(2 * nodes[k]) / np.linalg.norm(x, axis=1, keepdims=True)
        found = np.asarray(target.link(x[:, : target.r])) ** 2
        spread = float(found.std()) / math.sqrt(len(found))
        close = {"rel": 0.02 if beyond else 1e-4, "abs": 5 * spread}
        assert squares[k] == pytest.approx(float(found.mean()) + 0.1, **close)


def test_a_cubic_is_seen_by_the_linear_harmonics() -> None:
    """At given length E[He3(z) z] is not zero: z^3 has 3 |x|^2 / (d + 2) of the line."""
    d = 20
    parts = target_parts(MultiIndex("z**3"), d, 8)
    nodes, _ = length_nodes(d, NODES)
    linear = np.sqrt(np.einsum("qk,qk->q", parts.along[1], parts.along[1]))
    np.testing.assert_allclose(linear, 3 * (2 * nodes) ** 1.5 / (d + 2) / math.sqrt(d), rtol=1e-9)


def test_a_function_that_is_no_kernel_at_long_inputs_ends_in_a_sentence() -> None:
    with pytest.raises(LearnabilityError, match=r"not positive at squared lengths .* of 1\.5"):
        kernel_blocks(Link("1/(1.5 - z)"), 44, 2000.0)
    blocks = kernel_blocks(Link("1/(1.5 - z)"), 400, 800.0)
    assert np.isfinite(blocks.radial).all() and (blocks.inputs >= 0).all()
