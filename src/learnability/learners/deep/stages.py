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
from learnability.learners.activations import checked_activation, checked_positive, is_number
from learnability.learners.deep._leave_one_out import Fit, fit_by_leave_one_out
from learnability.learners.deep.first_layer import checked_width
from learnability.learners.mehler import mehler_trace, mehler_values
from learnability.learners.ridge import dual_path
from learnability.links.link import Link
from learnability.targets.protocol import checked_memory

__all__ = ["Features", "MehlerReadout", "PreconditionedSecondLayer", "RidgeReadout", "Trained"]

Blocks = Callable[[], Iterable[NDArray[Any]]]

_MARGIN = 30.0  # Smallest ridge over what rounding moves eigenvalues by.


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
        centre, scale = left.mean(axis=0), np.maximum(left.std(axis=0), 1e-12)
        w3 = np.random.default_rng([seed, 32, place]).standard_normal((len(fits), self.width))

        def functions(u: NDArray[Any]) -> NDArray[Any]:
            phi = features(u)
            return np.concatenate([fit(phi) for fit in fits], axis=1)

        def spread(q: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(((q - centre) / scale) @ w3, dtype=q.dtype)

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

        return Trained(lambda u: fit(features(u)), _same, fit.left_out.T, fit.ridge[0])


@dataclass(frozen=True)
class MehlerReadout:
    """Kernel ridge regression with the Mehler kernel of the layer below, taken as Gaussian.

    Parameters
    ----------
    ridge : float
        Of (K + ridge I) c = y; at least 0.3 keeps to the theory.
    """

    ridge: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "ridge", checked_positive("ridge", self.ridge))

    def learn(self, below: Blocks, y: NDArray[Any], seed: int, place: int) -> Trained:
        """Train on pre-activations of the layer below; see `PreconditionedSecondLayer.learn`."""
        n = len(y)
        u = np.concatenate(list(below()))
        mean = float(np.mean(y, dtype=np.float64))
        right = np.asarray(y, dtype=np.float64) - mean
        # Rounding moves eigenvalues by less than the unit of rounding times the trace.
        if self.ridge < _MARGIN * np.finfo(u.dtype).eps * n * mehler_trace(u.shape[1]):
            u = u.astype(np.float64)
        checked_memory(
            f"Kernel values of {n} samples", u.itemsize * n * (n + 4096.0), "use a RidgeReadout"
        )
        c = dual_path(mehler_values(u, u), right.astype(u.dtype), [self.ridge]).weights[0]

        def fitted(v: NDArray[Any]) -> NDArray[Any]:
            values = mehler_values(v, u.astype(v.dtype)) @ c.astype(v.dtype)
            return np.asarray(mean + values, dtype=v.dtype)[:, None]

        seen = np.asarray(mean + right - self.ridge * c)[:, None]
        return Trained(fitted, _same, seen, self.ridge)


def _same(q: NDArray[Any]) -> NDArray[Any]:
    """Readouts hand on what they have fitted."""
    return q


def _fit(features: Features, below: Blocks, labels: NDArray[Any], ridge: float | None) -> Fit:
    return fit_by_leave_one_out(lambda: (features(u) for u in below()), labels, ridge)
