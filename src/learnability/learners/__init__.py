"""Learners: immutable records of hyper-parameters with `simulate` and `predict`."""

from learnability.learners.bayes import BayesAMP
from learnability.learners.online import OnlineSGD
from learnability.learners.spectral import Spectral

__all__ = ["BayesAMP", "OnlineSGD", "Spectral"]
