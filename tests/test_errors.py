"""What numbers and memory cannot do ends in a sentence, with its cause."""

from __future__ import annotations

import numpy as np
import pytest

import learnability as lb
from learnability import LearnabilityError
from learnability.errors import NumericsError, within_numerics


@pytest.mark.parametrize(
    "error",
    [ZeroDivisionError("float division"), OverflowError(34, "out of\nrange"),
     ValueError("f(a) and f(b)"), np.linalg.LinAlgError("singular"), RecursionError(),
     MemoryError("x" * 1000)],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_an_error_of_the_numerics_is_a_sentence(error: Exception) -> None:
    with pytest.raises(NumericsError, match=r"^asking") as caught, within_numerics("asking"):
        raise error
    assert caught.value.__cause__ is error
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("error", [LearnabilityError("mine"), TypeError("a slip"), KeyError(1)])
def test_refusals_and_slips_of_our_own_are_as_they_are(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, within_numerics("asking"):
        raise error
    assert caught.value is error


TINY = "*".join(["1e-50"] * 4) + "*z**2"


def test_a_link_beyond_double_precision_is_refused() -> None:
    with pytest.raises(NumericsError, match=r"could not be computed.*division by zero"):
        lb.Spectral().predict(lb.MultiIndex(TINY, noise=1e-300), alpha=1.0)


def test_the_scale_of_a_label_does_not_matter_to_eigenvectors() -> None:
    found, plain = (lb.Spectral().predict(text, alpha=1.0) for text in (TINY, "z**2"))
    assert float(found.subspace_overlap) == float(plain.subspace_overlap)


def test_the_scale_of_a_label_does_not_matter_to_hardness() -> None:
    assert lb.hardness(TINY).alpha_c == pytest.approx(0.5)
    with pytest.raises(LearnabilityError, match="too small a number"):
        lb.hardness("1e-300*z")


@pytest.mark.parametrize(
    ("learner", "alpha"),
    [(lb.Spectral(), 1e308), (lb.Spectral(), 1e-308), (lb.KernelRidge(), 1e300)],
)
def test_ratios_without_a_meaning_are_refused(learner, alpha: float) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LearnabilityError, match=r"`alpha` cannot be read: .* out of range"):
        learner.predict("abs(z)", alpha=alpha)
