"""Counts with a rate that depends on z, and finitely many labels of latent variables."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError, LinkError
from learnability.labels.finite_laws import FiniteLaw, where, with_latents
from learnability.labels.laws import TAIL_REACH, probe_points

if TYPE_CHECKING:
    from learnability.labels.link import Link

__all__ = ["CellLaw", "PoissonLaw"]

Array = NDArray[np.float64]

_LARGEST_RATE = 2000.0


class PoissonLaw(FiniteLaw):
    """Counts: y is Poisson with a rate that depends on z.

    Labels beyond the largest count as the largest; their total probability is below 1e-10.

    Parameters
    ----------
    rate : Link
        The rate, a function of r + latents variables that is nowhere negative.
    latents : int
        Number of latent variables among them, the last ones.
    name : str
        The text.
    """

    kind: ClassVar[str] = "counts"

    def __init__(self, rate: Link, latents: int = 0, name: str = "") -> None:
        at = probe_points(rate.r, [rate])
        found = np.asarray(rate(at), dtype=float)
        wrong = ~(found >= 0)
        if wrong.any():
            k = int(np.argmax(wrong))
            raise LinkError(
                f"{name} is not a law of a label: its rate is {found[k]:.4g} at "
                f"{where(at[k], rate.r - latents)}, but a rate is at least 0."
            )
        size = np.linalg.norm(at, axis=1)
        largest = float(found[size <= TAIL_REACH].max())
        if not largest <= _LARGEST_RATE:
            raise LinkError(
                f"The rate of {name} reaches {largest:.4g} within {TAIL_REACH} standard "
                f"deviations, but counts are computed for rates up to {_LARGEST_RATE:g}: scale it "
                "down."
            )
        top = math.ceil(largest + 9 * math.sqrt(largest) + 25)
        mean = rate if not latents else None
        self._fill(
            tuple(map(float, range(top + 1))), (rate,), rate.r - latents, latents, name, mean
        )

    @property
    def values(self) -> tuple[float, ...] | None:
        """None, because there are infinitely many labels."""
        return None

    def _log_chances(self, rate: Any, counts: Any, xp: Any) -> Any:
        from learnability.gaussian.particles import special

        safe = xp.maximum(rate, 1e-30)
        return counts * xp.log(safe) - rate - special(xp).gammaln(counts + 1.0)

    def probabilities(self, z: Any, xp: Any = np) -> Any:
        """Return p_k at points (..., r + latents) of visible and latent coordinates, (K, ...)."""
        rate = self.fields[0](z)
        counts = xp.arange(len(self.labels) - 1.0).reshape(-1, *(1,) * rate.ndim)
        found = xp.exp(self._log_chances(rate, counts, xp))
        return xp.concatenate([found, xp.clip(1 - found.sum(axis=0), 0.0, 1.0)[None]])

    def likelihood(self, y: Any, z: Any, xp: Any = np) -> Any:
        """Return P(y | z) of counts (...) at points (..., r + latents)."""
        return xp.exp(self._log_chances(self.fields[0](z), y, xp))

    @property
    def constant(self) -> bool:
        """Whether the rate does not change between its breaks."""
        return self.fields[0].values is not None

    @cached_property
    def variance(self) -> Link:
        """Var(y | z), which is the rate unless that is random itself."""
        return self._moment(2) if self.latents else self.fields[0]

    def sample(self, z: Array, rng: np.random.Generator) -> Array:
        """Return counts (...) of hidden coordinates (..., r)."""
        rate = np.asarray(self.fields[0](with_latents(z, self.latents, rng)), dtype=float)
        if not (np.isfinite(rate).all() and rate.max(initial=0.0) < 1e15):
            raise LearnabilityError(f"{self.name} has rates that are not finite: nothing is drawn.")
        return rng.poisson(rate).astype(float)


class CellLaw(FiniteLaw):
    """Finitely many labels of a function of visible and latent coordinates.

    Parameters
    ----------
    core : Link
        The function, of r + latents variables.
    latents : int
        Number of latent variables, the last ones.
    name : str
        The text.
    """

    def __init__(self, core: Link, latents: int, name: str) -> None:
        values = core.values
        assert values is not None
        self._fill(values, (core,), core.r - latents, latents, name, None)

    @cached_property
    def core(self) -> Link:  # type: ignore[override]
        """The function of visible and latent coordinates."""
        return self.fields[0]

    @property
    def constant(self) -> bool:
        """Whether the probabilities do not change between their breaks: always."""
        return True

    def probabilities(self, z: Any, xp: Any = np) -> Any:
        """Return 1 where the label is y_k and 0 elsewhere, shape (K, ...)."""
        value = self.fields[0](z)
        middle = 0.5 * (np.array(self.labels[1:]) + np.array(self.labels[:-1]))
        owner = xp.searchsorted(xp.asarray(middle), value)
        return xp.stack([xp.where(owner == k, 1.0, 0.0) for k in range(len(self.labels))])

    def likelihood(self, y: Any, z: Any, xp: Any = np) -> Any:
        """Return 1 where the label is y, shape (...)."""
        value = self.fields[0](z)
        return xp.where(xp.abs(value - y) <= 1e-6 * (1 + xp.abs(y)), 1.0, 0.0)

    def sample(self, z: Array, rng: np.random.Generator) -> Array:
        """Return labels (...) of hidden coordinates (..., r)."""
        return np.asarray(self.fields[0](with_latents(z, self.latents, rng)))
