"""Measurements that learners share: overlaps up to symmetries, and errors on fresh samples."""

from learnability.learners.measurement.fresh_samples import FRESH, fresh_error
from learnability.learners.measurement.label_mean import (
    FAR_MEAN,
    far_mean_note,
    lengths_count,
    mean_ratio,
)
from learnability.learners.measurement.overlaps import overlaps_in_frame, resolved, subspace_overlap

__all__ = [
    "FAR_MEAN",
    "FRESH",
    "far_mean_note",
    "fresh_error",
    "lengths_count",
    "mean_ratio",
    "overlaps_in_frame",
    "resolved",
    "subspace_overlap",
]
