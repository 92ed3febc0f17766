"""Noisy gradient descent of wide networks in the mean-field scaling."""

from learnability.learners.meanfield.learner import MeanFieldLangevin

__all__ = ["MeanFieldLangevin"]
