"""Where data come from: targets with hidden weights and an input law."""

from learnability.targets.hierarchical import Hierarchical
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import Sample, Target
from learnability.targets.sparse_parity import SparseParity
from learnability.targets.spiked_index import Spike, SpikedIndex

__all__ = [
    "Hierarchical",
    "MultiIndex",
    "Sample",
    "SparseParity",
    "Spike",
    "SpikedIndex",
    "Target",
]
