"""The link g and the law P(y | z): parsing, Hermite analysis, conditional laws, catalogue."""

from learnability.links.catalogue import CATALOGUE, Entry, catalogue
from learnability.links.channel import Channel
from learnability.links.conditional import ConditionalMoments
from learnability.links.hermite import HermiteExpansion, expand
from learnability.links.link import Link

__all__ = [
    "CATALOGUE",
    "Channel",
    "ConditionalMoments",
    "Entry",
    "HermiteExpansion",
    "Link",
    "catalogue",
    "expand",
]
