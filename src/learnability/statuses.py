"""How a run or a solution ended: one enumeration for theory, learners and results."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import refuse

__all__ = ["Status", "status_words"]


class Status(StrEnum):
    """How a run or a solution ended: a word that equals its text, with its `sentence`."""

    sentence: str

    def __new__(cls, word: str, sentence: str) -> Status:
        """Return a member with its sentence."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.sentence = sentence
        return member

    CONVERGED = "converged", "The iteration no longer moves."
    FINISHED = "finished", "The run took all its steps."
    SOLVED = "solved", "The equations were solved."
    TRAINED = "trained", "Every layer was trained."
    LEARNED = "learned", "The accuracy that was asked for was reached."
    RECOVERED = "recovered", "The overlap that was asked for was reached."
    STATIONARY = "stationary", "The loss no longer moves."
    MOVING = "moving", "The loss still moves at the last step."
    STOPPED = "stopped", "The last step came before the end was reached."
    LEAST_NORM = "least norm", "The system is singular: the solution of least norm was taken."
    INCONSISTENT = "inconsistent", "The estimate is not as long as its own covariance says."
    DIVERGED = "diverged", "The weights grew without bound; values are NaN, or those before."
    UNDECIDED = "undecided", "The theory does not decide."
    MISSING = "missing", "The run failed or has not been computed."


_WORDS = frozenset(status.value for status in Status)


def status_words(statuses: Any) -> NDArray[np.str_]:
    """Return the words of statuses, given as members of `Status` or as words.

    Parameters
    ----------
    statuses : array_like
        Statuses, in an array of any shape.

    Raises
    ------
    LearnabilityError
        When one of them is no status.
    """
    words = np.asarray(statuses, dtype=np.str_)
    if not _WORDS.issuperset(words.ravel().tolist()):
        raise refuse("status", statuses, "one of " + ", ".join(Status))
    return words
