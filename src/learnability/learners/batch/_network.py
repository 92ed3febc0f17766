"""The network f(x) = sum_j a_j sigma(w_j . x) with a fixed second layer a.

Gradient descent sees it through the fields h_j = w_j . x alone: the force on them is the derivative
of the loss, half the squared error (f - y)^2 / 2 or the correlation -f y,

    G_j = (f - y) a_j sigma'(h_j)    or    G_j = -y a_j sigma'(h_j).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from learnability.labels.link import Link

__all__ = ["LOSSES", "Network"]

LOSSES = ("squared", "correlation")


@dataclass(frozen=True)
class Network:
    """A two-layer network whose first layer is trained.

    Attributes
    ----------
    activation : Link
        The function sigma of one variable.
    second_layer : tuple of float
        The weights a, one per neuron.
    loss : str
        One of `LOSSES`.
    """

    activation: Link
    second_layer: tuple[float, ...]
    loss: str

    @property
    def width(self) -> int:
        """Number of neurons p."""
        return len(self.second_layer)

    def output(self, fields: Any) -> Any:
        """Return f at fields (p, N), in NumPy or JAX and in their type, shape (N,)."""
        return self._weights(fields) @ self.activation(fields[..., None])

    def force(self, fields: Any, output: Any, labels: Any) -> Any:
        """Return the derivative of the loss in the fields, shape (p, N).

        Parameters
        ----------
        fields : array, shape (p, N)
            NumPy or JAX.
        output, labels : array, shape (N,)
            The network's output at these fields, and the labels.
        """
        (slope,) = self.activation.gradient()  # The link keeps it, unlike derivative().
        outer = output - labels if self.loss == "squared" else -labels
        return self._weights(fields)[:, None] * slope(fields[..., None]) * outer

    def _weights(self, fields: Any) -> Any:
        return np.asarray(self.second_layer, dtype=fields.dtype)
