"""Declared fields: type, range, unit and one line of help, written once.

A record such as a learner declares ``width: float = number(1.0, above=0, unit="p/d", help="...")``.
From the declaration come the check and its sentence, the row of the docstring, the option of the
command line, the axis of a study and the control of the explorer.
"""

from learnability.fields.kinds import (
    Choice,
    Flag,
    Kind,
    Number,
    Several,
    Whole,
    is_number,
    within_range,
)
from learnability.fields.records import (
    Declared,
    choice,
    declare,
    declared,
    flag,
    given,
    number,
    numbers,
    record,
    whole,
)

__all__ = [
    "Choice",
    "Declared",
    "Flag",
    "Kind",
    "Number",
    "Several",
    "Whole",
    "choice",
    "declare",
    "declared",
    "flag",
    "given",
    "is_number",
    "number",
    "numbers",
    "record",
    "whole",
    "within_range",
]
