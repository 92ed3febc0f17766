"""Learners: immutable records of declared fields that answer questions by runs and by theory."""

from importlib import import_module
from typing import Any

_HOMES = {
    "BatchGD": "batch",
    "BayesAMP": "bayes",
    "GiantSteps": "giant",
    "GradientFlow": "flow",
    "JointAdamW": "deep",
    "KernelRidge": "lazy",
    "Layerwise": "deep",
    "MeanFieldLangevin": "meanfield",
    "MehlerReadout": "deep",
    "MehlerSecondLayer": "deep",
    "OnlineSGD": "online",
    "OracleFirstLayer": "deep",
    "PreconditionedSecondLayer": "deep",
    "RandomFeatures": "lazy",
    "RandomFirstLayer": "deep",
    "RidgeReadout": "deep",
    "Spectral": "spectral",
    "SpectralFirstLayer": "deep",
    "SphericalFirstLayer": "deep",
    "TwoLayer": "deep",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"learnability.learners.{_HOMES[name]}"), name)
