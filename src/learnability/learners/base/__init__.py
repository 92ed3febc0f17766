"""What all learners share: declared questions and support, and the one driver that asks them."""

from learnability.learners.base.learner import Found, Learner
from learnability.learners.base.questions import ARGUMENTS, At, Question, Side
from learnability.learners.base.support import Support, check_support

__all__ = [
    "ARGUMENTS",
    "At",
    "Found",
    "Learner",
    "Question",
    "Side",
    "Support",
    "check_support",
]
