"""Learners: immutable records of declared fields that answer questions by runs and by theory.

A new learner is one file with its class and one line here.
"""

from learnability.learners.base import Learner
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

LEARNERS: dict[str, type[Learner]] = {
    cls.name: cls
    for cls in list(globals().values())
    if isinstance(cls, type) and issubclass(cls, Learner) and cls is not Learner
}
"""Name -> class; studies, the command line, the docs and the conformance tests walk it."""
