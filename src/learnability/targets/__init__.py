"""Where data come from: targets with hidden weights and an input law."""

from learnability.targets.compositional import Exponent, compositional_exponent
from learnability.targets.conditions import Condition, conditions
from learnability.targets.hierarchical import Hierarchical
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import Sample, Target

__all__ = [
    "Condition",
    "Exponent",
    "Hierarchical",
    "MultiIndex",
    "Sample",
    "Target",
    "compositional_exponent",
    "conditions",
]
