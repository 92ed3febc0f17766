"""Sentences for what is not accepted."""

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.learners.online import _checks


@pytest.mark.parametrize(
    ("check", "arguments", "words"),
    [
        (_checks.check_count, ("batch", 0), "`batch` .* whole number from 1"),
        (_checks.check_count, ("batch", True), "whole number"),
        (_checks.check_size, ("step", -1.0), "of at least 0"),
        (_checks.check_size, ("look_ahead", np.inf, True), "finite number is accepted"),
        (_checks.checked_layer, ((1.0, 2.0), 3), "each of the 3 neurons"),
        (_checks.check_overlap, (1.0,), "between 0 and 1"),
        (_checks.checked_times, ([2.0, 1.0],), "do not decrease"),
        (_checks.checked_times, ("soon",), "finite number of steps"),
    ],
)
def test_bad_input_ends_in_a_sentence(check, arguments, words):
    with pytest.raises(LearnabilityError, match=words):
        check(*arguments)


def test_good_input_is_kept():
    assert _checks.checked_layer(2, 3) == 2.0
    assert _checks.checked_layer(np.array([1, -1]), 2) == (1.0, -1.0)
    assert _checks.checked_times(3).shape == () and _checks.checked_times([0, 3]).shape == (2,)
    _checks.check_size("look_ahead", -1.0, True)
