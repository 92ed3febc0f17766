"""What theory says about a target, in words, numbers and pictures."""

from learnability.reports.costs import Cost
from learnability.reports.hierarchical import HierarchicalHardness
from learnability.reports.multi_index import Hardness
from learnability.reports.registry import REPORTS, hardness
from learnability.reports.spiked import SpikedHardness

__all__ = [
    "REPORTS",
    "Cost",
    "Hardness",
    "HierarchicalHardness",
    "SpikedHardness",
    "hardness",
]
