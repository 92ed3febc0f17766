"""A single-index target whose inputs have one long direction, the hidden one or another.

x ~ N(0, I + theta mu mu^T) with |mu| = 1, and y = g(<beta, x> / sqrt(kappa)) + sqrt(noise) xi with
<mu, beta> = a and kappa = 1 + theta a^2, so that the argument of g is standard normal. In the frame
e1 = mu, e2 = (beta - a mu) / sqrt(1 - a^2) the inputs have the standardised coordinates (u, s), and

    <beta, x> / sqrt(kappa) = p u + q s,
    p = a sqrt((1 + theta) / kappa),  q = sqrt((1 - a^2) / kappa).

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, NeurIPS 2023; Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from learnability.errors import LearnabilityError
from learnability.labels.channel import Channel, checked_noise
from learnability.labels.link import Link
from learnability.targets.protocol import Sample, checked_seed, checked_sizes, hidden_directions
from learnability.targets.sampling import Draw, Sampled, stream

__all__ = ["Spike", "SpikedIndex"]

Array = NDArray[np.float64]


class Spike(NamedTuple):
    """The spike in one dimension d.

    Attributes
    ----------
    strength : float
        theta.
    alignment : float
        a = <mu, beta>.
    """

    strength: float
    alignment: float

    @property
    def variance(self) -> float:
        """kappa = <beta, Sigma beta>, the variance of <beta, x>."""
        return 1 + self.strength * self.alignment**2

    @property
    def cosines(self) -> tuple[float, float]:
        """p and q: the argument of the link is p u + q s."""
        a, theta = self.alignment, self.strength
        p = a * math.sqrt((1 + theta) / self.variance)
        return p, math.sqrt(max((1 - a) * (1 + a), 0.0) / self.variance)


@dataclass(frozen=True, init=False)
class SpikedIndex(Sampled):
    """Labels g(<beta, x> / sqrt(kappa)) of Gaussian inputs x ~ N(0, I + theta mu mu^T).

    Parameters
    ----------
    link : str, callable or Link
        The function g of one variable, whose argument is standard normal.
    spike : float, optional
        theta, at least 0; or give `spike_exponent`.
    alignment : float
        <mu, beta>, between -1 and 1.
    noise : float
        Variance of additive Gaussian label noise.
    spike_exponent : float, optional
        gamma_2: theta = d^gamma_2 in every dimension d.
    alignment_exponent : float, optional
        gamma_1: <mu, beta> = d^-gamma_1 in every dimension d.

    Notes
    -----
    A `Sample` has W = beta (1, d) and h = <beta, x> / sqrt(kappa).

    Examples
    --------
    >>> target = SpikedIndex("He2(z)", spike_exponent=0.5, alignment_exponent=0.25)
    >>> target.at(10_000)
    Spike(strength=100.0, alignment=0.1)
    >>> X, y, W, h = target.sample(seed=0, n=6, d=16)
    >>> bool(np.allclose(h, X @ W.T / np.sqrt(target.at(16).variance)))
    True
    """

    numerics_version: ClassVar[int] = 1  # Of the samples: stored runs of another are not used.

    link: Link
    spike: float | None = None
    alignment: float = 1.0
    noise: float = 0.0
    spike_exponent: float | None = None
    alignment_exponent: float | None = None

    def __init__(
        self,
        link: str | Callable[[Any], Any] | Link,
        spike: float | None = None,
        alignment: float = 1.0,
        noise: float = 0.0,
        spike_exponent: float | None = None,
        alignment_exponent: float | None = None,
    ) -> None:
        found = Link(link, r=1) if callable(link) and not isinstance(link, Link) else Link(link)
        if found.r != 1:
            raise LearnabilityError(
                f"`link` was given as {found!r} of {found.r} variables, but spiked data have "
                "labels of one variable."
            )
        if (spike is None) == (spike_exponent is None):
            raise LearnabilityError(
                "Give either `spike`, the strength of the spike, or `spike_exponent`, not both or "
                "neither."
            )
        if alignment_exponent is not None and alignment != 1.0:
            raise LearnabilityError("Give `alignment` or `alignment_exponent`, not both.")
        if spike is not None:
            spike = _number("spike", spike, 0.0, math.inf, "a finite number of at least 0")
        if spike_exponent is not None:
            spike_exponent = _number(
                "spike_exponent", spike_exponent, 0.0, math.inf, "a finite number of at least 0"
            )
        if alignment_exponent is not None:
            alignment_exponent = _number(
                "alignment_exponent", alignment_exponent, 0.0, math.inf,
                "a finite number of at least 0",
            )  # fmt: skip
        values = {
            "link": found,
            "spike": spike,
            "alignment": _number("alignment", alignment, -1.0, 1.0, "a number between -1 and 1"),
            "noise": checked_noise(noise),
            "spike_exponent": spike_exponent,
            "alignment_exponent": alignment_exponent,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def r(self) -> int:
        """Number of hidden directions."""
        return 1

    @property
    def channel(self) -> Channel:
        """The law P(y | z)."""
        return Channel(self.link, self.noise)

    @property
    def label_mean(self) -> float:
        """E[y]."""
        return self.channel.label_mean

    @property
    def label_variance(self) -> float:
        """Var(y), noise included."""
        return self.channel.label_variance

    def at(self, d: int) -> Spike:
        """The spike in dimension d, or a sentence."""
        if isinstance(d, bool) or not isinstance(d, int | np.integer) or d < 3:
            raise LearnabilityError(
                f"`d` was given as {d!r}, but a whole number from 3 is accepted for spiked data."
            )
        strength = self.spike if self.spike is not None else _power(d, self.spike_exponent)
        alignment = self.alignment
        if self.alignment_exponent is not None:
            alignment = 1 / _power(d, self.alignment_exponent)
        return Spike(strength, alignment)

    def frame(self, seed: int, d: int) -> Array:
        """e1 = mu and e2 of a seed, shape (2, d)."""
        self.at(d)
        return hidden_directions(stream(checked_seed(seed), 0), 2, d)

    def coordinates(self, seed: int, n: int, d: int, batch: int = 0) -> tuple[Array, Array]:
        """Standardised coordinates (u, s) along the frame, shape (n, 2), and labels (n,).

        They are those of `sample` (batch 0) and `batches`, without the inputs.

        Parameters
        ----------
        seed, n, d : int
            As in `sample`.
        batch : int
            Number of the batch.
        """
        c = stream(seed, 3, batch).standard_normal((n, 2))
        h = c @ np.array(self.at(d).cosines)
        return c, np.asarray(self.channel.sample(h[:, None], stream(seed, 2, batch)), dtype=float)

    def stratified(
        self, seed: int, n: int, d: int, *, first: int = 0, dtype: DTypeLike = np.float32
    ) -> Iterator[tuple[Sample, Array]]:
        """Batches whose hidden coordinate is spread evenly over [-6, 6], with normal weights.

        A mean over these has a small part of the error of one over plain samples when the link
        has heavy tails, such as that of He3.

        Parameters
        ----------
        seed, n, d, first, dtype
            As in `batches`.

        Yields
        ------
        (Sample, array of shape (n,))
            A batch without label noise, and weights that sum to one.
        """
        seed = checked_seed(seed)
        n, d = checked_sizes(3, n, d, None, dtype)
        p, q = self.at(d).cosines
        for batch in itertools.count(first):
            rng = stream(seed, 4, batch)
            h = 12.0 * (np.arange(n) + rng.uniform(size=n)) / n - 6.0
            weights = np.exp(-0.5 * h**2)
            k = rng.standard_normal(n)
            c = np.column_stack([p * h - q * k, q * h + p * k])
            y = np.asarray(self.link(h[:, None]), dtype=float)
            yield self._inputs(seed, batch, c, y, d, dtype), weights / weights.sum()

    @property
    def _least_dimension(self) -> int:
        return 3

    def _drawing(self, seed: int, d: int) -> Draw:
        def draw(batch: int, n: int, dtype: DTypeLike) -> Sample:
            return self._inputs(seed, batch, *self.coordinates(seed, n, d, batch), d, dtype)

        return draw

    def _inputs(
        self, seed: int, batch: int, c: Array, y: Array, d: int, dtype: DTypeLike
    ) -> Sample:
        """Inputs with the coordinates c along the frame and normal ones outside it."""
        spike, frame = self.at(d), self.frame(seed, d)
        a = spike.alignment
        beta = (a * frame[0] + math.sqrt(max(1 - a * a, 0.0)) * frame[1])[None]
        kind: Any = np.dtype(dtype).type
        X = stream(seed, 1, batch).standard_normal((len(c), d), dtype=kind)
        F = frame.astype(dtype)
        scaled = c * np.array([math.sqrt(1 + spike.strength), 1.0])
        X += (scaled.astype(dtype) - X @ F.T) @ F
        h = (c @ np.array(spike.cosines))[:, None]
        return Sample(X, y.astype(dtype), beta.astype(dtype), h.astype(dtype))


def _number(name: str, value: Any, low: float, high: float, accepted: str) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not low <= value <= high:
        raise LearnabilityError(f"`{name}` was given as {value!r}, but {accepted} is accepted.")
    return float(value)


def _power(d: int, exponent: float | None) -> float:
    try:
        return float(d) ** float(exponent or 0.0)
    except OverflowError:
        raise LearnabilityError(
            f"An exponent was given as {exponent!r}, but d to this power at d = {d} is no number: "
            "give a smaller one."
        ) from None
