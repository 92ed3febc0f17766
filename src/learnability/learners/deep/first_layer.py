"""First layers: the hidden directions from the second moment of the labels, or by a few steps.

The matrix C = (1/n) sum (y - mean y)(x x^T - I) is c sum_i a_i w_i w_i^T plus noise whose spectrum
is a semicircle of radius 2 sqrt(d E[y^2] / n). Its eigenvectors of largest |eigenvalue| find the
directions above n* = d E[y^2] / c^2 samples, with M_W^2 = 1 - n*/n. Spherical steps on the
correlation loss with an even activation are a power iteration of C, with one half of the neurons
for each sign. Each step doubles the part of a row in the hidden subspace, so that about log d steps
suffice; with more, all rows collapse on the leading empirical eigenvectors. With the gradient
projected on the tangent space of the sphere the map is 1 + C - w.C w in place of 1 + C.

References
----------
Baik, Ben Arous, Peche, Ann. Probab. 33 (2005); Benaych-Georges, Nadakuditi, Adv. Math. 227 (2011).
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import Whole, declare, flag, number, record, whole
from learnability.labels.fields import AsLink, function
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.learners.deep.samples import Samples

__all__ = [
    "OracleFirstLayer",
    "RandomFirstLayer",
    "SpectralFirstLayer",
    "SphericalFirstLayer",
    "Steps",
    "spread_in_span",
]

LOG_COSH = "softplus(2*z) - z"
_PADDED = 1024  # Blocks are filled up to a multiple of this many rows.


def _rows(seed: int, p: int, d: int) -> NDArray[np.float32]:
    """Return rows on the unit sphere."""
    W = np.random.default_rng([seed, 21]).standard_normal((p, d), dtype=np.float32)
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    return W


@dataclass(frozen=True)
class Steps(Whole):
    """A number of steps, or "log" for log d of them, rounded up."""

    examples: ClassVar[tuple[Any, ...]] = ("log", 2, 3)

    at_least: float | None = 1

    @property
    def accepted(self) -> str:
        """What is accepted, with its article, for sentences and docs."""
        return f'{super().accepted} or "log"'

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        return 'int or "log"'

    def read(self, value: Any) -> Any:
        """Return the number, or the word.

        Raises
        ------
        ValueError
            When it is neither.
        """
        return value if isinstance(value, str) and value == "log" else super().read(value)


@record
class RandomFirstLayer:
    """Rows that stay as they are drawn, uniform on the sphere: features that do not learn."""

    width: int = whole(1000, help="Number of neurons.")

    def learn(self, samples: Samples) -> NDArray[np.float32]:
        """Return weights (width, d) with unit rows.

        Parameters
        ----------
        samples : Samples
            The samples of the run.
        """
        return _rows(samples.seed, self.width, samples.d)


@record
class OracleFirstLayer:
    """Rows uniform in the true subspace: what the later layers do once the first is perfect."""

    width: int | None = whole(
        1000, optional=True, help="Number of neurons; None for the directions themselves."
    )

    def learn(self, samples: Samples) -> NDArray[np.float32]:
        """Return weights (width, d) with unit rows; see `RandomFirstLayer.learn`."""
        W = next(samples.target.batches(samples.seed, 1, samples.d, dtype=np.float32)).W
        return spread_in_span(samples.seed, self.width, W)


@record
class SpectralFirstLayer:
    """Eigenvectors of the second moment of the labels, or neurons uniform in their span."""

    width: int | None = whole(
        1000,
        optional=True,
        help="Number of neurons; None for the eigenvectors, as many as hidden directions.",
    )

    def learn(self, samples: Samples) -> NDArray[np.float32]:
        """Return weights (width, d) with unit rows; see `RandomFirstLayer.learn`."""
        C = second_moment(samples)
        values, vectors = np.linalg.eigh(C)
        leading = np.argsort(-np.abs(values))[: samples.target.directions(samples.d)]
        return spread_in_span(samples.seed, self.width, vectors[:, leading].T.astype(np.float32))


@record
class SphericalFirstLayer:
    """Gradient steps on the correlation loss of one batch, with rows kept on the sphere."""

    width: int = whole(1000, help="Number of neurons.")
    steps: int | str = declare("log", Steps(), help='Number of steps; "log" is log d, rounded up.')
    activation: AsLink = function(
        LOG_COSH,
        help="Activation of the neurons while they are trained; an even one has no linear part.",
    )
    step: float | None = number(
        None, above=0, optional=True,
        help="Size of a step; the default 1 / (E[sigma''] c) doubles what a row has in the hidden "
        "subspace.",
    )  # fmt: skip
    projected: bool = flag(
        False,
        help="The gradient is projected on the tangent space of the sphere before the step; rows "
        "then gather in fewer steps.",
    )

    def learn(self, samples: Samples) -> NDArray[np.float32]:
        """Return weights (width, d) with unit rows; see `RandomFirstLayer.learn`."""
        path = self.path(samples)
        return path[-1]

    def path(self, samples: Samples, every: bool = False) -> list[NDArray[np.float32]]:
        """Return weights after the last step, or after every step.

        Parameters
        ----------
        samples : Samples
            The batch.
        every : bool
            Whether the weights after every step are kept, preceded by the start.
        """
        correlate = _correlation(self.activation.derivative())
        count = math.ceil(math.log(samples.d)) if self.steps == "log" else int(self.steps)
        size = self.step_size(samples) / samples.n
        W = _rows(samples.seed, self.width, samples.d)
        signs = np.ones(self.width, dtype=np.float32)
        if samples.target.signs != "ones":
            signs[1::2] = -1
        mean = samples.labels.mean()
        kept = [W]
        for _ in range(count):
            gradient = np.zeros_like(W)
            for X, y in samples:
                gradient += correlate(W, X, y - mean)
            W = self._stepped(W, gradient, np.float32(size) * signs[:, None])
            kept = [*kept, W] if every else [W]
        return kept

    def _stepped(
        self, W: NDArray[np.float32], gradient: NDArray[np.float32], sizes: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the rows after one step, back on the sphere."""
        with np.errstate(over="ignore", invalid="ignore"):
            gradient = gradient * sizes
            if self.projected:
                gradient -= np.sum(gradient * W, axis=1, keepdims=True) * W
            W = W + gradient
            length = np.linalg.norm(W, axis=1, keepdims=True)
        if not np.isfinite(length).all():
            raise LearnabilityError(
                "A step of the first layer is not finite: use a smaller `step`, or an activation "
                "that does not overflow."
            )
        W /= length
        return W

    def step_size(self, samples: Samples) -> float:
        """Return the size of a step on the mean of the batch.

        Parameters
        ----------
        samples : Samples
            The samples of the run.
        """
        if self.step is not None:
            return self.step
        curvature = abs(float(expand(self.activation, 2).tensors[2].sum()))
        c = samples.target.at(samples.d).second_order
        if curvature < 1e-9 or c < 1e-9:
            raise LearnabilityError(
                "The activation, or some feature of the target, has no part of degree 2, so that "
                "there is no default size of a step: give `step`, or use another activation."
            )
        return float(1 / (curvature * c))


@lru_cache(maxsize=16)
def _correlation(
    slope: Link,
) -> Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[np.float32]]:
    """Return (W, X, y) -> sum_i y_i sigma'(W x_i) x_i^T, compiled for blocks of few sizes."""
    import jax

    @jax.jit
    def product(W: Any, X: Any, y: Any) -> Any:
        return (slope((W @ X.T)[..., None]) * y) @ X

    def padded(W: NDArray[Any], X: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float32]:
        missing = -len(X) % _PADDED
        if missing:  # Samples of weight zero are added, so that few sizes are compiled.
            X = np.concatenate([X, np.zeros((missing, X.shape[1]), X.dtype)])
            y = np.concatenate([y, np.zeros(missing, y.dtype)])
        return np.asarray(product(W, X, y))

    return padded


def second_moment(samples: Samples) -> NDArray[np.float64]:
    """Return C = (1/n) sum (y - mean y)(x x^T - I), shape (d, d), summed over blocks."""
    mean = float(samples.labels.mean())
    total = np.zeros((samples.d, samples.d))
    for X, y in samples:
        total += (X * (y - np.float32(mean))[:, None]).T @ X
    return total / samples.n


def spread_in_span(seed: int, width: int | None, basis: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return unit rows uniform in the span of an orthonormal basis; without a width, the basis."""
    if width is None:
        return basis
    return np.asarray(_rows(seed, width, len(basis)) @ basis, dtype=np.float32)
