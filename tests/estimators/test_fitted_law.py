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
        supported=r if supported is None else supported, overlap=[(overlap, 0.9, 1.0)] * r
    )
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
