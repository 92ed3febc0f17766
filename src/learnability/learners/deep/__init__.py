"""Networks of three and more layers, trained layer by layer or jointly."""

from learnability.learners.deep.first_layer import (
    OracleFirstLayer,
    RandomFirstLayer,
    SpectralFirstLayer,
    SphericalFirstLayer,
)
from learnability.learners.deep.joint import JointAdamW
from learnability.learners.deep.layerwise import Layerwise, TwoLayer
from learnability.learners.deep.stages import (
    MehlerReadout,
    PreconditionedSecondLayer,
    RidgeReadout,
)

__all__ = [
    "JointAdamW",
    "Layerwise",
    "MehlerReadout",
    "OracleFirstLayer",
    "PreconditionedSecondLayer",
    "RandomFirstLayer",
    "RidgeReadout",
    "SpectralFirstLayer",
    "SphericalFirstLayer",
    "TwoLayer",
]
