"""Learners: immutable records of hyper-parameters with `simulate` and `predict`."""

from learnability.learners.batch import BatchGD
from learnability.learners.bayes import BayesAMP
from learnability.learners.deep import (
    JointAdamW,
    Layerwise,
    MehlerReadout,
    MehlerSecondLayer,
    OracleFirstLayer,
    PreconditionedSecondLayer,
    RandomFirstLayer,
    RidgeReadout,
    SpectralFirstLayer,
    SphericalFirstLayer,
    TwoLayer,
)
from learnability.learners.flow import GradientFlow
from learnability.learners.giant import GiantSteps
from learnability.learners.lazy import KernelRidge, RandomFeatures
from learnability.learners.meanfield import MeanFieldLangevin
from learnability.learners.online import OnlineSGD
from learnability.learners.spectral import Spectral

__all__ = [
    "BatchGD",
    "BayesAMP",
    "GiantSteps",
    "GradientFlow",
    "JointAdamW",
    "KernelRidge",
    "Layerwise",
    "MeanFieldLangevin",
    "MehlerReadout",
    "MehlerSecondLayer",
    "OnlineSGD",
    "OracleFirstLayer",
    "PreconditionedSecondLayer",
    "RandomFeatures",
    "RandomFirstLayer",
    "RidgeReadout",
    "Spectral",
    "SpectralFirstLayer",
    "SphericalFirstLayer",
    "TwoLayer",
]
