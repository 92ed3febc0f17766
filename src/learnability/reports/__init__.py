"""What theory says about a target, in words, numbers and pictures."""

from learnability.reports.costs import Cost
from learnability.reports.hardness import Hardness, hardness
from learnability.reports.hierarchical import HierarchicalHardness
from learnability.reports.spiked import SpikedHardness

__all__ = [
    "Cost",
    "Hardness",
    "HierarchicalHardness",
    "SpikedHardness",
    "hardness",
]
