"""The law of x: how inputs are drawn, what Sigma does, and which axes they mark."""

from learnability.inputs.base import Frame, Inputs
from learnability.inputs.isotropic import Isotropic
from learnability.inputs.power_law import PowerLaw
from learnability.inputs.signs import Signs
from learnability.inputs.spiked import Spiked

INPUTS: dict[str, type[Inputs]] = {law.kind: law for law in (Isotropic, Spiked, PowerLaw, Signs)}
"""Kind -> law of inputs; the command line and the conformance tests walk it."""

__all__ = ["INPUTS", "Frame", "Inputs", "Isotropic", "PowerLaw", "Signs", "Spiked"]
