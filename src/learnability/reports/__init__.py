"""What theory says about a target, in words, numbers and pictures."""

from learnability.reports.comparison import Comparison, compare
from learnability.reports.costs import Cost
from learnability.reports.hierarchical import HierarchicalHardness
from learnability.reports.multi_index import Hardness
from learnability.reports.registry import REPORTS, hardness
from learnability.reports.spiked import SpikedHardness
from learnability.reports.tables import Table

__all__ = [
    "REPORTS",
    "Comparison",
    "Cost",
    "Hardness",
    "HierarchicalHardness",
    "SpikedHardness",
    "Table",
    "compare",
    "hardness",
]
