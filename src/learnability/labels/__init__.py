"""The link g and the law P(y | z): parsing, Hermite analysis, conditional laws, catalogue."""

from learnability.labels.channel import Channel
from learnability.labels.conditional import ConditionalMoments
from learnability.labels.density_law import DensityLaw
from learnability.labels.finite_laws import FiniteLaw
from learnability.labels.hermite import HermiteExpansion, expand
from learnability.labels.known_links import CATALOGUE, Entry, catalogue
from learnability.labels.link import Link

__all__ = [
    "CATALOGUE",
    "Channel",
    "ConditionalMoments",
    "DensityLaw",
    "Entry",
    "FiniteLaw",
    "HermiteExpansion",
    "Link",
    "catalogue",
    "expand",
]
