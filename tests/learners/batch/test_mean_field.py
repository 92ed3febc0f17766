"""Mean-field theory against exact solutions, another form of it, and published runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnability import Channel, LearnabilityError, Link
from learnability.inputs import Isotropic
from learnability.learners.batch import _mean_field
from learnability.learners.batch._mean_field import MeanField, Plan, mean_field, planned
from learnability.learners.batch._network import Network
from learnability.learners.networks.starts import start_of

from tests.learners.batch.derivative_theory import derivative_theory
from tests.reference_values import BATCH_REUSE, HE3_REUSE, HE3_REUSE_TOLERANCE

SMALL = Plan(13, 8)


def solved(
    link: str,
    activation: str,
    *,
    alpha: float,
    steps: int,
    second_layer: tuple[float, ...] = (1.0,),
    noise: float = 0.0,
    step: float = 0.2,
    ridge: float = 0.0,
    plan: Plan = SMALL,
    start: object = None,
) -> MeanField:
    channel = Channel(Link(link), noise)
    network = Network(Link(activation), second_layer, "squared")
    p, r = network.width, channel.link.r
    begin = start_of(start or (np.eye(p), np.zeros((p, r))), p, Isotropic().frame(r, r))
    return mean_field(
        channel, network, alpha, begin, step=step, ridge=ridge, steps=steps, plan=plan
    )


def averaged(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(len(values))


def assert_near(values: np.ndarray, exact: np.ndarray, extra: float = 0.0) -> None:
    """Mean over replicates within five standard errors (eight replicates, few comparisons)."""
    mean, error = averaged(values)
    assert np.all(np.abs(mean - exact) <= 5 * error + 1e-4 + extra), (mean - exact, error)


def linear_regression(
    alpha: float, step: float, ridge: float, noise: float, steps: int
) -> tuple[np.ndarray, ...]:
    """Overlap, length and train error of linear regression from the spectrum of X^T X / d.

    Marchenko and Pastur's law: density sqrt((b - s)(s - a)) / (2 pi s) between a and b, and an atom
    of mass 1 - alpha at zero when alpha < 1.
    """
    low, high = (math.sqrt(alpha) - 1) ** 2, (math.sqrt(alpha) + 1) ** 2
    angle = (np.arange(400) + 0.5) * math.pi / 400
    s = (low + high) / 2 + (high - low) / 2 * np.cos(angle)
    weight = ((high - low) / 2 * np.sin(angle)) ** 2 / (2 * math.pi * s) * math.pi / 400
    if alpha < 1:
        s, weight = np.append(s, 0.0), np.append(weight, 1 - alpha)
    assert weight.sum() == pytest.approx(1)
    kept, moved = np.ones_like(s), np.zeros_like(s)  # A^t and P_t in w^t = A^t w^0 + P_t (...)
    found = []
    for _ in range(steps + 1):
        gap = moved * s - 1
        found.append(
            (
                weight @ (moved * s),
                weight @ (kept**2 + (moved * s) ** 2 + noise * moved**2 * s),
                weight @ (s * (kept**2 + gap**2) + noise * gap**2) / alpha
                + noise * (1 - 1 / alpha),
            )
        )
        factor = 1 - step * ridge - step * s
        kept, moved = factor * kept, factor * moved + step
    return tuple(np.array(part) for part in zip(*found, strict=True))


@pytest.mark.parametrize(
    ("alpha", "ridge", "noise"), [(3.0, 0.0, 0.0), (0.6, 0.5, 0.0), (2.0, 0.7, 0.5)]
)
def test_linear_regression_is_exact(alpha: float, ridge: float, noise: float) -> None:
    found = solved("z", "z", alpha=alpha, ridge=ridge, noise=noise, steps=8)
    overlap, length, train_error = linear_regression(alpha, 0.2, ridge, noise, 8)
    assert_near(found.overlap[:, :, 0, 0], overlap)
    assert_near(found.gram[:, :, 0, 0], length)
    assert_near(found.train_error, train_error)
    assert_near(found.error, length - 2 * overlap + 1 + noise)


def test_derivatives_of_the_force_give_the_same() -> None:
    found = solved("He3(z)", "tanh(z)", alpha=3.0, steps=5, plan=Plan(15, 8))
    slopes = (
        np.tanh,
        lambda h: 1 / np.cosh(h) ** 2,
        lambda h: -2 * np.tanh(h) / np.cosh(h) ** 2,
    )
    other = [
        derivative_theory(
            lambda z: z**3 - 3 * z, slopes, alpha=3.0, step=0.2, steps=5, seed=100 + k
        )
        for k in range(8)
    ]
    for k, mine in enumerate((found.overlap[:, :, 0, 0], found.gram[:, :, 0, 0])):
        theirs, error = averaged(np.array([pair[k] for pair in other]))
        assert_near(mine, theirs, 5 * error)


def test_a_kink_counts() -> None:
    """Without the delta function of relu'' the usual form goes wrong after the first step."""
    found = solved("sign(z)", "relu(z)", alpha=2.0, step=0.4, steps=4)
    slopes = (lambda h: np.maximum(h, 0), lambda h: (h > 0) * 1.0, np.zeros_like)
    without = derivative_theory(np.sign, slopes, alpha=2.0, step=0.4, steps=4, seed=100)
    mean, error = averaged(found.gram[:, :, 0, 0])
    assert abs(mean - without[1])[1] <= 5 * error[1] + 1e-3
    assert np.all((mean - without[1])[2:] > 0.04)


def test_the_first_step_in_closed_form() -> None:
    """m_1 = step alpha c / 2, c = E[z sign(z)]: half of the samples pass a relu."""
    found = solved("sign(z)", "relu(z)", alpha=3.0, steps=4)
    assert_near(found.overlap[:, 1, 0, 0], np.array(0.2 * 3 * math.sqrt(2 / math.pi) / 2))


def test_he3_is_seen_from_the_second_step_on() -> None:
    found = solved("He3(z)", "tanh(z)", alpha=3.0, steps=5, plan=Plan(15, 24))
    mean, error = averaged(found.overlap[:, :, 0, 0])
    assert np.all(np.abs(mean - HE3_REUSE) <= HE3_REUSE_TOLERANCE + 3 * error)
    assert abs(mean[1]) <= 4 * error[1] and error.max() < 1e-3


def test_published_runs() -> None:
    half = 1 / math.sqrt(2)
    found = solved(
        "tanh(z1 + He3(z2))", "relu(z)", alpha=3.0, steps=6, second_layer=(half, -half),
        plan=Plan(15, 8),
    )  # fmt: skip
    for k in range(2):
        mean, error = averaged((found.overlap[:, :, 0, k] - found.overlap[:, :, 1, k]) / 2)
        combined = np.hypot(error, BATCH_REUSE.overlap_stderr[k])
        assert np.all(np.abs(mean - BATCH_REUSE.overlap[k])[1:] <= 3 * combined[1:])
    mean, error = averaged(found.error)
    combined = np.hypot(error, BATCH_REUSE.error_stderr)
    assert np.all(np.abs(mean - BATCH_REUSE.error)[1:] <= 3 * combined[1:])


def test_a_neuron_without_second_layer_stands_still() -> None:
    """Its force vanishes: the forces have a singular covariance, which opens no direction."""
    found = solved("He3(z)", "tanh(z)", alpha=2.0, steps=3, second_layer=(1.0, 0.0))
    alone = solved("He3(z)", "tanh(z)", alpha=2.0, steps=3)
    np.testing.assert_allclose(found.gram[:, :, 1, 1], 1)
    np.testing.assert_allclose(found.gram[:, :, 0, 1], 0, atol=2e-2)
    assert_near(found.gram[:, :, 0, 0], averaged(alone.gram[:, :, 0, 0])[0], 2e-2)


def test_equal_neurons_stay_equal() -> None:
    start = (((1.0, 1.0), (1.0, 1.0)), ((0.2,), (0.2,)))
    found = solved("sign(z)", "tanh(z)", alpha=2.0, steps=3, second_layer=(0.5, 0.5), start=start)
    np.testing.assert_allclose(found.overlap[:, :, 0], found.overlap[:, :, 1], atol=1e-6)
    np.testing.assert_allclose(found.gram[:, :, 0, 0], found.gram[:, :, 0, 1], atol=1e-6)


def test_the_result_does_not_depend_on_the_size_of_a_replicate() -> None:
    few = solved("tanh(2*z)", "relu(z)", alpha=2.0, steps=4, plan=Plan(10, 64))
    many = solved("tanh(2*z)", "relu(z)", alpha=2.0, steps=4, plan=SMALL)
    mean, error = averaged(many.gram)
    assert_near(few.gram, mean, 5 * error.max())


def test_plans() -> None:
    assert planned(2**20, 2, 2, 7) == Plan(16, 16)
    assert planned(10**6, 2, 2, 7) == Plan(16, 16)
    assert planned(1, 1, 1, 1) == Plan(10, 8)
    long = planned(2**20, 4, 2, 200)
    assert long.log2_block < 16 and long.replicates * 2**long.log2_block >= 2**20
    with pytest.raises(LearnabilityError, match=r"10000 steps of 8 neurons.*GiB; ask for fewer"):
        planned(2**20, 8, 2, 10000)


def test_replicates_are_solved_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is that of one replicate, whatever the number of samples."""
    shapes = []
    original = _mean_field.sobol_normals

    def watched(m: int, log2_n: int, seed: int) -> np.ndarray:
        shapes.append((m, log2_n, seed))
        return original(m, log2_n, seed)

    monkeypatch.setattr(_mean_field, "sobol_normals", watched)
    solved("z1*z2", "relu(z)", alpha=1.0, steps=2, noise=0.1, plan=Plan(10, 9))
    assert shapes == [(2 + 3 + 1, 10, k) for k in range(9)]


def test_what_cannot_be_solved_ends_in_a_sentence() -> None:
    with pytest.raises(LearnabilityError, match="labels that are not finite"):
        solved("log(z)", "relu(z)", alpha=1.0, steps=1)
    channel = Channel(Link("z"))
    network = Network(Link(lambda h: np.array(np.tanh(h[..., 0])), r=1), (1.0,), "squared")
    start = start_of((1.0, 0.0), 1, Isotropic().frame(1, 1))
    with pytest.raises(LearnabilityError, match="JAX cannot trace"):
        mean_field(channel, network, 1.0, start, step=0.1, ridge=0.0, steps=1, plan=Plan(10, 2))


def test_a_normal_density_is_gaussian_noise() -> None:
    """The general route of random labels against labels with noise; four joint standard errors."""
    from learnability import BatchGD, Link, MultiIndex
    from learnability.labels import DensityLaw

    def log_density(y, z):  # type: ignore[no-untyped-def]
        return -0.5 * (y - np.tanh(2 * z[..., 0])) ** 2 / 0.25 - 0.5 * np.log(2 * np.pi * 0.25)

    learner = BatchGD(steps=2, activation="tanh(z)")
    law = Link(DensityLaw(log_density, (-np.inf, np.inf)))
    ours = learner.predict(law, alpha=2.0, samples=2**13)
    theirs = learner.predict(MultiIndex("tanh(2*z)", noise=0.25), alpha=2.0, samples=2**13)
    for name in ("overlap", "error", "train_error"):
        joint = np.hypot(ours[f"{name}_stderr"].values, theirs[f"{name}_stderr"].values)
        assert np.all(np.abs(ours[name].values - theirs[name].values) < 4 * joint + 1e-4)
