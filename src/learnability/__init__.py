"""How many samples does it take to learn a function, and which algorithm gets there?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> module that defines it; a module is imported when its name is first used.
_HOMES = {
    "BatchGD": "learnability.learners",
    "BayesAMP": "learnability.learners",
    "Channel": "learnability.labels",
    "GiantSteps": "learnability.learners",
    "GradientFlow": "learnability.learners",
    "Hardness": "learnability.reports",
    "Hierarchical": "learnability.targets",
    "JointAdamW": "learnability.learners",
    "KernelRidge": "learnability.learners",
    "Layerwise": "learnability.learners",
    "LearnabilityError": "learnability.errors",
    "Link": "learnability.labels",
    "LinkError": "learnability.errors",
    "MeanFieldLangevin": "learnability.learners",
    "MehlerReadout": "learnability.learners",
    "MehlerSecondLayer": "learnability.learners",
    "MultiIndex": "learnability.targets",
    "OnlineSGD": "learnability.learners",
    "OracleFirstLayer": "learnability.learners",
    "PreconditionedSecondLayer": "learnability.learners",
    "RandomFeatures": "learnability.learners",
    "RandomFirstLayer": "learnability.learners",
    "RidgeReadout": "learnability.learners",
    "SparseParity": "learnability.targets",
    "Spectral": "learnability.learners",
    "SpectralFirstLayer": "learnability.learners",
    "SphericalFirstLayer": "learnability.learners",
    "SpikedIndex": "learnability.targets",
    "TwoLayer": "learnability.learners",
    "catalogue": "learnability.labels",
    "hardness": "learnability.reports",
    "plot": "learnability.drawing",
    "scaling_laws": "learnability.theory",
    "study": "learnability.studies",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
