"""scikit-learn estimators for data whose link is unknown."""

from learnability.estimators.moment_subspace import MomentSubspace
from learnability.estimators.subspaces import (
    bootstrap_subspace,
    principal_angles,
    split_half,
    subspace_overlap,
)

__all__ = [
    "MomentSubspace",
    "bootstrap_subspace",
    "principal_angles",
    "split_half",
    "subspace_overlap",
]
