"""One neuron of the whitened flow on n samples, without the samples: a chain that is exact in law.

With white samples G, G^T G = n, the fields h = G u of a neuron move in the span V of the samples'
coordinates, a subspace of R^n of dimension d:

    h <- h + 2 step (P_V C - h (h . C) / n),  C = (y - sigma(h)) sigma'(h),  then |h|^2 = n.

Of normal samples x = Sigma^(1/2) g only two vectors of V are known at the start: the arguments z of
the labels and the rest of the first field, h = rho_0 z + (1 - rho_0^2)^(1/2) xi, both standard
normal. The other d - 2 directions of V are uniform beside these. So Sigma, its spikes and their
alignment act through rho_0 alone, and P_V is found where it is asked for: the part f of C beyond
all earlier vectors, of unit length, has P_V f = b f + (b (1 - b))^(1/2) f' with
b ~ Beta((d - k) / 2, (n - d - m) / 2), k and m the numbers of known directions in V and outside,
and f' uniform beside f and the known ones. A step costs n times the number of earlier steps.

At the end h = Z a, Z the samples in the coordinates of the population. The part of h beyond z and
xi has a uniform direction that does not depend on the lengths of Z there, so that its part of a has
the squared length |rest of h|^2 / chi^2 with n - d + 1 degrees of freedom, and the correlation in
the population is a . v / |a|, v the label's direction.

References
----------
Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023, algorithm 1; Lu, IEEE Trans. Inf. Theory 67
(2021), for matrices that are found where they are asked for.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel
from learnability.labels.link import Link

__all__ = ["chain_bytes", "chained_correlation"]


def chain_bytes(n: int, d: int, count: int) -> float:
    """Return the memory of the chain of n samples in dimension d after a number of steps."""
    return 4.0 * n * (2 * min(count, d) + 8)


def chained_correlation(
    channel: Channel,
    activation: Link,
    sizes: tuple[int, int],
    start: float,
    step: float,
    count: int,
    rng: np.random.Generator,
) -> float:
    """Return the correlation of one neuron with the argument of the label after the steps.

    Parameters
    ----------
    channel : Channel
        The law of the label given one coordinate.
    activation : Link
        The function sigma.
    sizes : tuple of int
        Samples n and dimension d, n > d > 1.
    start : float
        The correlation rho_0 of the neuron at time 0.
    step : float
        Time of a step.
    count : int
        Number of steps.
    rng : Generator
        Source of all randomness.
    """
    n, d = sizes
    slope = activation.derivative()
    z, xi = (rng.standard_normal(n, dtype=np.float32) for _ in range(2))
    y = np.asarray(channel.sample(z.astype(float)[:, None], rng), dtype=np.float32)
    span = _Span(z, xi, d, count)
    h = _scaled(start * z + math.sqrt(1 - start**2) * xi)
    with np.errstate(all="ignore"):  # Divergence ends as NaN.
        for _ in range(count):
            pull = ((y - activation(h[:, None])) * slope(h[:, None])).astype(np.float32)
            back = np.float32(float(h @ pull) / n)
            h = _scaled(h + np.float32(2 * step) * (span.project(pull, rng) - back * h))
    return span.correlation(h, rng)


class _Span:
    """The subspace V as far as it is known.

    Parameters
    ----------
    z, xi : array, shape (n,)
        Two of its vectors.
    d : int
        Its dimension.
    count : int
        The number of vectors that will be projected.
    """

    def __init__(self, z: NDArray[Any], xi: NDArray[Any], d: int, count: int) -> None:
        self.n, self.d = len(z), d
        self.most = min(count, d - 2, self.n - d)
        self.inside = np.empty((self.most + 2, self.n), dtype=np.float32)
        self.outside = np.empty((self.most, self.n), dtype=np.float32)
        self.seen = 0
        first = z / np.linalg.norm(z)
        rest = xi - (first @ xi) * first
        self.inside[0], self.inside[1] = first, rest / np.linalg.norm(rest)
        # Coordinates of z and xi, and those of the columns beside them, in this basis.
        self.corner = np.array([
            [float(np.linalg.norm(z)), float(first @ xi)], [0.0, float(np.linalg.norm(rest))]
        ])  # fmt: skip

    def project(self, vector: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Return P_V of a vector, and keep what this tells of V."""
        k = self.seen
        known, lost = self.inside[: k + 2], self.outside[:k]
        if k == self.d - 2:  # All of V is known.
            return np.asarray((known @ vector) @ known)
        if k == self.n - self.d:  # All that is not in V is known.
            return np.asarray(vector - (lost @ vector) @ lost)
        pair = np.stack([vector, rng.standard_normal(self.n, dtype=np.float32)])
        along = (pair @ known.T) @ known
        new, other = pair - along - (pair @ lost.T) @ lost
        length = float(np.linalg.norm(new))
        new /= length
        other -= (new @ other) * new
        other /= np.linalg.norm(other)
        left = self.d - 2 - k
        share = rng.beta(left / 2, (self.n - self.d - k) / 2)
        near, far = np.float32(math.sqrt(share)), np.float32(math.sqrt(1 - share))
        self.inside[k + 2], self.outside[k] = near * new + far * other, far * new - near * other
        self.seen += 1
        return np.asarray(along[0] + np.float32(length) * near * self.inside[k + 2])

    def correlation(self, h: NDArray[Any], rng: np.random.Generator) -> float:
        """Return the correlation in the population of a neuron with fields h in V."""
        own = self.inside[:2].astype(float) @ h
        beyond = math.sqrt(max(float(h @ h) - float(own @ own), 0.0))
        rest = beyond / math.sqrt(rng.chisquare(self.n - self.d + 1)) if self.d > 2 else 0.0
        two = np.linalg.solve(self.corner, own - rest * rng.standard_normal(2))
        return float(two[0] / math.hypot(*two, rest))


def _scaled(h: NDArray[Any]) -> NDArray[Any]:
    """Return fields of mean square 1."""
    return np.asarray(h * (math.sqrt(len(h)) / np.linalg.norm(h)), dtype=np.float32)
