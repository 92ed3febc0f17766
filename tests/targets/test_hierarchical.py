"""Hierarchical targets: samples, populations, sentences."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from learnability import Hierarchical, LearnabilityError
from learnability.targets import Target
from learnability.targets._floor import drawn_variables

G, P = "tanh(3*z)", "He2(z)/2 + He3(z)/6"


def reference(**more: object) -> Hierarchical:
    return Hierarchical(G, P, normalisation="printed", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("signs", "N", "floor", "overlap"),
    [
        ("balanced", 8, 0.054, 0.9677),
        ("balanced", 10, 0.046, 0.9738),
        ("balanced", 12, 0.041, 0.9782),
        ("balanced", 16, 0.031, 0.9839),
        ("balanced", 64, 0.006, 0.9967),
        ("ones", 8, 0.030, 0.978),
        ("ones", 16, 0.015, 0.989),
    ],
)
def test_the_reference_populations(signs: str, N: int, floor: float, overlap: float) -> None:
    """Up to one unit of the last place printed."""
    target = reference(N=N, signs=signs)
    assert target.feature_floor / target.variance == pytest.approx(floor, abs=1e-3)
    printed = 1e-4 if signs == "balanced" else 1e-3
    assert target.max_feature_overlap == pytest.approx(overlap, abs=printed)
    if signs == "balanced":
        assert 0.80 - 0.01 <= target.n_star(N**2) / N**3 <= 0.82 + 0.01


EQUAL = "He2(z)/2 + He3(z)/sqrt(12)"  # Equal variances, Var h = 1.


# g, P, shares of degree 2, 3 and above 3, largest M_h, floor, n* / (d N) at N = 16.
@pytest.mark.parametrize(
    ("g", "polynomial", "two", "three", "above", "overlap", "floor", "samples"),
    [
        (G, P, 0.623, 0.124, 0.245, 0.984, 0.031, 0.80),
        ("tanh(z)", "He2(z) + He3(z)", 0.181, 0.495, 0.308, 0.984, 0.057, 2.77),
        ("tanh(3*z)", EQUAL, 0.387, 0.299, 0.300, 0.983, 0.055, 1.29),
        ("tanh(z)", EQUAL, 0.469, 0.383, 0.142, 0.993, 0.016, 1.07),
        ("sin(1.5*z)", EQUAL, 0.209, 0.127, 0.631, 0.923, None, 2.39),
    ],
)
def test_other_targets(
    g: str, polynomial: str, two: float, three: float, above: float, overlap: float,
    floor: float | None, samples: float,
) -> None:  # fmt: skip
    """Up to one unit of the last place printed; the floor of the sine has a test of its own.

    The table's n* is d N Var f / (2 |P_2 f|^2), with products z_i z_j in |P_2 f|^2 that the
    spectrum does not see: n* itself is larger, by their share.
    """
    target = Hierarchical(g, polynomial, N=16, normalisation="printed")
    shares = target.levels(3) / target.variance
    assert shares[2:] == pytest.approx([two, three], abs=1e-3)
    assert 1 - shares[1:].sum() == pytest.approx(above, abs=1e-3)
    assert target.max_feature_overlap == pytest.approx(overlap, abs=1e-3)
    if floor is not None:
        assert target.feature_floor / target.variance == pytest.approx(floor, abs=1e-3)
    assert 1 / (2 * shares[2]) == pytest.approx(samples, abs=0.01)
    seen = 16 * target.second_order**2 / 2 / target.variance
    assert target.n_star(256) / (256 * 16) == pytest.approx(1 / (2 * seen))
    assert seen < shares[2]


def test_the_floor_of_a_sine() -> None:
    """Ten times 20000 samples in 1000 bins of q: within 3 standard errors of both, alike in size.

    The table has 0.276, which 200 to 400 bins give (0.277, 0.275): in the tails of q they mix
    several periods. Four million samples have 0.2738 (0.0004).
    """
    target = Hierarchical("sin(1.5*z)", EQUAL, N=16, normalisation="printed")
    found = []
    for seed in range(10):
        z, h = drawn_variables(target.composition, 20_000, np.random.default_rng([7, seed]))
        q = np.sum(target.composition.project(z, 3), axis=0)
        f = target.link(h)[np.argsort(q)].reshape(1000, 20)
        found.append(f.var(axis=1, ddof=1).mean())
    allowed = 3 * np.std(found, ddof=1) / np.sqrt(10) * np.sqrt(2)
    assert target.feature_floor == pytest.approx(np.mean(found), abs=allowed)


def test_the_samples_of_a_sine_in_closed_form() -> None:
    """E[e^{i t h} He_b(z_1)] is a product over the variables: n* without a density of h."""
    N, t = 16, 1.5
    z = np.linspace(-12, 12, 200_001)
    weight = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    p = (z**2 - 1) / 2 + (z**3 - 3 * z) / np.sqrt(12)

    def phi(t: float, b: int) -> complex:
        return complex(np.sum(weight * (1.0 if b == 0 else z**2 - 1) * np.exp(1j * t * p / 4)))

    one, half = phi(t, 0), N // 2
    c = (phi(t, 2) * one ** (half - 1) * np.conj(one) ** half).imag
    variance = (1 - abs(phi(2 * t, 0)) ** N) / 2  # cos(2 t h) has the mean |phi(2 t)|^N.
    found = Hierarchical("sin(1.5*z)", EQUAL, N=N, normalisation="printed")
    assert found.variance == pytest.approx(variance, rel=1e-6)
    assert found.n_star(256) / (256 * N) == pytest.approx(variance / (N * c**2), rel=1e-6)


def test_samples_follow_the_population() -> None:
    target = reference(noise=0.1)
    X, y, W, h = target.sample(3, n=100_000, d=36, dtype=np.float32)
    here = target.at(36)
    assert here.sizes == (6,) and W.shape == (6, 36) and h.shape == (100_000, 1)
    assert target.directions(36) == 6 and isinstance(target, Target)
    np.testing.assert_allclose(W @ W.T, np.eye(6), atol=1e-5)
    assert y.var() == pytest.approx(here.label_variance, abs=0.012)
    assert h.var() == pytest.approx(target.feature_variance, abs=0.03)
    np.testing.assert_allclose(target.features(X[:5], W)[-1][:, 0, 0], h[:5, 0], rtol=1e-5)
    C = (X * (y - y.mean())[:, None]).T @ X / len(X)
    seen = np.diag(W @ C @ W.T)
    names = [(t.plus, t.minus) for t in here.composition.types]
    expected = [here.composition.coefficients[names.index(t)] for t in (((2,), ()), ((), (2,)))]
    np.testing.assert_allclose(seen, np.repeat(expected, 3), atol=0.03)


def test_batches_are_numbered() -> None:
    target = Hierarchical("tanh(z1)*(1 + tanh(z2))", "He2(z)", N=3)
    first = next(target.batches(1, 4, 8))
    second, third = islice(target.batches(1, 4, 8, first=1), 2)
    np.testing.assert_array_equal(first.X, target.sample(1, n=4, d=8).X)
    assert first.W.shape == (6, 8) and first.h.shape == (4, 2)
    np.testing.assert_array_equal(third.X, next(target.batches(1, 4, 8, first=2)).X)
    assert (second.W == third.W).all() and (second.X != third.X).any()
    np.testing.assert_allclose(second.y, target.link(second.h))


def test_deeper_trees() -> None:
    tree = Hierarchical("tanh(z)", "He2(z)", depth=4)
    assert tree.at(256).sizes == (16, 4)
    levels = tree.features(*tree.sample(0, n=2000, d=256)[0:3:2])
    assert [v.shape[2] for v in levels] == [16, 4, 1]
    assert levels[1].std() == pytest.approx(1, abs=0.1)
    # As sampled with other seeds: 0.2316 of 200 000.
    assert tree.at(256).variance == pytest.approx(0.2316, abs=0.002)
    with pytest.raises(LearnabilityError, match="known for depth 3"):
        _ = tree.at(256).feature_floor
    assert Hierarchical("z", "He2(z)", N=(16, 4)).depth == 4


def test_sentences() -> None:
    def refused(match: str, *arguments: object, **more: object) -> None:
        with pytest.raises(LearnabilityError, match=match):
            Hierarchical(*arguments, **more)  # type: ignore[arg-type]

    refused("constant term", G, "z**2")
    refused("degree 1 to 8", G, "tanh(z)")
    refused("degree 1 to 8", G, "He9(z)")
    refused("above 0 and below 1", G, P, epsilon=1.0)
    refused("above 0 and below 1", G, P, epsilon=-0.5)
    refused("both given", G, P, epsilon=0.5, N=4)
    refused("`signs` was given as 'some'", G, P, signs="some")
    refused("at least 3 and of at most 8", G, P, depth=2)
    refused("has depth 4", G, P, N=(16, 4), depth=5)
    with pytest.raises(LearnabilityError, match="room for 8"):
        reference(N=9).sample(0, n=3, d=8)
    with pytest.raises(LearnabilityError, match="cannot hold"):
        Hierarchical(G, P, depth=6).at(64)
    with pytest.raises(LearnabilityError, match=r"use target.at\(d\)"):
        _ = reference().variance
    for X, W in ((np.zeros((3, 16)), np.zeros((5, 16))), (np.zeros(16), np.zeros((4, 16)))):
        with pytest.raises(LearnabilityError, match="were given with shapes"):
            reference().features(X, W)
    with pytest.raises(LearnabilityError, match="at least 0 and of at most 8"):
        reference(N=8).levels(9)
