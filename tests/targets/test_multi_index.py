"""Data of the multi-index target."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from learnability import Channel, LearnabilityError, Link, MultiIndex, SparseParity, SpikedIndex
from learnability.inputs import Isotropic, PowerLaw, Signs, Spiked

TARGETS = (
    MultiIndex("abs(z)"),
    MultiIndex("z1*z2", noise=0.3),
    MultiIndex("z1**2 + sign(z1*z2*z3)"),
    MultiIndex("max(z1, z2)", r=4),
    MultiIndex(lambda z: z.sum(axis=-1), r=2, noise=1.0),
)


@pytest.mark.parametrize("target", TARGETS, ids=repr)
def test_a_sample(target: MultiIndex) -> None:
    X, y, W, h = target.sample(seed=7, n=40, d=9)
    assert X.shape == (40, 9) and y.shape == (40,)
    assert W.shape == (target.r, 9) and h.shape == (40, target.r)
    np.testing.assert_allclose(W @ W.T, np.eye(target.r), atol=1e-13)
    np.testing.assert_allclose(h, X @ W.T, atol=1e-13)
    if not target.noise:
        np.testing.assert_allclose(y, target.link(h), atol=1e-13)


def test_no_more_dimensions_than_directions() -> None:
    _, y, W, h = MultiIndex("z1*z2*z3").sample(0, 5, 3)
    np.testing.assert_allclose(np.abs(np.linalg.det(W)), 1)
    np.testing.assert_allclose(y, h.prod(axis=1))


@pytest.mark.parametrize("target", TARGETS[:3], ids=repr)
def test_the_same_seed_gives_the_same_numbers(target: MultiIndex) -> None:
    first, second = target.sample(3, 20, 6), target.sample(3, 20, 6)
    other = target.sample(4, 20, 6)
    for a, b, c in zip(first, second, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)


def test_inputs_do_not_depend_on_the_link_or_the_noise() -> None:
    one = MultiIndex("abs(z)").sample(5, 12, 7)
    two = MultiIndex("z**2", noise=0.1).sample(5, 12, 7)
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.W, two.W)


def test_streams_are_independent() -> None:
    # Hidden weights, inputs and noise of the same or of neighbouring seeds share no numbers.
    target = MultiIndex("0*z1", r=1, noise=1.0)
    draws = [target.sample(seed, 300, 300) for seed in (0, 1, 2)]
    for a, b in itertools.combinations(draws, 2):
        assert abs(float((a.W @ b.W.T)[0, 0])) < 6 / math.sqrt(300)
        assert abs(float(a.y @ b.y)) / 300 < 6 / math.sqrt(300)
        assert abs(float(np.vdot(a.X, b.X))) / 90_000 < 6 / 300
    for s in draws:
        assert abs(float(s.y @ s.h[:, 0])) / 300 < 6 / math.sqrt(300)


def test_batches_share_the_weights_and_nothing_else() -> None:
    target = MultiIndex("z1*z2", noise=0.2)
    batches = list(itertools.islice(target.batches(2, 15, 6), 4))
    for a, b in itertools.combinations(batches, 2):
        np.testing.assert_array_equal(a.W, b.W)
        assert not np.any(a.X == b.X) and not np.any(a.y == b.y)
    np.testing.assert_array_equal(batches[0].W, target.sample(2, 15, 6).W)


def test_a_batch_can_be_drawn_again() -> None:
    target = MultiIndex("z1*z2", noise=0.2)
    first = list(itertools.islice(target.batches(2, 15, 6), 3))
    interleaved = zip(target.batches(2, 15, 6), target.batches(9, 4, 8), strict=True)
    for batch, (again, _) in zip(first, interleaved, strict=False):
        for a, b in zip(batch, again, strict=True):
            np.testing.assert_array_equal(a, b)


def test_batches_check_their_sizes_at_once() -> None:
    with pytest.raises(LearnabilityError, match="`n`"):
        MultiIndex("z1*z2").batches(0, 0, 5)


@pytest.mark.parametrize(
    ("alpha", "d", "n"), [(2, 50, 100), (0.33, 100, 33), (1.005, 200, 201), (0.001, 10, 1)]
)
def test_alpha(alpha: float, d: int, n: int) -> None:
    assert MultiIndex("z").sample(0, d=d, alpha=alpha).X.shape == (n, d)
    assert MultiIndex("z").sample(0, d=d, alpha=np.float64(alpha)).y.shape == (n,)


def test_single_precision() -> None:
    target = MultiIndex("z1**2 + sign(z1*z2*z3)", noise=0.5)
    sample = target.sample(1, 30, 8, dtype=np.float32)
    assert all(part.dtype == np.float32 for part in sample)
    np.testing.assert_allclose(sample.h, sample.X @ sample.W.T, atol=1e-5)
    batch = next(target.batches(1, 30, 8, dtype=np.float32))
    assert batch.X.dtype == np.float32
    double = target.sample(1, 30, 8)
    assert all(part.dtype == np.float64 for part in double)
    np.testing.assert_allclose(sample.W, double.W, atol=1e-6)


@pytest.mark.parametrize("target", TARGETS, ids=repr)
def test_moments_of_the_label(target: MultiIndex) -> None:
    n = 200_000
    y = target.sample(11, n, 5).y
    error = y.std() / math.sqrt(n)
    assert abs(y.mean() - target.label_mean) < 5 * error
    spread = ((y - y.mean()) ** 2).std() / math.sqrt(n)
    assert abs(y.var() - target.label_variance) < 5 * spread


def test_the_noise_is_a_variance() -> None:
    target = MultiIndex("z1*z2", noise=0.09)
    n = 100_000
    sample = target.sample(0, n, 4)
    rest = sample.y - target.link(sample.h)
    assert rest.var() == pytest.approx(0.09, rel=5 * math.sqrt(2 / n))
    assert abs(rest @ sample.h[:, 0]) / n < 5 * 0.3 / math.sqrt(n)


def test_inputs_are_standard_normal() -> None:
    X = MultiIndex("z").sample(1, 40_000, 6).X
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=5 / 200)
    np.testing.assert_allclose(X.T @ X / len(X), np.eye(6), atol=5 * math.sqrt(2) / 200)
    np.testing.assert_allclose((X**4).mean(axis=0), 3, atol=5 * math.sqrt(96) / 200)


def test_a_target_is_a_value() -> None:
    target = MultiIndex("z1*z2", noise=0.1)
    assert target == MultiIndex(Link("z2*z1"), noise=0.1) != MultiIndex("z1*z2")
    assert hash(target) == hash(MultiIndex("z2*z1", noise=0.1))
    assert pickle.loads(pickle.dumps(target)) == target
    assert target.channel == Channel("z1*z2", 0.1)
    with pytest.raises(AttributeError):
        target.noise = 1.0  # type: ignore[misc]
    assert MultiIndex("z1", r=3).r == 3


# ---- refusals

BAD = {
    "d below r": ({"n": 5, "d": 1}, "at least 2"),
    "d missing": ({"n": 5}, "`d` was given as None"),
    "d a float": ({"n": 5, "d": 4.0}, "`d`"),
    "d a bool": ({"n": 5, "d": True}, "`d`"),
    "n zero": ({"n": 0, "d": 4}, "at least 1"),
    "n negative": ({"n": -3, "d": 4}, "at least 1"),
    "n a float": ({"n": 3.5, "d": 4}, "`n`"),
    "n a bool": ({"n": True, "d": 4}, "`n`"),
    "n a text": ({"n": "5", "d": 4}, "`n`"),
    "both": ({"n": 5, "alpha": 1.0, "d": 4}, "not both or neither"),
    "neither": ({"d": 4}, "not both or neither"),
    "alpha zero": ({"alpha": 0, "d": 4}, "above 0"),
    "alpha negative": ({"alpha": -1.0, "d": 4}, "above 0"),
    "alpha nan": ({"alpha": float("nan"), "d": 4}, "above 0"),
    "alpha infinite": ({"alpha": float("inf"), "d": 4}, "above 0"),
    "alpha a text": ({"alpha": "2", "d": 4}, "above 0"),
    "alpha a bool": ({"alpha": True, "d": 4}, "above 0"),
    "alpha huge": ({"alpha": 1e300, "d": 4}, "GiB"),
    "huge": ({"n": 10**9, "d": 10**9}, "GiB"),
    "seed negative": ({"seed": -1, "n": 5, "d": 4}, "`seed`"),
    "seed a float": ({"seed": 1.0, "n": 5, "d": 4}, "`seed`"),
    "seed a bool": ({"seed": True, "n": 5, "d": 4}, "`seed`"),
    "seed missing": ({"seed": None, "n": 5, "d": 4}, "`seed`"),
    "dtype of integers": ({"n": 5, "d": 4, "dtype": np.int64}, "dtype"),
    "dtype of half precision": ({"n": 5, "d": 4, "dtype": np.float16}, "dtype"),
    "dtype unknown": ({"n": 5, "d": 4, "dtype": "real"}, "dtype"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_in_a_sentence(case: str) -> None:
    arguments, words = BAD[case]
    with pytest.raises(LearnabilityError) as caught:
        MultiIndex("z1*z2").sample(**{"seed": 0, **arguments})  # type: ignore[arg-type]
    message = str(caught.value)
    assert words in message and "\n" not in message and message.endswith(".")


@pytest.mark.parametrize("noise", [-0.1, float("nan"), float("inf"), "a", None, True])
def test_bad_noise_ends_in_a_sentence(noise: object) -> None:
    with pytest.raises(LearnabilityError, match=r"`noise` was given as .* at least 0"):
        MultiIndex("z", noise=noise)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arguments", [("z1*z2", 1), (lambda z: z[..., 0],), (3.0,), ("z1 +",), ("z", 0)]
)
def test_bad_links_end_in_a_sentence(arguments: tuple[object, ...]) -> None:
    with pytest.raises(LearnabilityError) as caught:
        MultiIndex(*arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_batches_may_begin_later() -> None:
    target = MultiIndex("z", noise=0.1)
    begun = target.batches(3, 5, 4)
    next(begun), next(begun)
    third, same = next(begun), next(target.batches(3, 5, 4, first=2))
    np.testing.assert_array_equal(third.X, same.X)
    np.testing.assert_array_equal(third.y, same.y)


# ---- laws of inputs


def test_inputs_that_are_no_law_end_in_a_sentence() -> None:
    with pytest.raises(LearnabilityError, match=r"`inputs` was given as 'spiked', but a law of"):
        MultiIndex("z", inputs="spiked")  # type: ignore[arg-type]
    assert MultiIndex("z").inputs == Isotropic()


def test_the_inputs_belong_to_the_value() -> None:
    spiked = MultiIndex("z", inputs=Spiked(4.0))
    assert spiked != MultiIndex("z") and spiked == MultiIndex("z", inputs=Spiked(4))
    assert pickle.loads(pickle.dumps(spiked)) == spiked
    assert len({hash(spiked), hash(MultiIndex("z")), hash(MultiIndex("z", inputs=PowerLaw()))}) == 3
    assert spiked.depends_on_dimension and not MultiIndex("z").depends_on_dimension


def test_a_spiked_sample_has_its_covariance_and_labels_their_argument() -> None:
    target = SpikedIndex("He3(z) + z", spike=8.0, alignment=0.6)
    X, y, W, h = target.sample(0, n=40_000, d=10)
    mu, e2 = target.inputs.directions(0, 1, 10).marked
    np.testing.assert_allclose(W[0], 0.6 * mu + 0.8 * e2)
    wanted = np.eye(10) + 8 * np.outer(mu, mu)
    # Entries of a sample covariance: standard error sqrt((S_ii S_jj + S_ij^2) / n).
    error = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2) / 200
    assert (np.abs(X.T @ X / len(X) - wanted) < 4.5 * error).all()
    np.testing.assert_allclose(h, X @ W.T / math.sqrt(1 + 8 * 0.36), atol=1e-12)
    np.testing.assert_allclose(y, target.link(h), atol=1e-10)
    assert kstest(h[:, 0], "norm").pvalue > 1e-3


def test_several_spikes_and_directions() -> None:
    """h = (W Sigma W^T)^(-1/2) W x, standard normal, and labels are g(h) with noise."""
    inputs = Spiked((8.0, 3.0), alignment=((0.5, 0.4), (-0.2, 0.6)))
    target = MultiIndex("z1*z2 + z1", noise=0.25, inputs=inputs)
    X, y, W, h = target.sample(1, n=40_000, d=12)
    spikes = inputs.directions(1, 2, 12).marked[:2]
    Sigma = np.eye(12) + 8 * np.outer(spikes[0], spikes[0]) + 3 * np.outer(spikes[1], spikes[1])
    values, vectors = np.linalg.eigh(W @ Sigma @ W.T)
    np.testing.assert_allclose(h, X @ W.T @ (vectors / np.sqrt(values)) @ vectors.T, atol=1e-10)
    np.testing.assert_allclose(h.T @ h / len(h), np.eye(2), atol=4.5 * math.sqrt(2) / 200)
    assert np.var(y - target.link(h)) == pytest.approx(0.25, rel=4.5 * math.sqrt(2) / 200)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_a_spike_of_strength_zero_changes_no_bit(noise: float) -> None:
    spiked = SpikedIndex("tanh(2*z)", spike=0.0, alignment=0.3, noise=noise)
    for mine, its in zip(
        spiked.sample(4, n=30, d=20), MultiIndex("tanh(2*z)", noise=noise).sample(4, n=30, d=20),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(mine, its)


def test_population_quantities_are_those_of_the_link() -> None:
    target, plain = SpikedIndex("z**2", spike=2.0, noise=0.1), MultiIndex("z**2", noise=0.1)
    assert target.label_mean == plain.label_mean and target.r == 1
    assert target.label_variance == plain.label_variance
    assert target.signal_power == plain.signal_power == pytest.approx(3.0)


def test_constructors_of_spiked_targets() -> None:
    assert SpikedIndex("z", spike=4.0, alignment=0.3, noise=0.1) == MultiIndex(
        "z", noise=0.1, inputs=Spiked(4.0, alignment=0.3)
    )
    assert SpikedIndex("z", spike_exponent=0.5, alignment_exponent=0.25) == MultiIndex(
        "z", inputs=Spiked(exponent=0.5, alignment_exponent=0.25)
    )
    assert SpikedIndex(lambda z: z[..., 0] ** 3, spike=1.0).r == 1
    with pytest.raises(LearnabilityError, match="not both or neither"):
        SpikedIndex("z")
    with pytest.raises(LearnabilityError, match="noise"):
        SpikedIndex("z", spike=1.0, noise=-1.0)


def test_there_is_room_for_spikes_and_hidden_directions() -> None:
    with pytest.raises(LearnabilityError, match=r"`d` was given as 2, .* at least 3 .* spiked"):
        SpikedIndex("z", spike=1.0).sample(0, n=3, d=2)
    with pytest.raises(LearnabilityError, match="give a smaller one"):
        SpikedIndex("z", spike_exponent=200.0).sample(0, n=3, d=10**6)


@pytest.mark.parametrize(("k", "anisotropy"), [(1, 0.0), (3, 0.5), (4, 1.0)])
def test_parities(k: int, anisotropy: float) -> None:
    target = SparseParity(k, anisotropy)
    X, y, W, h = target.sample(2, n=4000, d=25)
    assert W.shape == (k, 25) and h.shape == (4000, k) and target.r == k
    np.testing.assert_array_equal(y, np.sign(X @ W.T).prod(axis=1))
    np.testing.assert_array_equal(y, target.link(h))
    on = W.sum(axis=0) > 0
    np.testing.assert_allclose(np.abs(X[:, on]), 25 ** ((anisotropy - 1) / 2))
    np.testing.assert_allclose(np.abs(X[:, ~on]), 0.2)
    assert abs(y.mean()) < 4.5 / math.sqrt(4000)
    fresh = next(target.batches(2, 4000, 25, first=1))
    np.testing.assert_array_equal(fresh.W, W)
    assert not np.array_equal(fresh.X, X)


@pytest.mark.parametrize(
    ("text", "mean", "variance", "values"),
    [
        ("z1*z2", 0.0, 1.0, (-1.0, 1.0)),
        ("z1 + z2", 0.0, 2.0, (-2.0, 0.0, 2.0)),
        ("3 + z1*z2*z3", 3.0, 1.0, (2.0, 4.0)),
        ("relu(z)", 0.5, 0.25, (0.0, 1.0)),
    ],
)
def test_population_quantities_of_signs(
    text: str, mean: float, variance: float, values: tuple[float, ...]
) -> None:
    target = MultiIndex(text, inputs=Signs())
    assert target.label_mean == pytest.approx(mean) and target.label_values == values
    assert target.label_variance == pytest.approx(variance) and target.signal_power is None
    noisy = MultiIndex(text, noise=0.5, inputs=Signs())
    assert noisy.label_variance == pytest.approx(variance + 0.5)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0,), "`k` was given as 0"),
        ((2.5,), "`k` was given as 2.5"),
        ((3, -0.1), "`anisotropy` was given as -0.1, but a finite number of at least 0"),
        ((3, 1.5), "`anisotropy` was given as 1.5"),
        ((3, math.nan), "`anisotropy` was given as nan"),
    ],
)
def test_bad_parities_end_in_a_sentence(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        SparseParity(*arguments)


def test_the_support_fits_into_the_dimension() -> None:
    with pytest.raises(LearnabilityError, match="at least 5"):
        SparseParity(5).sample(0, n=3, d=4)


def test_labels_that_single_precision_rounds_are_refused_there() -> None:
    target = MultiIndex("z + 10000000")
    assert np.std(target.sample(0, n=500, d=3).y) == pytest.approx(1.0, abs=0.1)
    with pytest.raises(LearnabilityError, match="take the constant away"):
        target.sample(0, n=500, d=3, dtype=np.float32)
    for text in ("z + 1000", "10000000*sign(z)", "10000000 + 0*z", "exp(2*z)"):
        assert len(MultiIndex(text).sample(0, n=500, d=3, dtype=np.float32).y) == 500
