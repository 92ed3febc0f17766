"""Where data come from: targets with hidden weights and an input law."""

from learnability.targets.compositional import Exponent, compositional_exponent
from learnability.targets.conditions import Condition, conditions
from learnability.targets.hierarchical import Hierarchical
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import Sample, Target
from learnability.targets.sparse_parity import SparseParity
from learnability.targets.spiked_index import Spike, SpikedIndex

__all__ = [
    "Condition",
    "Exponent",
    "Hierarchical",
    "MultiIndex",
    "Sample",
    "SparseParity",
    "Spike",
    "SpikedIndex",
    "Target",
    "compositional_exponent",
    "conditions",
]
