"""The law P(y | z) of a link, or of a random label, with additive Gaussian label noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError, refuse
from learnability.fields import is_number
from learnability.gaussian.hermite_products import multi_indices, root_factorials
from learnability.gaussian.sections import Section
from learnability.labels._checks import as_points
from learnability.labels.conditional import (
    MANY_SAMPLES,
    ConditionalMoments,
    conditional_law,
    conditional_moments,
)
from learnability.labels.hermite import expand, symmetric_tensor
from learnability.labels.laws import Law
from learnability.labels.link import Link
from learnability.labels.posterior import Posterior, checked_posterior, evaluate, scheme_of

__all__ = ["Channel", "checked_frame", "checked_noise"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Channel:
    """The channel y = g(z) + sqrt(noise) xi, with xi standard normal.

    A link with a law of its own stands for that law. Where its only randomness is added Gaussian
    noise, that noise becomes part of `noise`.

    Parameters
    ----------
    link : Link or str
        The link g, or a random label.
    noise : float
        Variance of the label noise, at least zero.
    """

    link: Link
    noise: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.link, Link):
            object.__setattr__(self, "link", Link(self.link))
        object.__setattr__(self, "noise", checked_noise(self.noise))
        if self.law is not None and self.law.kind == "density" and self.noise:
            raise LearnabilityError(
                f"Gaussian noise was added to {self.law.name}, but a density already includes all "
                "its noise."
            )
        added = None if self.law is None else self.law.added
        if self.law is not None and added is not None:
            object.__setattr__(self, "noise", self.noise + added)
            object.__setattr__(self, "link", self.law.mean)

    @property
    def law(self) -> Law | None:
        """The law of a random label; None for a function with Gaussian noise."""
        return self.link.law

    @property
    def core(self) -> Link:
        """The label without `noise`, a function of z and of standard normal latents after it."""
        return self.link if self.law is None else self.law.core

    @property
    def latents(self) -> int:
        """Number of normal variables besides z that make a label; that of the noise is the last."""
        return self.core.r - self.link.r + (self.noise > 0)

    def labels(self, z: Array, latents: Array) -> Array:
        """Return the labels that given latent variables make.

        Parameters
        ----------
        z : array, shape (..., r)
            Hidden coordinates.
        latents : array, shape (..., latents)
            Standard normal latent variables.
        """
        core = self.core
        inside = latents[..., : core.r - self.link.r]
        y = np.asarray(core(np.concatenate([z, inside], axis=-1)), dtype=float)
        return y + math.sqrt(self.noise) * latents[..., -1] if self.noise else y

    def variance(self, z: Array) -> Array:
        """Return Var(y | z), noise included, of shape (...).

        Parameters
        ----------
        z : array, shape (..., r)
            Hidden coordinates.
        """
        if self.law is None:
            return np.full(np.shape(z)[:-1], self.noise)
        return self.noise + np.asarray(self.law.variance(z), dtype=float)

    def sample(self, z: ArrayLike, rng: np.random.Generator) -> Array:
        """Return labels of hidden coordinates z of shape (..., r).

        Parameters
        ----------
        z : array_like, shape (..., r)
            Hidden coordinates.
        rng : numpy Generator
            The generator of the noise.
        """
        if self.law is None:
            y = np.asarray(self.link(z))
        else:
            y = self.law.sample(as_points(z, self.link.r, np), rng)
        return y + math.sqrt(self.noise) * rng.standard_normal(y.shape) if self.noise else y

    @property
    def label_mean(self) -> float:
        """E[y]."""
        return expand(self.link, 0).mean

    @property
    def label_variance(self) -> float:
        """Var(y), noise included."""
        return expand(self.link, 0).variance + self.label_noise

    @property
    def label_noise(self) -> float:
        """E Var(y | z): the noise, and the randomness of the label itself."""
        return self.noise + (0.0 if self.law is None else expand(self.law.variance, 0).mean)

    def zeta(self, order: int, y: ArrayLike) -> Array:
        """Return E[He_k(z) | y], what a label says about the hidden coordinates.

        Parameters
        ----------
        order : int
            The order k >= 1.
        y : array_like, shape (...)
            Labels.

        Returns
        -------
        array, shape (..., r, ..., r) with k axes of length r
            NaN for labels that do not occur. For a continuous label of a link with r >= 2 it is
            a regression on 2**22 samples, with an error of order 1e-3.
        """
        labels = np.asarray(y, dtype=float)
        products = _law(self.link, self.noise, order)(labels.ravel())
        scale = root_factorials(multi_indices(self.link.r, order))
        tensors = [symmetric_tensor(row, self.link.r, order) for row in products * scale]
        return np.array(tensors).reshape(labels.shape + (self.link.r,) * order)

    def G(self, y: ArrayLike) -> Array:
        """Return E[z z^T - I | y], shape (..., r, r).

        Parameters
        ----------
        y : array_like
            Labels.
        """
        return self.zeta(2, y)

    def posterior(self, y: ArrayLike, omega: ArrayLike, V: ArrayLike) -> Posterior:
        """Return the law of z ~ N(omega, V) given its label.

        Parameters
        ----------
        y : array_like, shape (N,)
            Labels.
        omega : array_like, shape (N, r)
            Means; r is at most 3.
        V : array_like, shape (r, r)
            Common covariance, positive definite.

        Returns
        -------
        Posterior
            log Z_out, its gradient g_out in omega, and the derivative of that.
        """
        return evaluate(scheme_of(self), *checked_posterior(self.link.r, y, omega, V))

    def conditional_moments(
        self,
        orders: Sequence[int],
        known: ArrayLike | None = None,
        samples: int = MANY_SAMPLES,
    ) -> dict[int, ConditionalMoments]:
        """Return E[zeta_k zeta_k^T] of zeta_k(y) = E[h_k(z) | y, known coordinates].

        Parameters
        ----------
        orders : sequence of int
            Orders k >= 1 of the orthonormal Hermite products.
        known : array_like, shape (j, r), optional
            Orthonormal rows: the directions that are known.
        samples : int
            Base-two logarithm of the number of samples, where samples are used.

        Returns
        -------
        dict
            Order -> ConditionalMoments.
        """
        if any(isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1 for k in orders):
            raise LearnabilityError(
                f"`orders` was given as {list(orders)!r}, but whole numbers from 1 are accepted."
            )
        frame = checked_frame(known, self.link.r)
        whole = Section.whole(self.link)
        return conditional_moments(whole, self.noise, list(orders), frame, samples)


@lru_cache(maxsize=32)
def _law(link: Link, noise: float, order: int) -> Callable[[Array], Array]:
    return conditional_law(Section.whole(link), noise, order)


def checked_frame(known: ArrayLike | None, r: int) -> Array:
    """Return known directions as an array (j, r) of orthonormal rows, j < r.

    Raises
    ------
    LearnabilityError
        When the shape is wrong, or the rows are not orthonormal.
    """
    frame = np.zeros((0, r)) if known is None else np.atleast_2d(np.asarray(known, dtype=float))
    if frame.ndim != 2 or frame.shape[1] != r or len(frame) >= r:
        raise LearnabilityError(
            f"`known` has shape {frame.shape}, but (j, {r}) with j < {r} is accepted."
        )
    if not np.allclose(frame @ frame.T, np.eye(len(frame)), atol=1e-8):
        raise LearnabilityError("`known` must have orthonormal rows.")
    return frame


def checked_noise(noise: float) -> float:
    """Return the noise as a float.

    Raises
    ------
    LearnabilityError
        When it is not a finite variance.
    """
    if not is_number(noise) or noise < 0:
        raise refuse("noise", noise, "a finite variance of at least 0")
    return float(noise)
