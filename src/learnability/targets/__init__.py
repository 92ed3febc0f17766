"""Where data come from: targets with hidden weights and an input law."""

from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import Sample, Target

__all__ = ["MultiIndex", "Sample", "Target"]
