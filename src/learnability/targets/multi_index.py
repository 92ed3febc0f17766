"""The multi-index target: labels of a law P(y | z), z the hidden coordinates of the inputs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from learnability.errors import LearnabilityError, refuse
from learnability.inputs import Inputs, Isotropic, Signs, Spiked
from learnability.labels.channel import checked_noise
from learnability.labels.hermite import expand
from learnability.labels.laws import Law
from learnability.labels.link import Link
from learnability.labels.relabelling import plain_channel
from learnability.randomness import stream
from learnability.targets.base import Draw, Sample, Target, beyond

__all__ = ["MultiIndex", "SparseParity", "SpikedIndex"]

_STANDARD = Isotropic()
_ENOUGH = 16
"""Labels that tell their spread."""


@dataclass(frozen=True, init=False)
class MultiIndex(Target):
    """Labels g(z), or random ones, of inputs with r hidden directions, z = W* x standardised.

    Parameters
    ----------
    link : str, callable, Link or Law
        The function g; a callable takes an (..., r) array. Or a random label, such as
        ``"sign(z + sqrt(0.5)*xi)"``, ``"bernoulli(sigmoid(2*z))"`` or a FiniteLaw.
    r : int, optional
        Number of hidden directions; needed for a callable.
    noise : float
        Variance of additive Gaussian label noise.
    inputs : Inputs
        The law of x: `Isotropic()`, `Spiked(...)`, `PowerLaw(...)` or `Signs(...)`.

    Notes
    -----
    In a `Sample` the rows of W (r, d) are the hidden directions, orthonormal, and h (n, r) are the
    hidden coordinates (W Sigma W^T)^(-1/2) W x, for isotropic inputs W x.

    Examples
    --------
    >>> target = MultiIndex("z1*z2")
    >>> X, y, W, h = target.sample(seed=0, n=6, d=4)
    >>> X.shape, W.shape, bool(np.allclose(y, h[:, 0] * h[:, 1]))
    ((6, 4), (2, 4), True)
    """

    kind: ClassVar[str] = "multi-index"
    numerics_version: ClassVar[int] = 2

    link: Link
    noise: float = 0.0
    inputs: Inputs = _STANDARD

    def __init__(
        self,
        link: str | Callable[[Any], Any] | Link | Law,
        r: int | None = None,
        noise: float = 0.0,
        inputs: Inputs | None = None,
    ) -> None:
        law = _STANDARD if inputs is None else inputs
        if not isinstance(law, Inputs):
            raise refuse("inputs", inputs, "a law of inputs such as Isotropic() or Spiked(4.0)")
        object.__setattr__(self, "link", Link(link, r=r))
        object.__setattr__(self, "noise", checked_noise(noise))
        object.__setattr__(self, "inputs", law)

    def simplified(self) -> MultiIndex:
        """Return the target with `noise` that includes the noise which its label merely adds."""
        channel = self.channel
        if channel.link is self.link:
            return self
        return MultiIndex(channel.link, noise=channel.noise, inputs=self.inputs)

    def unrounded(self) -> MultiIndex:
        """Return the target of a label that tells the same, and all of it in floating point.

        Outer functions that are one-to-one go: tanh(g) of a large g is rounded to 1, which hides g.
        """
        plain = plain_channel(self.channel)
        if plain == self.channel:
            return self
        return MultiIndex(plain.link, noise=plain.noise, inputs=self.inputs)

    @property
    def depends_on_dimension(self) -> bool:
        """Whether the law of the inputs changes with d."""
        return self.inputs.depends_on_dimension

    def check_dimension(self, d: int) -> None:
        """Refuse a dimension without room for the hidden directions and the marked axes.

        Raises
        ------
        LearnabilityError
            When d is too small.
        """
        least = self.inputs.least_dimension(self.r)
        if d < least:
            raise LearnabilityError(
                f"`d` was given as {d!r}, but a whole number of at least {least} is accepted for "
                f"r = {self.r} and {self.inputs.kind} inputs."
            )

    @property
    def label_mean(self) -> float:
        """E[y]."""
        if self.inputs.normal:
            return self.channel.label_mean
        return float(np.mean(self._labels_of_signs()))

    @property
    def label_variance(self) -> float:
        """Var(y), noise included."""
        if self.inputs.normal:
            return self.channel.label_variance
        return float(np.var(self._labels_of_signs())) + self.label_noise

    @property
    def link_of_inputs(self) -> Link:
        """The link: its variables are coordinates of the inputs."""
        return self.link

    @property
    def label_noise(self) -> float:
        """E Var(y | z), the least error of any predictor of the label."""
        if self.inputs.normal or self.link.law is None:
            return self.channel.label_noise
        return float(np.mean(self.link.law.variance(self._corners()))) + self.noise

    @property
    def signal_power(self) -> float | None:
        """E[g^2] of a polynomial of normal variables."""
        known = self.inputs.normal and self.link.polynomial is not None
        return expand(self.link, 0).energy if known else None

    @property
    def label_values(self) -> tuple[float, ...] | None:
        """All labels, sorted, where they are finitely many; None otherwise."""
        if self.inputs.normal or self.noise or self.link.law is not None:
            return super().label_values
        return tuple(float(value) for value in np.unique(self._labels_of_signs()))

    def degree_energies(self, degree: int, d: int | None = None) -> tuple[NDArray[Any], float]:
        """Return the energies |P_k g|^2 by degree of the standard normal hidden coordinates.

        Raises
        ------
        LearnabilityError
            When the hidden coordinates are signs, which have other orthogonal polynomials.
        """
        if not self.inputs.normal:
            raise LearnabilityError(
                f"Energies by degree were asked for {self.inputs.kind} inputs, but they belong to "
                "Hermite polynomials of normal coordinates."
            )
        found = expand(self.link, degree)
        powers = np.array([found.power(k) for k in range(degree + 1)])
        return powers, beyond(found.energy, powers)

    def _corners(self) -> NDArray[np.float64]:
        return np.array(list(itertools.product([-1.0, 1.0], repeat=self.r)))

    def _labels_of_signs(self) -> Any:
        return np.asarray(self.link(self._corners()), dtype=float)

    def _drawing(self, seed: int, d: int) -> Draw:
        directions = self.inputs.directions(seed, self.r, d)

        def draw(batch: int, n: int, dtype: DTypeLike) -> Sample:
            X, h = self.inputs.draw(stream(seed, 1, batch), n, directions, dtype)
            y = _in_precision(self.channel.sample(h, stream(seed, 2, batch)), dtype, self.link)
            return Sample(X, y, directions.hidden.astype(dtype), h)

        return draw


def _in_precision(y: NDArray[Any], dtype: DTypeLike, link: Link) -> NDArray[Any]:
    """Return labels in a type, unless it has not the digits for what tells them apart.

    Raises
    ------
    LearnabilityError
        When the usual label is rounded by a thousandth of the spread of labels, or more.
    """
    rounded = y.astype(dtype)
    if len(y) >= _ENOUGH and y.min() < y.max():
        size, spread = float(np.median(np.abs(y))), float(np.std(y, dtype=float))
        if spread < 1e3 * float(np.finfo(rounded.dtype).eps) * size:
            raise LearnabilityError(
                f"Labels of {link!r} are about {size:.3g} and differ by {spread:.3g}, which the "
                f"numbers of a run ({rounded.dtype}) round: take the constant away."
            )
    return rounded


def SpikedIndex(
    link: str | Callable[[Any], Any] | Link,
    spike: float | None = None,
    alignment: float = 1.0,
    noise: float = 0.0,
    spike_exponent: float | None = None,
    alignment_exponent: float | None = None,
) -> MultiIndex:
    """Return a target of one variable on inputs with one spike; see `Spiked`.

    Parameters
    ----------
    link : str, callable or Link
        The function g of one variable.
    spike : float, optional
        Strength theta of the spike; or give `spike_exponent`.
    alignment : float
        Cosine of the spike with the hidden direction.
    noise : float
        Variance of additive Gaussian label noise.
    spike_exponent : float, optional
        The strength is d to this power.
    alignment_exponent : float, optional
        The cosine is d to minus this power.

    Returns
    -------
    MultiIndex
    """
    r = 1 if callable(link) and not isinstance(link, Link) else None
    inputs = Spiked(spike, alignment, spike_exponent, alignment_exponent)
    return MultiIndex(link, r=r, noise=noise, inputs=inputs)


def SparseParity(k: int = 2, anisotropy: float = 0.0) -> MultiIndex:
    """Return the parity of k signs among d; see `Signs`.

    Parameters
    ----------
    k : int
        Number of signs, from 1 to 9.
    anisotropy : float
        From 0, all coordinates alike, to 1.

    Returns
    -------
    MultiIndex
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= 9:
        raise refuse("k", k, "a whole number of signs from 1 to 9")
    product = "*".join(f"z{i + 1}" for i in range(int(k))) if k > 1 else "z"
    return MultiIndex(product, inputs=Signs(anisotropy))
