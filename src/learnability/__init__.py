"""How many samples does it take to learn a function, and which algorithm gets there?"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:  # What editors and type checkers see; at run time `__getattr__` does the same.
    from learnability import drawing as drawing
    from learnability import estimators as estimators
    from learnability import expressions as expressions
    from learnability import fields as fields
    from learnability import figures as figures
    from learnability import gaussian as gaussian
    from learnability import inputs as inputs
    from learnability import labels as labels
    from learnability import learners as learners
    from learnability import reports as reports
    from learnability import results as results
    from learnability import studies as studies
    from learnability import targets as targets
    from learnability import theory as theory
    from learnability.drawing import plot as plot
    from learnability.errors import LearnabilityError as LearnabilityError
    from learnability.errors import LinkError as LinkError
    from learnability.inputs import Isotropic as Isotropic
    from learnability.inputs import PowerLaw as PowerLaw
    from learnability.inputs import Signs as Signs
    from learnability.inputs import Spiked as Spiked
    from learnability.labels import Channel as Channel
    from learnability.labels import DensityLaw as DensityLaw
    from learnability.labels import FiniteLaw as FiniteLaw
    from learnability.labels import Link as Link
    from learnability.labels import catalogue as catalogue
    from learnability.learners import BatchGD as BatchGD
    from learnability.learners import BayesAMP as BayesAMP
    from learnability.learners import FlowNetwork as FlowNetwork
    from learnability.learners import GiantSteps as GiantSteps
    from learnability.learners import GradientFlow as GradientFlow
    from learnability.learners import JointAdamW as JointAdamW
    from learnability.learners import KernelRidge as KernelRidge
    from learnability.learners import Layerwise as Layerwise
    from learnability.learners import LinearModel as LinearModel
    from learnability.learners import MeanFieldLangevin as MeanFieldLangevin
    from learnability.learners import MehlerReadout as MehlerReadout
    from learnability.learners import MehlerSecondLayer as MehlerSecondLayer
    from learnability.learners import OnlineSGD as OnlineSGD
    from learnability.learners import OracleFirstLayer as OracleFirstLayer
    from learnability.learners import OracleLevel as OracleLevel
    from learnability.learners import PlainSecondLayer as PlainSecondLayer
    from learnability.learners import PreconditionedSecondLayer as PreconditionedSecondLayer
    from learnability.learners import RandomFeatures as RandomFeatures
    from learnability.learners import RandomFirstLayer as RandomFirstLayer
    from learnability.learners import RidgeReadout as RidgeReadout
    from learnability.learners import Spectral as Spectral
    from learnability.learners import SpectralFirstLayer as SpectralFirstLayer
    from learnability.learners import SphericalFirstLayer as SphericalFirstLayer
    from learnability.learners import TwoLayer as TwoLayer
    from learnability.learners import UnfoldingLayer as UnfoldingLayer
    from learnability.learners import layer_probes as layer_probes
    from learnability.reports import Hardness as Hardness
    from learnability.reports import compare as compare
    from learnability.reports import hardness as hardness
    from learnability.studies import study as study
    from learnability.targets import Hierarchical as Hierarchical
    from learnability.targets import MultiIndex as MultiIndex
    from learnability.targets import SparseParity as SparseParity
    from learnability.targets import SpikedIndex as SpikedIndex
    from learnability.theory import regimes as regimes
    from learnability.theory import scaling_laws as scaling_laws
else:
    # Package -> its names that are public here; packages are loaded when they are first used.
    _NAMES = {
        "drawing": ("plot",),
        "errors": ("LearnabilityError", "LinkError"),
        "estimators": (),
        "expressions": (),
        "fields": (),
        "figures": (),
        "gaussian": (),
        "inputs": ("Isotropic", "PowerLaw", "Signs", "Spiked"),
        "labels": ("Channel", "DensityLaw", "FiniteLaw", "Link", "catalogue"),
        "learners": (
            "BatchGD", "BayesAMP", "FlowNetwork", "GiantSteps", "GradientFlow", "JointAdamW",
            "KernelRidge", "Layerwise", "LinearModel", "MeanFieldLangevin", "MehlerReadout",
            "MehlerSecondLayer", "OnlineSGD", "OracleFirstLayer", "OracleLevel", "PlainSecondLayer",
            "PreconditionedSecondLayer", "RandomFeatures", "RandomFirstLayer", "RidgeReadout",
            "Spectral", "SpectralFirstLayer", "SphericalFirstLayer", "TwoLayer", "UnfoldingLayer",
            "layer_probes",
        ),
        "reports": ("Hardness", "compare", "hardness"),
        "results": (),
        "studies": ("study",),
        "targets": ("Hierarchical", "MultiIndex", "SparseParity", "SpikedIndex"),
        "theory": ("regimes", "scaling_laws"),
    }  # fmt: skip
    _HOMES = {name: package for package, names in _NAMES.items() for name in names}
    __all__ = ["__version__", *_HOMES, *(package for package in _NAMES if package != "errors")]

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        home = import_module(f"{__name__}.{_HOMES.get(name, name)}")
        value = getattr(home, name) if name in _HOMES else home
        globals()[name] = value
        return value

    def __dir__():
        return sorted(__all__)
