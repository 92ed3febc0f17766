"""The enumeration of statuses: words that equal their text, each with a sentence."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from learnability.errors import LearnabilityError
from learnability.statuses import Status, status_words


@pytest.mark.parametrize("status", Status)
def test_every_status_is_a_word_with_a_sentence(status: Status) -> None:
    assert status == status.value == str(status) == f"{status}"
    assert status.sentence[0].isupper() and status.sentence.endswith(".")
    assert json.loads(json.dumps(status)) == status.value
    assert pickle.loads(pickle.dumps(status)) is status


def test_words_of_statuses_keep_their_shape() -> None:
    found = status_words([[Status.STOPPED, "moving"], ["least norm", Status.DIVERGED]])
    assert found.tolist() == [["stopped", "moving"], ["least norm", "diverged"]]
    assert found.dtype.kind == "U" and status_words(Status.SOLVED).shape == ()
    assert status_words(np.array(["solved"])).tolist() == ["solved"]


@pytest.mark.parametrize("wrong", ["fine", ["solved", "not converged: 3"], [np.nan], [None]])
def test_other_words_are_refused(wrong: object) -> None:
    with pytest.raises(LearnabilityError, match=r"`status` was given as .* one of converged,"):
        status_words(wrong)
