"""Links g: R^r -> R and what can be computed about them."""

from __future__ import annotations

from learnability.links.link import Link

__all__ = ["Link"]
