"""Layers above the first: a preconditioned step on the second, and readouts.

A layer reads the pre-activations of the one below, adds random biases, applies its activation and
regresses the labels on the resulting features. The preconditioned step on second-layer weights that
start at zero,

    W2 = eta (Phi^T Phi / n + epsilon I)^(-1) (1/n) Phi^T [y (x) w3] ,

is exactly that ridge regression: h_i(x) = eta w3_i q(x) with one function q for all neurons, of
rank one. A further step on y q, which runs a staircase in function space, adds a second function.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.fields import number, record, whole
from learnability.labels.fields import AsLink, function
from learnability.labels.link import Link
from learnability.learners.deep._leave_one_out import Fit, fit_by_leave_one_out

__all__ = [
    "Blocks",
    "Features",
    "PreconditionedSecondLayer",
    "RidgeReadout",
    "Trained",
    "same",
    "spread_over_neurons",
]

Blocks = Callable[[], Iterable[NDArray[Any]]]


class Trained(NamedTuple):
    """A layer after training.

    Attributes
    ----------
    functions : callable
        Pre-activations of the layer below (n, p) -> the fitted functions q (n, k).
    spread : callable
        The functions -> outputs (n, m) of the layer's neurons.
    left_out : array, shape (n, m)
        Outputs at training samples, each of a fit that has not seen it.
    ridge : float
        The ridge of the fit.
    used : int
        Number of first samples that the fit has used up; `left_out` has the others only.
    """

    functions: Callable[[NDArray[Any]], NDArray[Any]]
    spread: Callable[[NDArray[Any]], NDArray[Any]]
    left_out: NDArray[Any]
    ridge: float
    used: int = 0

    def forward(self, below: NDArray[Any]) -> NDArray[Any]:
        """Return outputs (n, m) from pre-activations (n, p) of the layer below."""
        return self.spread(self.functions(below))


_RIDGE = (
    "Ridge over the mean eigenvalue of the features' Gram matrix; the default is the one of least "
    "leave-one-out error."
)
_BIAS = "Biases are uniform between plus and minus this number."


@dataclass(frozen=True)
class Features:
    """Features p^(-1/2) sigma(u + b) of pre-activations u, with b uniform on an interval.

    Parameters
    ----------
    activation : Link
        The function sigma.
    spread : float
        Largest |b|.
    seed, place : int
        The seed of the run and the number of the layer; the biases are the same at every call.
    """

    activation: Link
    spread: float
    seed: int
    place: int

    @property
    def key(self) -> list[int]:
        """The key of the biases' random numbers."""
        return [self.seed, 31, self.place]

    def biases(self, p: int) -> NDArray[np.float64]:
        """Return the biases b of p neurons."""
        rng = np.random.default_rng(self.key)
        return np.asarray(rng.uniform(-self.spread, self.spread, p))

    def __call__(self, below: NDArray[Any]) -> NDArray[Any]:
        """Return features (n, p) of pre-activations (n, p)."""
        values = below + self.biases(below.shape[1]).astype(below.dtype)
        values = np.asarray(self.activation(values[..., None]), dtype=below.dtype)
        values /= below.dtype.type(math.sqrt(below.shape[1]))
        return values


@record
class PreconditionedSecondLayer:
    """One preconditioned step, or two, on a layer whose weights start at zero."""

    width: int = whole(100, help="Number of neurons of the layer.")
    steps: int = whole(
        1, at_most=2,
        help="After one step all neurons are one function q; a second step, on y q, adds another.",
    )  # fmt: skip
    ridge: float | None = number(None, at_least=0, optional=True, help=_RIDGE)
    activation: AsLink = function("relu(z)", help="Activation of the layer below.")
    bias: float = number(2.0, above=0, help=_BIAS)

    def learn(self, below: Blocks, y: NDArray[Any], seed: int, place: int) -> Trained:
        """Train on pre-activations of the layer below.

        Parameters
        ----------
        below : callable
            Returns the blocks (rows, p) of the pre-activations, anew at each call.
        y : array, shape (n,)
            Labels.
        seed, place : int
            The seed of the run and the number of the layer, for its random numbers.
        """
        features = Features(self.activation, self.bias, seed, place)
        fits = [_fit(features, below, y[None], self.ridge)]
        if self.steps == 2:
            first = fits[0].left_out[0]
            fits.append(_fit(features, below, ((y - y.mean()) * first)[None], self.ridge))
        left = np.concatenate([f.left_out for f in fits]).T
        spread = spread_over_neurons(left, self.width, seed, place)

        def functions(u: NDArray[Any]) -> NDArray[Any]:
            phi = features(u)
            return np.concatenate([fit(phi) for fit in fits], axis=1)

        return Trained(functions, spread, spread(left.astype(np.float32)), fits[0].ridge[0])


@record
class RidgeReadout:
    """Ridge regression of the labels on the features of the layer below."""

    ridge: float | None = number(None, at_least=0, optional=True, help=_RIDGE)
    activation: AsLink = function("relu(z)", help="Activation of the layer below.")
    bias: float = number(2.0, above=0, help=_BIAS)

    def learn(self, below: Blocks, y: NDArray[Any], seed: int, place: int) -> Trained:
        """Train on pre-activations of the layer below; see `PreconditionedSecondLayer.learn`."""
        features = Features(self.activation, self.bias, seed, place)
        fit = _fit(features, below, y[None], self.ridge)

        return Trained(lambda u: fit(features(u)), same, fit.left_out.T, fit.ridge[0])


def spread_over_neurons(
    left: NDArray[Any], width: int, seed: int, place: int, size: float = 1.0
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return the map of functions q (n, k), standardised, to neurons (n, width) by weights w3.

    Parameters
    ----------
    left : array, shape (n, k)
        The functions at training samples, each of a fit that has not seen it.
    width, seed, place : int
        Number of neurons, seed of the run and number of the layer.
    size : float
        Standard deviation of the random weights.
    """
    centre, scale = left.mean(axis=0), np.maximum(left.std(axis=0), 1e-12)
    w3 = size * np.random.default_rng([seed, 32, place]).standard_normal((left.shape[1], width))
    return lambda q: np.asarray(((q - centre) / scale) @ w3, dtype=q.dtype)


def same(q: NDArray[Any]) -> NDArray[Any]:
    """Return the argument: readouts pass on what they have fitted."""
    return q


def _fit(features: Features, below: Blocks, labels: NDArray[Any], ridge: float | None) -> Fit:
    return fit_by_leave_one_out(lambda: (features(u) for u in below()), labels, ridge)
