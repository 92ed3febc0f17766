"""Spectral learners: eigenvectors of matrices made of preprocessed labels."""

from learnability.learners.spectral.learner import Spectral

__all__ = ["Spectral"]
