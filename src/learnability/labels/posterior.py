"""The posterior of the hidden coordinates: z ~ N(omega, V) given a label y of the channel.

    Z = E P(y | z),   g_out = grad_omega log Z = V^{-1} E[z - omega | y],
    d g_out / d omega = V^{-1} Cov(z | y) V^{-1} - V^{-1}.

Boxes compute it exactly where they apply, and lines for every other link; random labels have
nodes weighted by their probabilities, or the scheme of a function of latent coordinates.

References
----------
Aubin, Maillard, Barbier, Krzakala, Macris, Zdeborova, NeurIPS 2018, equations (11) to (13).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.particles import COARSE, FINE, Resolution
from learnability.labels._box_posterior import BoxPosterior
from learnability.labels._law_posterior import PinnedPosterior, SoftPosterior
from learnability.labels._line_posterior import Coordinates, LinePosterior
from learnability.labels._planar_score import PlanarScore
from learnability.labels.laws import Law

if TYPE_CHECKING:
    from learnability.labels.channel import Channel

__all__ = [
    "COARSE",
    "FINE",
    "BoxPosterior",
    "Coordinates",
    "LinePosterior",
    "PlanarScore",
    "Posterior",
    "Resolution",
    "Scheme",
    "box_posterior",
    "checked_posterior",
    "evaluate",
    "scheme_of",
    "traceable",
]

Array = NDArray[np.float64]

MOST_DIRECTIONS = 3
"""The largest number of hidden directions for which posteriors are computed."""
MOST_ON_BOXES = 4
"""The same for links that are constant on boxes in all coordinates but one."""


class Posterior(NamedTuple):
    """The posterior of N samples.

    Attributes
    ----------
    log_z : array, shape (N,)
        Logarithm of the evidence Z_out.
    g : array, shape (N, r)
        g_out.
    slope : array, shape (N, r, r)
        Its derivative in omega.
    """

    log_z: Array
    g: Array
    slope: Array


class Scheme(Protocol):
    """A way to compute posteriors, in NumPy and JAX."""

    @property
    def channel(self) -> Channel:
        """The channel whose posteriors are computed."""
        ...

    def prepare(self, y: Array) -> dict[str, Array]:
        """What depends on the labels (N,) alone."""
        ...

    def moments(
        self, data: dict[str, Any], omega: Any, V: Any, xp: Any, resolution: Resolution = COARSE
    ) -> tuple[Any, Any, Any]:
        """Log Z (N,), E[z - omega] (r, N) and E[(z - omega)(z - omega)^T] (r, r, N)."""
        ...


def _scheme_of_law(channel: Channel, law: Law) -> Scheme:
    """Return nodes for finitely many labels; lines or boxes of all coordinates for functions."""
    latents = getattr(law, "latents", 1 if law.kind == "normal" else 0)
    size = law.r + latents
    if size > MOST_DIRECTIONS:
        raise LearnabilityError(
            f"The posterior of {law.name} has {size} hidden directions and latent variables, but "
            f"at most {MOST_DIRECTIONS} are computed."
        )
    if not law.integrated_by_core:
        return SoftPosterior(channel)
    from learnability.labels.channel import Channel

    return PinnedPosterior(channel, scheme_of(Channel(law.core, channel.noise)), law.r)


@lru_cache(maxsize=64)
def box_posterior(channel: Channel) -> BoxPosterior | None:
    """Return the scheme on boxes of a function of z, where that is exact."""
    few = channel.law is None and channel.link.r <= MOST_ON_BOXES
    return BoxPosterior.of(channel) if few else None


@lru_cache(maxsize=64)
def scheme_of(channel: Channel) -> Scheme:
    """Return the scheme for a channel: boxes where they are exact, else lines."""
    if channel.law is not None:
        return _scheme_of_law(channel, channel.law)
    r = channel.link.r
    boxes = box_posterior(channel)
    if boxes is None and r > MOST_DIRECTIONS:
        raise LearnabilityError(
            f"The posterior of {channel.link!r} has {r} hidden directions, but at most "
            f"{MOST_DIRECTIONS} are computed, or {MOST_ON_BOXES} of a link that is constant on "
            "boxes in all coordinates but one."
        )
    return LinePosterior(channel) if boxes is None else boxes


def checked_posterior(
    r: int, y: ArrayLike, omega: ArrayLike, V: ArrayLike
) -> tuple[Array, Array, Array]:
    """Return labels (N,), means (N, r) and covariance (r, r) as arrays.

    Raises
    ------
    LearnabilityError
        When a shape is wrong, or the covariance is not positive definite.
    """
    labels = np.atleast_1d(np.asarray(y, dtype=float))
    means = np.asarray(omega, dtype=float)
    covariance = np.atleast_2d(np.asarray(V, dtype=float))
    if labels.ndim != 1 or means.size != len(labels) * r or covariance.shape != (r, r):
        raise LearnabilityError(
            f"Labels of shape {labels.shape}, means of shape {np.shape(omega)} and a covariance of "
            f"shape {np.shape(V)} were given, but (N,), (N, {r}) and ({r}, {r}) are accepted."
        )
    if not all(np.isfinite(a).all() for a in (labels, means, covariance)):
        raise LearnabilityError("Labels, means and covariance must be finite.")
    if (
        not np.allclose(covariance, covariance.T, rtol=1e-9)
        or np.linalg.eigvalsh(covariance)[0] <= 0
    ):
        raise LearnabilityError("The covariance must be symmetric and positive definite.")
    return labels, means.reshape(len(labels), r), covariance


def evaluate(
    scheme: Scheme,
    y: ArrayLike,
    omega: ArrayLike,
    V: ArrayLike,
    resolution: Resolution = FINE,
) -> Posterior:
    """Return the posterior by a scheme, in NumPy.

    Parameters
    ----------
    scheme : Scheme
        From `scheme_of`.
    y : array_like, shape (N,)
        Labels.
    omega : array_like, shape (N, r)
        Means.
    V : array_like, shape (r, r)
        Common covariance, positive definite.
    resolution : Resolution
        How finely the integrals are taken.
    """
    y, omega, V = (np.asarray(a, dtype=float) for a in (y, omega, V))
    log_z, first, second = scheme.moments(scheme.prepare(y), omega.T, V, np, resolution)
    inverse = np.linalg.inv(V)
    centred = np.moveaxis(second, -1, 0) - first.T[:, :, None] * first.T[:, None, :]
    return Posterior(log_z, first.T @ inverse, inverse @ centred @ inverse - inverse)


def traceable(channel: Channel) -> bool:
    """Whether JAX can compile the scheme; a user's function may be written for NumPy alone."""
    import jax

    scheme = scheme_of(channel)
    if isinstance(scheme, PinnedPosterior):
        return traceable(scheme.scheme.channel)
    if isinstance(scheme, BoxPosterior):
        return True
    link = channel.link
    functions = (link, *link.gradient(), *(link.breaks or ()))
    if channel.law is not None:
        functions = channel.law.parts
    try:
        for function in functions:
            jax.eval_shape(function, jax.ShapeDtypeStruct((2, function.r), np.float32))
    except Exception:  # A user's function may raise anything on a tracer.
        return False
    return True
