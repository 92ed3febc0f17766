"""What can be said about a target before any algorithm runs."""

from learnability.hardness.costs import Cost
from learnability.hardness.csq import csq_staircase, leap_staircase, risk_floors
from learnability.hardness.grand import grand_staircase
from learnability.hardness.hierarchical import HierarchicalHardness
from learnability.hardness.report import Hardness, hardness
from learnability.hardness.scaling_laws import ScalingLaws, scaling_laws
from learnability.hardness.spiked import SpikedHardness
from learnability.hardness.steps import Staircase, Step
from learnability.hardness.thresholds import WeakRecovery, weak_recovery

__all__ = [
    "Cost",
    "Hardness",
    "HierarchicalHardness",
    "ScalingLaws",
    "SpikedHardness",
    "Staircase",
    "Step",
    "WeakRecovery",
    "csq_staircase",
    "grand_staircase",
    "hardness",
    "leap_staircase",
    "risk_floors",
    "scaling_laws",
    "weak_recovery",
]
