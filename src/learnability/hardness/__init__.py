"""What can be said about a target before any algorithm runs."""

from learnability.hardness.costs import Cost
from learnability.hardness.report import Hardness, hardness
from learnability.hardness.staircases import (
    Staircase,
    Step,
    csq_staircase,
    grand_staircase,
    leap_staircase,
    risk_floors,
)

__all__ = [
    "Cost",
    "Hardness",
    "Staircase",
    "Step",
    "csq_staircase",
    "grand_staircase",
    "hardness",
    "leap_staircase",
    "risk_floors",
]
