"""What follows from a law alone, before any algorithm runs."""

from learnability.theory.assumptions import Condition, conditions
from learnability.theory.compositional import Exponent, compositional_exponent
from learnability.theory.csq import csq_staircase, leap_staircase, risk_floors
from learnability.theory.giant_regimes import Regimes, regimes
from learnability.theory.grand import grand_staircase
from learnability.theory.power_laws import ScalingLaws, scaling_laws
from learnability.theory.steps import Staircase, Step
from learnability.theory.thresholds import WeakRecovery, weak_recovery

__all__ = [
    "Condition",
    "Exponent",
    "Regimes",
    "ScalingLaws",
    "Staircase",
    "Step",
    "WeakRecovery",
    "compositional_exponent",
    "conditions",
    "csq_staircase",
    "grand_staircase",
    "leap_staircase",
    "regimes",
    "risk_floors",
    "scaling_laws",
    "weak_recovery",
]
