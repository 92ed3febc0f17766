"""scikit-learn estimators for data whose link is unknown."""

from learnability.estimators.gradient_subspace import GradientSubspace
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.estimators.moment_subspace import MomentSubspace
from learnability.estimators.subspaces import (
    bootstrap_subspace,
    principal_angles,
    split_half,
    subspace_overlap,
)

__all__ = [
    "GradientSubspace",
    "MessagePassingSubspace",
    "MomentSubspace",
    "bootstrap_subspace",
    "principal_angles",
    "split_half",
    "subspace_overlap",
]
