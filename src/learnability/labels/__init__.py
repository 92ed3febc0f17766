"""The link g and the law P(y | z): parsing, Hermite analysis, conditional laws, catalogue."""

from learnability.labels.channel import Channel
from learnability.labels.conditional import ConditionalMoments
from learnability.labels.hermite import HermiteExpansion, expand
from learnability.labels.known_links import CATALOGUE, Entry, catalogue
from learnability.labels.link import Link

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
