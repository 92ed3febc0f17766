"""Learners: immutable records of declared fields that answer questions by runs and by theory.

A new learner is one file with its class, and here its import, which type checkers read, and its row
in the table. A family is loaded when one of its names is first used, so that a call that asks one
learner does not wait for the others.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from learnability.learners.base import Learner
from learnability.loading import loaded_later

if TYPE_CHECKING:
    from learnability.learners.batch import BatchGD as BatchGD
    from learnability.learners.bayes import BayesAMP as BayesAMP
    from learnability.learners.deep import JointAdamW as JointAdamW
    from learnability.learners.deep import Layerwise as Layerwise
    from learnability.learners.deep import MehlerReadout as MehlerReadout
    from learnability.learners.deep import MehlerSecondLayer as MehlerSecondLayer
    from learnability.learners.deep import OracleFirstLayer as OracleFirstLayer
    from learnability.learners.deep import OracleLevel as OracleLevel
    from learnability.learners.deep import PlainSecondLayer as PlainSecondLayer
    from learnability.learners.deep import PreconditionedSecondLayer as PreconditionedSecondLayer
    from learnability.learners.deep import RandomFirstLayer as RandomFirstLayer
    from learnability.learners.deep import RidgeReadout as RidgeReadout
    from learnability.learners.deep import SpectralFirstLayer as SpectralFirstLayer
    from learnability.learners.deep import SphericalFirstLayer as SphericalFirstLayer
    from learnability.learners.deep import TwoLayer as TwoLayer
    from learnability.learners.deep import UnfoldingLayer as UnfoldingLayer
    from learnability.learners.deep import layer_probes as layer_probes
    from learnability.learners.flow import GradientFlow as GradientFlow
    from learnability.learners.giant import FlowNetwork as FlowNetwork
    from learnability.learners.giant import GiantSteps as GiantSteps
    from learnability.learners.lazy import KernelRidge as KernelRidge
    from learnability.learners.lazy import RandomFeatures as RandomFeatures
    from learnability.learners.linear import LinearModel as LinearModel
    from learnability.learners.meanfield import MeanFieldLangevin as MeanFieldLangevin
    from learnability.learners.online import OnlineSGD as OnlineSGD
    from learnability.learners.spectral import Spectral as Spectral

_CLASSES = {
    "batch-gd": ("batch", "BatchGD"),
    "bayes-amp": ("bayes", "BayesAMP"),
    "joint-adamw": ("deep", "JointAdamW"),
    "layerwise": ("deep", "Layerwise"),
    "two-layer": ("deep", "TwoLayer"),
    "gradient-flow": ("flow", "GradientFlow"),
    "flow-network": ("giant", "FlowNetwork"),
    "giant-steps": ("giant", "GiantSteps"),
    "kernel-ridge": ("lazy", "KernelRidge"),
    "random-features": ("lazy", "RandomFeatures"),
    "linear-model": ("linear", "LinearModel"),
    "mean-field-langevin": ("meanfield", "MeanFieldLangevin"),
    "online-sgd": ("online", "OnlineSGD"),
    "spectral": ("spectral", "Spectral"),
}
"""Name on the command line -> the family, and the name of the class."""
_FURTHER = {
    "deep": (
        "MehlerReadout", "MehlerSecondLayer", "OracleFirstLayer", "OracleLevel", "PlainSecondLayer",
        "PreconditionedSecondLayer", "RandomFirstLayer", "RidgeReadout", "SpectralFirstLayer",
        "SphericalFirstLayer", "UnfoldingLayer", "layer_probes",
    ),
}  # fmt: skip
"""Family -> other names that it offers: the layers of which a learner is made."""

if not TYPE_CHECKING:
    _HOMES = {family: _FURTHER.get(family, ()) for family, _ in _CLASSES.values()}
    for _family, _kind in _CLASSES.values():
        _HOMES[_family] += (_kind,)
    __getattr__, __dir__ = loaded_later(__name__, _HOMES)
    __all__ = ["LEARNERS", "Learner", *sorted(name for names in _HOMES.values() for name in names)]


class _Learners(Mapping[str, type[Learner]]):
    """The classes of learners by their names, each loaded when it is asked for."""

    def __getitem__(self, name: str) -> type[Learner]:
        family, kind = _CLASSES[name]
        found: type[Learner] = getattr(import_module(f"{__name__}.{family}"), kind)
        return found

    def __contains__(self, name: object) -> bool:
        return name in _CLASSES

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


LEARNERS: Mapping[str, type[Learner]] = _Learners()
"""Name -> class; studies, the command line, the docs and the conformance tests walk it."""
