from types import SimpleNamespace

import numpy as np
import pytest

import learnability as lb
from learnability.errors import LearnabilityError
from learnability.estimators.fitted_law import fitted_law


def known(t, overlap=0.99, supported=None):
    """What a fit that found the coordinates t says of itself."""
    r = t.shape[1]
    report = SimpleNamespace(
        supported=r if supported is None else supported, overlap=[(overlap, 0.9, 1.0)] * r,
        undecided={},
    )  # fmt: skip
    return SimpleNamespace(held_out_=t, report_=report)


def test_the_threshold_of_a_learned_law_is_an_upper_figure_of_the_true_one():
    z = np.random.default_rng(0).standard_normal((4000, 1))
    learned = lb.hardness(lb.MultiIndex(fitted_law(known(z), z[:, 0] ** 2 > 1)))
    true = lb.hardness(lb.MultiIndex("sign(z**2 - 1)"))
    assert learned.generative_exponent == true.generative_exponent == 2
    assert true.alpha_c < learned.alpha_c < 1.5 * true.alpha_c


def test_an_odd_law_stays_odd():
    rng = np.random.default_rng(1)
    z = rng.standard_normal((1000, 1))
    law = fitted_law(known(z), z[:, 0] + rng.standard_normal(1000))
    assert law.r == 1 and len(law.labels) == 5
    assert lb.hardness(lb.MultiIndex(law)).information_exponent == 1


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (known(np.ones((60, 1)), supported=0), "No direction"),
        (known(np.ones((60, 3))), "at most 2"),
        (known(np.ones((60, 1)), overlap=0.7), "undecided"),
    ],
)
def test_a_law_that_is_not_known_is_refused(found, said):
    with pytest.raises(LearnabilityError, match=said):
        fitted_law(found, np.arange(60))


@pytest.mark.parametrize("seed", range(6))
def test_an_even_law_stays_even_although_the_rows_are_centred_at_their_mean(seed):
    rng = np.random.default_rng([3, seed])
    t = rng.standard_normal((1500, 1))
    t -= t.mean()
    off = rng.choice([-2.5, 2.5]) / np.sqrt(1500)  # The mean of the law, that of the rows is 0.

    def exponent(centre):
        y = np.abs(t[:, 0] - centre) + 0.05 * rng.standard_normal(1500) > 0.7
        return lb.hardness(lb.MultiIndex(fitted_law(known(t), y))).information_exponent

    assert exponent(off) == 2
    assert exponent(8 * off) == 1


def test_what_is_undecided_is_the_reason():
    t = np.random.default_rng(5).standard_normal((200, 1))
    found = known(t)
    found.report_.overlap, found.report_.undecided = [None], {"overlap": "columns have few values"}
    with pytest.raises(LearnabilityError, match="columns have few values"):
        fitted_law(found, t[:, 0])
    found.report_.supported = None
    with pytest.raises(LearnabilityError, match="overlap are undecided, columns have few values"):
        fitted_law(found, t[:, 0])
