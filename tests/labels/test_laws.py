"""Laws of random labels: what is read, what is refused, and what the theory of one label says."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from learnability import Channel, LearnabilityError, Link, LinkError, MultiIndex, hardness
from learnability.labels import DensityLaw, FiniteLaw
from learnability.theory.thresholds import weak_recovery

LAWS = (
    "flip(sign(z1*z2), 0.1)",
    "sign(z + sqrt(0.5)*xi)",
    "abs(z)*(1 + 0.2*xi)",
    "z1*z2 + abs(z1)*xi",
    "bernoulli(sigmoid(2*z))",
    "poisson(z**2)",
    "categorical(sigmoid(z)/2, 1 - sigmoid(z), sigmoid(z)/2)",
    "(z + xi1)**2",
    "z*exp(0.3*xi)",
    "bernoulli(sigmoid(z + xi))",
    "flip(sign(z), sigmoid(z - 2))",
    "sign(z*xi**2 - 1)",
)


@pytest.mark.parametrize("text", LAWS)
def test_text_is_kept(text: str) -> None:
    link = Link(text)
    assert link.law is not None
    assert link.text == text
    assert Link(link) == link == pickle.loads(pickle.dumps(link)) == Link(repr(link))
    assert hash(Link(text)) == hash(link)


@pytest.mark.parametrize("text", LAWS)
def test_samples_have_the_mean_and_variance_of_the_law(text: str) -> None:
    link = Link(text)
    assert link.law is not None
    rng = np.random.default_rng(3)
    z = rng.standard_normal((6, link.r))
    y = link.law.sample(np.repeat(z[:, None], 40_000, axis=1), rng)
    spread = np.asarray(link.law.variance(z))
    assert np.all(np.abs(y.mean(axis=1) - link(z)) < 5 * np.sqrt(spread / 40_000) + 1e-9)
    fourth = ((y - y.mean(axis=1, keepdims=True)) ** 4).mean(axis=1)
    assert np.all(np.abs(y.var(axis=1) - spread) < 5 * np.sqrt(fourth / 40_000) + 1e-9)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("bernoulli(step(z))", "step(z)"),
        ("categorical(step(z), 1 - step(z))", "1 - step(z)"),
        ("z1*z2 + xi - xi", "z1*z2"),
        ("z + 0*xi3", "z"),
        ("flip(sign(z1*z2), 0)", "sign(z1*z2)"),
    ],
)
def test_a_law_without_randomness_is_a_function(text: str, plain: str) -> None:
    link = Link(text)
    assert link.law is None
    z = np.random.default_rng(0).standard_normal((50, link.r))
    np.testing.assert_allclose(link(z), Link(plain)(z), atol=1e-14)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("flip(z, 0.1)", "+1 or -1"),
        ("flip(sign(z), 1.2)", "between 0 and 1"),
        ("flip(sign(z), z)", "between 0 and 1"),
        ("bernoulli(z)", "between 0 and 1"),
        ("bernoulli(0.5 + 0.1*z)", "between 0 and 1"),
        ("bernoulli(log(z))", "between 0 and 1"),
        ("poisson(z)", "at least 0"),
        ("poisson(sqrt(z))", "at least 0"),
        ("poisson(exp(3*z))", "scale it down"),
        ("categorical(0.5, 0.6)", "add up to 1"),
        ("categorical(1)", "takes 2 or more"),
        ("1 + poisson(z**2)", "outermost"),
        ("sign(bernoulli(0.5))", "outermost"),
        ("xi*xi1*xi2*xi3*z", "at most 3"),
        ("bernoulli", "write `bernoulli(...)`"),
        ("bernoulli(p=0.5)", "keywords"),
    ],
)
def test_what_is_no_law_is_a_sentence(text: str, words: str) -> None:
    with pytest.raises(LinkError) as caught:
        Link(text)
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_function_with_randomness_inside_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(LinkError, match="at the same point"):
        Link(lambda z: z[..., 0] + rng.standard_normal(z.shape[:-1]), r=1)


def test_laws_in_python() -> None:
    def chance(z):  # type: ignore[no-untyped-def]
        return 1 / (1 + np.exp(-2 * z[..., 0]))

    law = FiniteLaw([1, 0], [chance, lambda z: 1 - chance(z)], r=1)
    text = Link("bernoulli(sigmoid(2*z))")
    z = np.linspace(-3, 3, 7)[:, None]
    np.testing.assert_allclose(Link(law)(z), text(z), rtol=1e-13)
    ours, theirs = (Channel(link).conditional_moments([1, 2]) for link in (Link(law), text))
    for k in (1, 2):
        np.testing.assert_allclose(ours[k].matrix, theirs[k].matrix, rtol=1e-9, atol=1e-12)
    with pytest.raises(LinkError, match="add up to"):
        FiniteLaw([0, 1], ["sigmoid(z)", "sigmoid(z)"])
    with pytest.raises(LinkError, match="different"):
        FiniteLaw([1, 1], ["0.5", "0.5"])


@pytest.mark.parametrize(
    ("text", "alpha"),
    [
        ("flip(sign(z1*z2), 0.1)", math.pi**2 / 4 / 0.64),
        ("poisson(z**2)", 0.75),
        ("flip(sign(z**2 - 1), 0.2)", None),
    ],
)
def test_thresholds_of_soft_cells(text: str, alpha: float | None) -> None:
    found = weak_recovery(Channel(text))
    if alpha is None:  # E[h_2 | y]^2 of two labels with masses m and moments +-c, in closed form.
        p = math.erfc(math.sqrt(0.5))
        moment = 2 * math.exp(-0.5) / math.sqrt(2 * math.pi) * 0.6
        mass = 0.8 * p + 0.2 * (1 - p)
        alpha = 1 / (moment**2 * (1 / mass + 1 / (1 - mass)))
    assert found.alpha == pytest.approx(alpha, rel=1e-9)
    assert abs(found.alpha - alpha) <= max(3 * found.alpha_error, 1e-9)


def test_added_latent_noise_is_noise() -> None:
    for text, plain, noise in (
        ("z + sqrt(0.5)*xi", "z", 0.5),
        ("abs(z1) + z2 + 0.3*xi1 - 0.4*xi2", "abs(z1) + z2", 0.25),
    ):
        ours, theirs = Channel(text), Channel(plain, noise)
        assert ours.law is None
        assert ours.link == theirs.link
        assert ours.noise == pytest.approx(noise, rel=1e-14)
        assert MultiIndex(text).simplified().noise == ours.noise
        assert MultiIndex(text).label_variance == pytest.approx(theirs.label_variance, rel=1e-12)


def test_normal_laws_by_a_second_route() -> None:
    """The table of a line against the regression on samples of the function of z and xi."""
    for text in ("abs(z) + (0.3 + z**2/4)*xi",):
        table = Channel(text).conditional_moments([1, 2])
        core = Link(text).law.core  # type: ignore[union-attr]
        regression = Channel(core).conditional_moments([2])[2]
        value, error = regression.functional(lambda m: float(m[0, 0]))
        assert table[2].matrix[0, 0] == pytest.approx(value, abs=4 * error + 1e-4)


def test_probit_is_the_latent_variable_integrated() -> None:
    """sign(z + c xi) by its formula, against cells of two coordinates restricted to the first."""
    for c in (0.3, 1.0):
        ours = Channel(f"sign(z + {c}*xi)").conditional_moments([1, 3])
        cells = Channel(f"sign(z1 + {c}*z2)").conditional_moments([1, 3])
        for k in (1, 3):
            assert ours[k].matrix[0, 0] == pytest.approx(cells[k].matrix[0, 0], rel=1e-9)


def test_a_label_that_correlations_do_not_see() -> None:
    report = hardness("z*xi")
    assert [step.kind for step in report.staircase] == ["easy"]
    assert report.leap is None and "leap" not in report.undecided
    assert any("never see" in note for note in report.notes)


def test_counts_do_not_depend_on_the_truncation() -> None:
    """The soft cells of counts against the same sum over counts taken further, on a plain grid."""
    from scipy.stats import poisson

    t = np.linspace(-9, 9, 20_001)
    weight = np.exp(-0.5 * t**2) / math.sqrt(2 * math.pi) * (t[1] - t[0])
    counts = np.arange(600)[:, None]
    chance = poisson.pmf(counts, np.exp(0.5 * t))
    mass, first, second = chance @ weight, chance @ (weight * t), chance @ (weight * (t**2 - 1))
    use = mass > 1e-250
    found = Channel("poisson(exp(z/2))").conditional_moments([1, 2])
    assert found[1].matrix[0, 0] == pytest.approx((first[use] ** 2 / mass[use]).sum(), rel=1e-9)
    assert 2 * found[2].matrix[0, 0] == pytest.approx(
        (second[use] ** 2 / mass[use]).sum(), rel=1e-9
    )


def test_a_density_of_ones_own_is_the_law_that_it_is_the_density_of() -> None:
    def log_density(y, z):  # type: ignore[no-untyped-def]
        return -0.5 * (y - np.abs(z[..., 0])) ** 2 / 0.09 - 0.5 * np.log(2 * np.pi * 0.09)

    law = DensityLaw(log_density, (-np.inf, np.inf), breaks=[0.0])
    ours, theirs = weak_recovery(Channel(Link(law))), weak_recovery(Channel("abs(z)", 0.09))
    assert ours.alpha == pytest.approx(theirs.alpha, rel=1e-8)
    rng = np.random.default_rng(1)
    y = law.sample(np.full((4000, 1), -0.8), rng)
    assert y.mean() == pytest.approx(0.8, abs=5 * 0.3 / math.sqrt(4000))
    assert y.std() == pytest.approx(0.3, rel=0.06)
    with pytest.raises(LearnabilityError, match="includes all its noise"):
        Channel(Link(law), 0.1)


def test_a_density_that_does_not_integrate_to_one_is_refused() -> None:
    with pytest.raises(LinkError, match="integrates to"):
        DensityLaw(lambda y, z: -0.5 * (y - z[..., 0]) ** 2, (-np.inf, np.inf))
    with pytest.raises(LinkError, match="not a number"):
        DensityLaw(lambda y, z: np.log(y - 5 + 0 * z[..., 0]), (0, 1))


@pytest.mark.parametrize(
    ("text", "coefficient"),
    [  # E[floor(z) z] is the sum of the normal density over the whole numbers.
        ("floor(z)", sum(math.exp(-0.5 * k**2) for k in range(-40, 41)) / math.sqrt(2 * math.pi)),
        ("mod(z, 1) + floor(z)", 1.0),
        ("round(z) - floor(z + 0.5)", 0.0),
        ("sinh(z)", math.exp(0.5)),
    ],
)
def test_words_with_steps(text: str, coefficient: float) -> None:
    assert Link(text).hermite(1) == pytest.approx(coefficient, abs=1e-11)


@pytest.mark.parametrize("text", LAWS)
def test_a_label_is_a_function_of_latent_variables(text: str) -> None:
    """The core on fresh normals has the mean and the variance of the law."""
    channel = Channel(text)
    assert channel.law is not None
    rng = np.random.default_rng(5)
    z = np.repeat(rng.standard_normal((4, 1, channel.link.r)), 20_000, axis=1)
    y = channel.labels(z, rng.standard_normal((*z.shape[:-1], channel.latents)))
    spread = channel.variance(z[:, 0])
    close = 5 * np.sqrt(spread / 20_000) + 1e-9
    assert np.all(np.abs(y.mean(axis=1) - channel.link(z[:, 0])) < close)
    fourth = ((y - y.mean(axis=1, keepdims=True)) ** 4).mean(axis=1)
    assert np.all(np.abs(y.var(axis=1) - spread) < 5 * np.sqrt(fourth / 20_000) + 1e-9)


def test_breaks_of_the_variance_are_breaks() -> None:
    link = Link("z1 + abs(z2 - 0.5)*xi")
    assert Link("z2 - 0.5", r=2) in (link.breaks or ())


@pytest.mark.parametrize(
    "law",
    [
        lambda: FiniteLaw([0, 1], [lambda z: 1.3 + 0 * z[..., 0], lambda z: -0.3 + 0 * z[..., 0]],
                          r=1),
        lambda: FiniteLaw([0, 1], [lambda z: np.log(z[..., 0]), lambda z: 1 - np.log(z[..., 0])],
                          r=1),
        lambda: FiniteLaw([0, 1], ["sigmoid(z)", "1 - sigmoid(z)", "0"]),
        lambda: DensityLaw(lambda y, z: 1 + 0 * y + 0 * z[..., 0], (0, 1)),
        lambda: DensityLaw(lambda y, z: np.random.default_rng().random(np.shape(y)) + 0 * z[..., 0],
                           (0, 1)),
        lambda: DensityLaw(lambda y, z: 0.0 * y + 0 * z[..., 0], (1, 0)),
    ],
)  # fmt: skip
def test_a_law_in_python_that_is_none_is_a_sentence(law) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LinkError) as caught:
        law()
    assert str(caught.value).endswith(".")


def test_counts_whose_rate_is_random_vary_more() -> None:
    """Var(y | z) is the mean of the rate and its variance: 1 + z^2 + xi^2 has 2 + z^2 and 2."""
    law = Link("poisson(1 + z**2 + xi**2)").law
    assert law is not None
    z = np.array([[0.0], [1.3], [-0.4]])
    np.testing.assert_allclose(law.variance(z), 4 + z[:, 0] ** 2, rtol=1e-6)
