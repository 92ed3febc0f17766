"""Random labels against sums over plain grids, with P(y | z) written out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, ndtr
from scipy.stats import norm, poisson

from learnability import Channel, LearnabilityError, Link
from learnability.labels import DensityLaw, FiniteLaw
from learnability.labels._latent_sums import independent_parts, independent_summands

Array = NDArray[np.float64]

XI, SHARE = np.polynomial.hermite_e.hermegauss(60)
SHARE = SHARE / SHARE.sum()


@lru_cache(maxsize=1)
def logistic() -> Link:
    def log_density(y: Any, z: Any) -> Any:
        t = (y - np.abs(z[..., 0])) / 0.3
        return -t - np.log(0.3) - 2 * np.logaddexp(0, -t)

    return Link(DensityLaw(log_density, (-np.inf, np.inf), breaks=[0.0]))


def soft_sign(y: Array, z: Array) -> Array:
    return (expit(z[..., None] + XI) @ SHARE) * (2 * y - 1) + (1 - y)


# Link, noise, labels, and the chance or density of a label given one coordinate.
ONE: dict[str, tuple[Any, float, list[float], Callable[[Any, Any], Any]]] = {
    "logit": ("bernoulli(sigmoid(2*z))", 0.0, [0, 1], lambda y, z: expit(2 * (2 * y - 1) * z)),
    "flip": (
        "flip(sign(z), 0.2)", 0.0, [-1, 1], lambda y, z: np.where(y * z > 0, 0.8, 0.2),
    ),
    "noisy flip": (
        "flip(sign(z), 0.2)", 0.3, [-1.4, 0.1, 1.2],
        lambda y, z: sum(
            np.where(s * z > 0, 0.8, 0.2) * norm.pdf(y, s, math.sqrt(0.3)) for s in (-1, 1)
        ),
    ),
    "counts": ("poisson(exp(z/2))", 0.0, [0, 1, 4], lambda y, z: poisson.pmf(y, np.exp(z / 2))),
    "kinked counts": ("poisson(abs(z))", 0.0, [0, 1, 3], lambda y, z: poisson.pmf(y, np.abs(z))),
    "classes": (
        "categorical(sigmoid(z)/2, 1 - sigmoid(z), sigmoid(z)/2)", 0.0, [0, 1, 2],
        lambda y, z: np.where(y == 1, 1 - expit(z), expit(z) / 2),
    ),
    "probit": ("sign(z + 0.5*xi)", 0.0, [-1, 1], lambda y, z: ndtr(2 * y * z)),
    "cells": (
        "sign(z*xi**2 - 1)", 0.0, [-1, 1],
        lambda y, z: (1 - y) / 2 + y * 2 * ndtr(-1 / np.sqrt(np.maximum(z, 1e-30))),
    ),
    "latent logit": ("bernoulli(sigmoid(z + xi))", 0.0, [0, 1], soft_sign),
    "normal": (
        "z + (0.3 + z**2/4)*xi", 0.0, [0.2, 1.5], lambda y, z: norm.pdf(y, z, 0.3 + z**2 / 4),
    ),
    "noisy normal": (
        "z + abs(z)*xi", 0.2, [-0.3, 1.5], lambda y, z: norm.pdf(y, z, np.sqrt(z**2 + 0.2)),
    ),
    "density": (
        logistic, 0.0, [0.2, 1.5],
        lambda y, z: expit((y - np.abs(z)) / 0.3) * expit(-(y - np.abs(z)) / 0.3) / 0.3,
    ),
}  # fmt: skip


def channel_of(name: str) -> Channel:
    link, noise = ONE[name][:2]
    return Channel(link() if callable(link) else link, noise)


def grid(omega: float, V: float) -> tuple[Array, Array]:
    """Points of z ~ N(omega, V), on either side of the break at 0, and weights."""
    sd = math.sqrt(V)
    edges = np.unique([omega - 9 * sd, *np.clip([0.0], omega - 9 * sd, omega + 9 * sd),
                       omega + 9 * sd])  # fmt: skip
    x, w = np.polynomial.legendre.leggauss(24)
    parts = []
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        # Panels that grow from the break resolve what is singular there.
        ends = np.concatenate([[0.0], np.geomspace(1e-9, 1, 60)])
        ends = a + (b - a) * ends if abs(a) < abs(b) else b - (b - a) * ends[::-1]
        half = np.diff(ends)[:, None] / 2
        z = (ends[:-1, None] + half * (1 + x)).ravel()
        parts.append((z, (half * w).ravel()))
    z, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    return z, weight * norm.pdf(z, omega, sd)


@pytest.mark.parametrize("name", ONE)
def test_posteriors_of_random_labels(name: str) -> None:
    channel, (_, _, labels, chance) = channel_of(name), ONE[name]
    for omega, V in ((0.4, 0.7), (-1.1, 0.05)):
        z, weight = grid(omega, V)
        y = np.array(labels, dtype=float)
        found = channel.posterior(y, np.full((len(y), 1), omega), [[V]])
        for k, label in enumerate(y):
            both = weight * chance(np.full_like(z, label), z)
            total = both.sum()
            gap = z - omega
            first, second = (both @ gap / total, both @ gap**2 / total)
            # Lines of a grid meet curved cells, and level sets of a latent coordinate.
            near = {"cells": 0.03, "normal": 3e-3, "noisy normal": 1e-3}.get(name, 1e-9)
            assert found.log_z[k] == pytest.approx(math.log(total), abs=near)
            sd = math.sqrt(V)
            assert sd * found.g[k, 0] == pytest.approx(first / sd, abs=near)
            slope = (second - first**2) / V**2 - 1 / V
            assert V * found.slope[k, 0, 0] == pytest.approx(V * slope, abs=2 * near)


@pytest.mark.parametrize("name", ONE)
def test_what_a_random_label_says(name: str) -> None:
    """E[h_k(z) | y] of single labels, and E[E[h_k | y]^2] summed over all of them."""
    channel, (_, noise, labels, chance) = channel_of(name), ONE[name]
    z, weight = grid(0.0, 1.0)
    products = np.stack([z, z**2 - 1, z**3 - 3 * z])
    assert channel.label_mean == pytest.approx(float(weight @ np.asarray(channel.link(z[:, None]))))
    y = np.array(labels, dtype=float)
    for order in (2,) if name == "density" else (1, 2, 3):
        found = channel.zeta(order, y).reshape(-1)
        for k, label in enumerate(y):
            both = weight * chance(np.full_like(z, label), z)
            exact = both @ products[order - 1] / both.sum()
            # A label of a density lies between the nodes at which its law is kept.
            assert found[k] == pytest.approx(exact, abs=2e-3 if name == "density" else 2e-6)
    if noise or name in {"normal", "noisy normal", "density"}:
        every = np.linspace(-45, 45, 1501)  # Steps are a fifth of the narrowest density.
        width = np.full(len(every), every[1] - every[0])
    else:
        every = y if len(y) == 2 else np.arange(3.0 if name == "classes" else 80.0)
        width = np.ones(len(every))
    joint = np.array([weight * chance(np.full_like(z, one), z) for one in every])
    mass = np.maximum(joint.sum(axis=1), 1e-200)
    assert width @ mass == pytest.approx(1, abs=1e-6)
    moments = channel.conditional_moments([1, 2, 3])
    for order in (1, 2, 3):
        means = joint @ products[order - 1] / mass
        exact = float(width @ (mass * means**2)) / math.factorial(order)
        assert moments[order].matrix[0, 0] == pytest.approx(exact, rel=2e-5, abs=1e-9)


@pytest.mark.parametrize("name", ONE)
def test_the_mean_and_the_variance_of_a_random_label(name: str) -> None:
    channel, (_, noise, _, chance) = channel_of(name), ONE[name]
    if noise or name in {"normal", "noisy normal", "density"}:
        every = np.linspace(-40, 40, 40_001)
        width = np.full(len(every), every[1] - every[0])
    else:
        every = {"classes": np.arange(3.0), "counts": np.arange(90.0)}.get(
            name, np.arange(90.0) if "counts" in name else np.array(ONE[name][2], dtype=float)
        )
        width = np.ones(len(every))
    for z in (-1.3, 0.4, 2.1):
        law = width * chance(every, np.full_like(every, z))
        mean = law @ every
        at = np.array([[z]])
        assert law.sum() == pytest.approx(1, abs=1e-7)
        assert float(channel.link(at)[0]) == pytest.approx(mean, abs=1e-7)
        spread = law @ (every - mean) ** 2
        assert float(channel.variance(at)[0]) == pytest.approx(spread, rel=1e-6)


def test_posteriors_of_random_labels_in_two_directions() -> None:
    t = np.linspace(-7.99, 7.99, 800)  # An even number of points: none lies on a break.
    first, second = np.meshgrid(t, t, indexing="ij")
    weight = np.outer(norm.pdf(t), norm.pdf(t)) * (t[1] - t[0]) ** 2
    V = np.array([[0.5, 0.2], [0.2, 0.7]])
    omega = np.array([0.3, -0.4])
    z = np.stack([first, second], axis=-1) @ np.linalg.cholesky(V).T + omega
    cases: list[tuple[str, list[float], Callable[[float], Array], float]] = [
        ("flip(sign(z1*z2), 0.1)", [-1, 1],
         lambda y: np.where(y * z[..., 0] * z[..., 1] > 0, 0.9, 0.1), 5e-3),
        ("bernoulli(sigmoid(z1 - z2**2))", [0, 1],
         lambda y: expit((2 * y - 1) * (z[..., 0] - z[..., 1] ** 2)), 1e-5),
    ]  # fmt: skip
    for text, labels, chance, near in cases:
        found = Channel(text).posterior(labels, [omega] * 2, V)
        for k, label in enumerate(labels):
            both = weight * chance(label)
            total = both.sum()
            assert found.log_z[k] == pytest.approx(math.log(total), abs=near)
            mean = np.einsum("ij,ijk->k", both, z - omega) / total
            np.testing.assert_allclose(found.g[k], np.linalg.solve(V, mean), atol=3 * near)


def test_moments_of_two_directions_with_a_latent_one() -> None:
    """z1 z2 + |z1| xi by a regression on the core, with its own error; flips by a factor."""
    plain = Channel("sign(z1*z2)").conditional_moments([2])[2].matrix
    for p in (0.1, 0.3):
        found = Channel(f"flip(sign(z1*z2), {p})").conditional_moments([2])[2].matrix
        np.testing.assert_allclose(found, (1 - 2 * p) ** 2 * plain, atol=1e-9)
    channel = Channel("z1*z2 + abs(z1)*xi")
    found = channel.conditional_moments([2], samples=16)[2]
    rng = np.random.default_rng(2)
    z = rng.standard_normal((400_000, 2))
    y = channel.sample(z, rng)
    # E[zeta zeta^T] from two halves of each slice of labels, which share no noise.
    products = np.column_stack([z[:, 0] ** 2 - 1, z[:, 0] * z[:, 1], z[:, 1] ** 2 - 1])
    products = products / np.sqrt([2, 1, 2])
    order = np.argsort(y)
    slices = products[order].reshape(400, 1000, 3)
    left, right = slices[:, ::2].mean(axis=1), slices[:, 1::2].mean(axis=1)
    pairs = 0.5 * (left[:, :, None] * right[:, None] + right[:, :, None] * left[:, None])
    naive, error = pairs.mean(axis=0), pairs.std(axis=0) / 20
    assert found.matrix.shape == (3, 3)
    eigen = np.linalg.eigvalsh(found.matrix)
    assert eigen == pytest.approx(np.linalg.eigvalsh(naive), abs=4 * error.max() + 0.01)


# ---- laws themselves


def test_likelihoods_probabilities_and_quantiles_tell_the_same_law() -> None:
    z = np.linspace(-2.2, 2.3, 7)[:, None]
    for text in ("flip(sign(z), 0.2)", "poisson(exp(z/2))", "bernoulli(sigmoid(z))", "cells"):
        law = Link("sign(z - 0.3) + sign(z + 1)" if text == "cells" else text).law
        if text == "cells":
            law = Link("sign(z + 0.5*xi) + sign(z - xi)").law
            assert law is not None
            z = np.column_stack([np.linspace(-2.2, 2.3, 7), np.linspace(1.1, -0.6, 7)])
        assert isinstance(law, FiniteLaw)
        chances = law.probabilities(z)
        np.testing.assert_allclose(chances.sum(axis=0), 1, atol=1e-12)
        for k, label in enumerate(law.labels[:-1]):
            np.testing.assert_allclose(
                law.likelihood(np.full(7, label), z), chances[k], rtol=1e-9, atol=1e-12
            )
        assert not law.likelihood(np.full(7, 0.37), z).any() or law.kind == "counts"
        u = np.random.default_rng(1).random((500, 7))
        found = law.chosen(np.broadcast_to(z, (500, *z.shape)), u)
        below = np.cumsum(chances, axis=0)
        for k in range(7):
            naive = [law.labels[int(np.searchsorted(below[:, k], one, "right"))] for one in u[:, k]]
            assert found[:, k].tolist() == naive


def test_laws_turn_with_their_coordinates() -> None:
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    z = rng.standard_normal((9, 2))
    for text in (
        "flip(sign(z1*z2), 0.1)", "z1*z2 + abs(z1)*xi", "(z1 + z2*xi)**2", "sign(z1 + z2*xi)",
        "poisson(z1**2 + abs(z2))",
    ):  # fmt: skip
        law = Link(text).law
        assert law is not None
        turned = law.rotate(Q)
        for name in ("mean", "variance"):
            np.testing.assert_allclose(
                getattr(turned, name)(z), getattr(law, name)(z @ Q.T), rtol=1e-7, atol=1e-9
            )
        assert turned.name == f"{law.name} turned"


def test_symmetries_of_laws() -> None:
    """Reflections (-1, 1), (1, -1), (-1, -1) and the exchange, as far as the law keeps them."""
    expected = {"z1*z2 + xi*abs(z1)": 4, "z1**2 + z2**2*exp(xi)": 4, "flip(sign(z1*z2), 0.1)": 8}
    for text, count in expected.items():
        law = Link(text).law
        assert law is not None
        found = {(s.permutation, s.signs) for s in law.symmetries}
        assert len(found) == count
        z = np.random.default_rng(4).standard_normal((20, 2))
        for s in law.symmetries:
            moved = z[:, list(s.permutation)] * np.array(s.signs)
            np.testing.assert_allclose(law.mean(moved), s.character * law.mean(z), atol=1e-9)
            np.testing.assert_allclose(law.variance(moved), law.variance(z), atol=1e-9)


def test_what_a_label_with_a_latent_variable_tells_of_two_directions() -> None:
    """E[z | y] of y = |z1 + xi| + z2, against an average over samples with labels close by."""
    channel = Channel("abs(z1 + xi) + z2")
    rng = np.random.default_rng(8)
    z = rng.standard_normal((400_000, 2))
    y = channel.sample(z, rng)
    for at in (-0.5, 1.0, 2.5):
        close = np.abs(y - at) < 0.02
        error = z[close].std(axis=0) / np.sqrt(close.sum())
        assert np.all(np.abs(channel.zeta(1, at) - z[close].mean(axis=0)) < 4 * error + 0.01)


def test_sums_and_products_of_independent_latent_variables() -> None:
    """Mean and variance of the parts, against Gauss rules in both latent coordinates."""
    for text in (
        "z1 + abs(z2)*xi1 + exp(0.3*xi2)", "z1*(1 + 0.2*xi1)*exp(0.3*xi2)",
        "(z1 + xi1)**2*z2 + xi2**3", "z1*xi1*xi2 + z2",
    ):  # fmt: skip
        core = Link(text).law.core  # type: ignore[union-attr]
        r = core.r - 2
        parts = independent_parts(core, r)
        z = np.random.default_rng(5).standard_normal((6, 2))
        z = z[:, :r]
        points = np.zeros((6, 60, 60, r + 2))
        points[..., :r] = z[:, None, None]
        points[..., r], points[..., r + 1] = XI[:, None], XI
        values = np.asarray(core(points))
        weight = np.outer(SHARE, SHARE)
        mean = (values * weight).sum(axis=(1, 2))
        variance = ((values - mean[:, None, None]) ** 2 * weight).sum(axis=(1, 2))
        np.testing.assert_allclose(parts.mean(z), mean, rtol=1e-8, atol=1e-9)
        found = parts.mean_and_variance(z)
        np.testing.assert_allclose(found[0], mean, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(found[1], variance, rtol=1e-7, atol=1e-9)
        summands = independent_summands(core, r)
        assert len(summands) == {"z1 + ": 3, "z1*(1": 1, "(z1 +": 2, "z1*xi": 2}[text[:5]]


def test_posteriors_of_too_many_latent_variables_are_refused() -> None:
    with pytest.raises(LearnabilityError, match="4 hidden directions and latent variables"):
        Channel("sign(z1 + z2*xi1*xi2)").posterior([1.0], [[0.1, 0.2]], np.eye(2))
    found = Channel("sign(z*xi1 + xi2)").posterior([1.0, -1.0], [[0.1], [0.1]], np.eye(1))
    assert np.exp(found.log_z) == pytest.approx([0.5, 0.5], abs=5e-3)


@pytest.mark.parametrize("flat", [-3.0, 0.4, 2.0, 7.0])
def test_a_label_of_positive_probability_says_what_its_piece_says(flat: float) -> None:
    """max(z, 0) + flat is flat for negative z: E[z | y] = -2 phi(0), E[z^2 - 1 | y] = 0."""
    channel = Channel(f"relu(z) + {flat}")
    y = np.array([flat, flat + 1.3])
    assert channel.zeta(1, y)[:, 0] == pytest.approx([-2 * norm.pdf(0), 1.3], abs=1e-9)
    assert channel.G(y)[:, 0, 0] == pytest.approx([0.0, 1.3**2 - 1], abs=1e-9)


def test_terms_that_cancel_in_the_second_moment() -> None:
    """E[y^2 | z] = 4 z^2 + (1 - 2 z^2)^2 has no term z^2, but E[y | z]^2 has."""
    law = Link("2*z + (1 - 2*z**2)*xi1*xi2").law
    assert law is not None and law.kind == "latent"
    z = np.linspace(-2, 2, 9)[:, None]
    np.testing.assert_allclose(law.mean(z), 2 * z[:, 0], atol=1e-12)
    np.testing.assert_allclose(law.variance(z), (1 - 2 * z[:, 0] ** 2) ** 2, atol=1e-12)
