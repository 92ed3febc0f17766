"""Learners that learn no features: random features and kernels."""

from learnability.learners.lazy._theory import FEWEST_SAMPLES
from learnability.learners.lazy.kernel_ridge import KernelRidge
from learnability.learners.lazy.random_features import RandomFeatures

__all__ = ["FEWEST_SAMPLES", "KernelRidge", "RandomFeatures"]
