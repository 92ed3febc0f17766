"""Measurements that learners share: overlaps up to symmetries, and errors on fresh samples."""

from learnability.learners.measurement.fresh_samples import FRESH, fresh_error
from learnability.learners.measurement.overlaps import overlaps_in_frame, resolved, subspace_overlap

__all__ = ["FRESH", "fresh_error", "overlaps_in_frame", "resolved", "subspace_overlap"]
