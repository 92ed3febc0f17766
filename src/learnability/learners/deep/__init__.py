"""Networks of three and more layers, trained layer by layer or jointly."""

from learnability.learners.deep.first_layer import (
    OracleFirstLayer,
    RandomFirstLayer,
    SpectralFirstLayer,
    SphericalFirstLayer,
)
from learnability.learners.deep.joint import JointAdamW
from learnability.learners.deep.layerwise import Layerwise, TwoLayer
from learnability.learners.deep.mehler_stages import MehlerReadout, MehlerSecondLayer
from learnability.learners.deep.network import Network, train
from learnability.learners.deep.observables import (
    first_layer_overlap,
    first_layer_rank,
    kernel_spectrum,
)
from learnability.learners.deep.oracle_level import OracleLevel
from learnability.learners.deep.plain import PlainSecondLayer
from learnability.learners.deep.probes import Probes, layer_probes
from learnability.learners.deep.samples import Samples
from learnability.learners.deep.stage_theory import best_kernel_error, predicted_stages
from learnability.learners.deep.stages import PreconditionedSecondLayer, RidgeReadout
from learnability.learners.deep.unfolding import UnfoldingLayer, features_n_star

__all__ = [
    "JointAdamW",
    "Layerwise",
    "MehlerReadout",
    "MehlerSecondLayer",
    "Network",
    "OracleFirstLayer",
    "OracleLevel",
    "PlainSecondLayer",
    "PreconditionedSecondLayer",
    "Probes",
    "RandomFirstLayer",
    "RidgeReadout",
    "Samples",
    "SpectralFirstLayer",
    "SphericalFirstLayer",
    "TwoLayer",
    "UnfoldingLayer",
    "best_kernel_error",
    "features_n_star",
    "first_layer_overlap",
    "first_layer_rank",
    "kernel_spectrum",
    "layer_probes",
    "predicted_stages",
    "train",
]
