"""What follows from a law alone, before any algorithm runs."""

from typing import TYPE_CHECKING

from learnability.loading import loaded_later

if TYPE_CHECKING:
    from learnability.theory.assumptions import Condition as Condition
    from learnability.theory.assumptions import conditions as conditions
    from learnability.theory.compositional import Exponent as Exponent
    from learnability.theory.compositional import compositional_exponent as compositional_exponent
    from learnability.theory.csq import csq_staircase as csq_staircase
    from learnability.theory.csq import leap_staircase as leap_staircase
    from learnability.theory.csq import risk_floors as risk_floors
    from learnability.theory.giant_regimes import Regimes as Regimes
    from learnability.theory.giant_regimes import regimes as regimes
    from learnability.theory.grand import grand_staircase as grand_staircase
    from learnability.theory.power_laws import ScalingLaws as ScalingLaws
    from learnability.theory.power_laws import scaling_laws as scaling_laws
    from learnability.theory.steps import Staircase as Staircase
    from learnability.theory.steps import Step as Step
    from learnability.theory.thresholds import WeakRecovery as WeakRecovery
    from learnability.theory.thresholds import weak_recovery as weak_recovery
else:
    _HOMES = {
        "assumptions": ("Condition", "conditions"),
        "compositional": ("Exponent", "compositional_exponent"),
        "csq": ("csq_staircase", "leap_staircase", "risk_floors"),
        "giant_regimes": ("Regimes", "regimes"),
        "grand": ("grand_staircase",),
        "power_laws": ("ScalingLaws", "scaling_laws"),
        "steps": ("Staircase", "Step"),
        "thresholds": ("WeakRecovery", "weak_recovery"),
    }
    __getattr__, __dir__ = loaded_later(__name__, _HOMES)
    __all__ = sorted(name for names in _HOMES.values() for name in names)
