"""What the figures on depth share: the reference target and errors relative to its variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnability.targets.hierarchical import Hierarchical

__all__ = ["G", "P", "reference", "relative"]

G, P = "tanh(3*z)", "He2(z)/2 + He3(z)/6"


def reference(**more: Any) -> Hierarchical:
    """tanh(3 h), h of He2/2 + He3/6 as printed, signs half and half, N = d^(1/2) unless given."""
    return Hierarchical(G, P, normalisation="printed", **more)


def relative(values: Any, target: Hierarchical) -> Any:
    """Errors over Var y of a target whose N is a number."""
    return np.asarray(values) / target.label_variance
