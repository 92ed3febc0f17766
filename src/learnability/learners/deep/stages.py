"""Layers over the first: a preconditioned step on the second, and readouts.

A layer sees the pre-activations of the one below, adds random biases, applies its activation and
regresses the labels on the features so made. The preconditioned step on second-layer weights that
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

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.learners.deep._leave_one_out import Fit, fit_by_leave_one_out
from learnability.learners.deep.first_layer import checked_width
from learnability.learners.networks.activations import (
    checked_activation,
    checked_positive,
    is_number,
)

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
        Outputs at the training samples, each of a fit that has not seen it.
    ridge : float
        The ridge of the fit.
    """

    functions: Callable[[NDArray[Any]], NDArray[Any]]
    spread: Callable[[NDArray[Any]], NDArray[Any]]
    left_out: NDArray[Any]
    ridge: float

    def forward(self, below: NDArray[Any]) -> NDArray[Any]:
        """Pre-activations of the layer below (n, p) -> outputs (n, m)."""
        return self.spread(self.functions(below))


def _checked_ridge(ridge: Any) -> float | None:
    if ridge is not None and (not is_number(ridge) or not 0 <= ridge < math.inf):
        raise LearnabilityError(
            f"`ridge` was given as {ridge!r}, but a number of at least 0, or None for the one of "
            "least leave-one-out error, is accepted."
        )
    return None if ridge is None else float(ridge)


@dataclass(frozen=True)
class Features:
    """Features p^(-1/2) sigma(u + b) of pre-activations u, b uniform on an interval.

    Parameters
    ----------
    activation : Link
        sigma.
    spread : float
        Largest |b|.
    seed, place : int
        Of the run, and the number of the layer: the biases are the same at every call.
    """

    activation: Link
    spread: float
    seed: int
    place: int

    @property
    def key(self) -> list[int]:
        """Of the biases."""
        return [self.seed, 31, self.place]

    def biases(self, p: int) -> NDArray[np.float64]:
        """The biases b of p neurons."""
        rng = np.random.default_rng(self.key)
        return np.asarray(rng.uniform(-self.spread, self.spread, p))

    def __call__(self, below: NDArray[Any]) -> NDArray[Any]:
        """Features (n, p) of pre-activations (n, p)."""
        values = below + self.biases(below.shape[1]).astype(below.dtype)
        values = np.asarray(self.activation(values[..., None]), dtype=below.dtype)
        values /= below.dtype.type(math.sqrt(below.shape[1]))
        return values


@dataclass(frozen=True)
class PreconditionedSecondLayer:
    """One preconditioned step, or several, on a layer whose weights start at zero.

    Parameters
    ----------
    width : int
        Number of neurons of the layer.
    steps : int
        1: all neurons learn one function. 2: a second step on y q adds another.
    ridge : float, optional
        Of the preconditioner, over the mean eigenvalue of the features' Gram matrix; by default the
        one of least leave-one-out error.
    activation : str or Link
        Of the layer below.
    bias : float
        Biases are uniform between plus and minus this number.
    """

    width: int = 100
    steps: int = 1
    ridge: float | None = None
    activation: str | Link = "relu(z)"
    bias: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", checked_width(self.width))
        object.__setattr__(self, "activation", checked_activation(self.activation))
        object.__setattr__(self, "ridge", _checked_ridge(self.ridge))
        object.__setattr__(self, "bias", checked_positive("bias", self.bias))
        if isinstance(self.steps, bool) or self.steps not in (1, 2):
            raise LearnabilityError(
                f"`steps` was given as {self.steps!r}, but 1 and 2 are accepted."
            )

    def learn(self, below: Blocks, y: NDArray[Any], seed: int, place: int) -> Trained:
        """Train on pre-activations of the layer below.

        Parameters
        ----------
        below : callable
            Gives the blocks (rows, p) of the pre-activations, anew at each call.
        y : array, shape (n,)
            Labels.
        seed, place : int
            Of the run, and the number of the layer: of its random numbers.
        """
        assert isinstance(self.activation, Link)
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


@dataclass(frozen=True)
class RidgeReadout:
    """Ridge regression of the labels on the features of the layer below.

    Parameters
    ----------
    ridge : float, optional
        Over the mean eigenvalue of the features' Gram matrix; by default the one of least
        leave-one-out error.
    activation : str or Link
        Of the layer below.
    bias : float
        Biases are uniform between plus and minus this number.
    """

    ridge: float | None = None
    activation: str | Link = "relu(z)"
    bias: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "activation", checked_activation(self.activation))
        object.__setattr__(self, "ridge", _checked_ridge(self.ridge))
        object.__setattr__(self, "bias", checked_positive("bias", self.bias))

    def learn(self, below: Blocks, y: NDArray[Any], seed: int, place: int) -> Trained:
        """Train on pre-activations of the layer below; see `PreconditionedSecondLayer.learn`."""
        assert isinstance(self.activation, Link)
        features = Features(self.activation, self.bias, seed, place)
        fit = _fit(features, below, y[None], self.ridge)

        return Trained(lambda u: fit(features(u)), same, fit.left_out.T, fit.ridge[0])


def spread_over_neurons(
    left: NDArray[Any], width: int, seed: int, place: int
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """The map of functions q (n, k) to neurons (n, width): standardised, times random weights w3.

    Parameters
    ----------
    left : array, shape (n, k)
        The functions at training samples, each of a fit that has not seen it.
    width, seed, place : int
        Neurons, and the run and the layer of their weights.
    """
    centre, scale = left.mean(axis=0), np.maximum(left.std(axis=0), 1e-12)
    w3 = np.random.default_rng([seed, 32, place]).standard_normal((left.shape[1], width))
    return lambda q: np.asarray(((q - centre) / scale) @ w3, dtype=q.dtype)


def same(q: NDArray[Any]) -> NDArray[Any]:
    """Readouts hand on what they have fitted."""
    return q


def _fit(features: Features, below: Blocks, labels: NDArray[Any], ridge: float | None) -> Fit:
    return fit_by_leave_one_out(lambda: (features(u) for u in below()), labels, ridge)
