"""Laws of finitely many labels, or of counts, as soft cells.

The label y_k has the probability p_k(z), and all that theory needs of the law are Gaussian
integrals of the p_k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LinkError
from learnability.labels._latents import averaged
from learnability.labels.laws import Law, probe_points

if TYPE_CHECKING:
    from learnability.labels.link import Link

__all__ = ["FiniteLaw", "where", "with_latents"]

Array = NDArray[np.float64]

_AT_A_TIME = 2**24  # Probabilities that are computed at a time.
_SUM = 1e-9


class FiniteLaw(Law):
    """Finitely many labels, each with a probability that depends on z.

    Parameters
    ----------
    labels : sequence of float
        The labels, all different.
    probabilities : sequence of str, callable or Link
        The probability of each label: functions of z, nowhere negative, that add up to one.
    r : int, optional
        Number of hidden coordinates; needed when a probability is a callable.
    latents : int
        Number of latent variables among those of the probabilities, the last ones.
    name : str
        The name of the law in messages.
    given_mean : Link, optional
        E[y | z], where it has a simpler form than the sum over the labels.

    Examples
    --------
    >>> law = FiniteLaw([-1, 0, 1], ["sigmoid(z-1)", "1-sigmoid(z-1)-sigmoid(-z-1)",
    ...                 "sigmoid(-z-1)"])
    >>> law.values
    (-1.0, 0.0, 1.0)
    """

    kind: ClassVar[str] = "finite"

    labels: tuple[float, ...]
    fields: tuple[Link, ...]
    latents: int
    given_mean: Link | None

    def __init__(
        self,
        labels: Sequence[float],
        probabilities: Sequence[Any],
        r: int | None = None,
        *,
        latents: int = 0,
        name: str = "",
        given_mean: Link | None = None,
    ) -> None:
        from learnability.labels.link import Link

        try:
            values = tuple(float(y) for y in labels)
        except (TypeError, ValueError):
            raise LinkError(
                f"Labels were given as {labels!r}, but a list of different numbers is accepted."
            ) from None
        if len(set(values)) < len(values) or not all(map(math.isfinite, values)):
            raise LinkError(
                f"Labels were given as {list(values)}, but different finite numbers are accepted."
            )
        fields = [Link(p, r=None if isinstance(p, str | Link) else r) for p in probabilities]
        if any(link.law is not None for link in fields):
            raise LinkError("A probability was given as a random label, but a formula is needed.")
        size = max([r or 1, *(link.r for link in fields)])
        fields = [link if link.r == size else Link(link, r=size) for link in fields]
        if len(fields) != len(values):
            raise LinkError(
                f"{len(values)} labels and {len(fields)} probabilities were given, but each label "
                "needs its own."
            )
        order = np.argsort(values)
        shown = name or f"FiniteLaw of the labels {', '.join(f'{y:g}' for y in values)}"
        self._fill(
            tuple(values[k] for k in order),
            tuple(fields[k] for k in order),
            size - latents,
            latents,
            shown,
            given_mean,
        )
        self._check()

    def _fill(
        self,
        labels: tuple[float, ...],
        fields: tuple[Link, ...],
        r: int,
        latents: int,
        name: str,
        mean: Link | None,
    ) -> None:
        self.labels, self.fields, self.r, self.latents = labels, fields, r, latents
        self.name, self.given_mean = name, mean

    def __repr__(self) -> str:
        return self.name

    def _key(self) -> tuple[Any, ...]:
        return type(self), self.labels, self.fields, self.r, self.latents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FiniteLaw) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _check(self) -> None:
        """Refuse what is not a law: probabilities outside [0, 1], or that do not add up to one."""
        points = probe_points(self.r + self.latents, self.fields)
        chances = np.array([np.asarray(link(points), dtype=float) for link in self.fields])
        wrong = ~((chances >= -_SUM) & (chances <= 1 + _SUM))
        if wrong.any():
            k, at = np.argwhere(wrong)[0]
            raise LinkError(
                f"{self.name} is not a law of a label: the probability of {self.labels[k]:g} is "
                f"{chances[k, at]:.4g} at {where(points[at], self.r)}, but it must lie between 0 "
                "and 1."
            )
        off = np.abs(chances.sum(axis=0) - 1) > _SUM
        if off.any():
            at = int(np.argmax(off))
            raise LinkError(
                f"{self.name} is not a law of a label: its probabilities add up to "
                f"{chances[:, at].sum():.6g} at {where(points[at], self.r)}, but they must add up "
                "to 1."
            )

    @property
    def parts(self) -> tuple[Link, ...]:
        """The probabilities, or what they are made of."""
        return self.fields

    @property
    def carriers(self) -> tuple[Link, ...]:
        """Functions that hold every break of the probabilities."""
        return self.fields

    @property
    def values(self) -> tuple[float, ...] | None:
        """All labels, sorted."""
        return self.labels

    def each_probability(self, z: Array) -> Iterator[Array]:
        """Yield p_k, shape (...), label by label.

        Parameters
        ----------
        z : array, shape (..., r + latents)
            Visible and latent coordinates.
        """
        yield from self.probabilities(z)

    def probabilities(self, z: Any, xp: Any = np) -> Any:
        """Return p_k, shape (K, ...).

        Parameters
        ----------
        z : array, shape (..., r + latents)
            Visible and latent coordinates.
        xp : module
            ``numpy`` or ``jax.numpy``, the home of `z`.
        """
        return xp.clip(xp.stack([link(z) for link in self.fields]), 0.0, 1.0)

    def likelihood(self, y: Any, z: Any, xp: Any = np) -> Any:
        """Return P(y | z), 0 for a label that does not occur.

        Parameters
        ----------
        y : array, shape (...)
            Labels.
        z : array, shape (..., r + latents)
            Visible and latent coordinates.
        xp : module
            ``numpy`` or ``jax.numpy``, the home of `z`.
        """
        found = 0.0
        for label, link in zip(self.labels, self.fields, strict=True):
            same = xp.abs(y - label) <= 1e-6 * (1 + abs(label))
            found = found + xp.where(same, xp.clip(link(z), 0.0, 1.0), 0.0)
        return found

    @cached_property
    def constant(self) -> bool:
        """Whether the probabilities do not change between their breaks."""
        return all(link.values is not None for link in self.fields)

    @cached_property
    def breaks(self) -> tuple[Link, ...] | None:
        """Links whose zero sets hold every break of the probabilities; None when not known."""
        found: dict[Link, None] = {}
        for link in self.fields:
            if link.breaks is None:
                return None
            found.update(dict.fromkeys(link.breaks))
        return tuple(found)

    def marginal(self, z: Array) -> Array:
        """Return P(y_k | z), shape (K, n).

        Parameters
        ----------
        z : array, shape (n, r)
            Visible coordinates.
        """
        if not self.latents:
            return np.asarray(self.probabilities(z))
        return averaged(self.probabilities, z, self.latents, self.breaks, self.constant)

    @cached_property
    def mean(self) -> Link:
        """The regression function E[y | z]."""
        return self.given_mean or self._moment(1)

    @cached_property
    def variance(self) -> Link:
        """Var(y | z)."""
        return self._moment(2)

    def _moment(self, order: int) -> Link:
        from learnability.labels.link import Link

        breaks = None if self.latents else self.breaks
        return Link(FiniteMoment(self, order), r=self.r, breaks=breaks)

    def sample(self, z: Array, rng: np.random.Generator) -> Array:
        """Return labels of shape (...).

        Parameters
        ----------
        z : array, shape (..., r)
            Hidden coordinates.
        rng : numpy Generator
            The generator of the labels.
        """
        points = with_latents(z, self.latents, rng)
        return np.asarray(self.chosen(points, rng.random(z.shape[:-1])))

    @cached_property
    def core(self) -> Link:  # type: ignore[override]
        """The label as a function of z and of latent variables, the last of which chooses it."""
        from learnability.labels.link import Link

        return Link(_Chosen(self), r=self.r + self.latents + 1)

    def chosen(self, z: Any, u: Any, xp: Any = np) -> Any:
        """Return the labels (...) at quantiles u of the law.

        Parameters
        ----------
        z : array, shape (..., r + latents)
            Visible and latent coordinates.
        u : array, shape (...)
            Numbers between 0 and 1.
        xp : module
            ``numpy`` or ``jax.numpy``, the home of `z`.
        """
        total = xp.cumsum(self.probabilities(z, xp), axis=0)
        place = (total[:-1] <= u * total[-1]).sum(axis=0)
        return xp.asarray(self.labels, dtype=total.dtype)[place]

    def profile(self, z: Array) -> Array:
        """Return the probabilities (n, K).

        Parameters
        ----------
        z : array, shape (n, r)
            Hidden coordinates.
        """
        return self.marginal(z).T

    @property
    def mirror(self) -> Callable[[Array], Array] | None:
        """The function that reverses the order of the labels, where -y is a label whenever y is."""
        labels = np.array(self.labels)
        return _reversed if np.allclose(labels, -labels[::-1], atol=1e-12) else None

    def rotate(self, Q: Array) -> FiniteLaw:
        """Return the law of a label whose hidden coordinates are Q z.

        Parameters
        ----------
        Q : array, shape (r, r)
            An orthogonal matrix.
        """
        turn = np.eye(self.r + self.latents)
        turn[: self.r, : self.r] = Q
        found = object.__new__(type(self))
        fields = tuple(link.rotate(turn) for link in self.fields)
        mean = None if self.given_mean is None else self.given_mean.rotate(Q)
        found._fill(self.labels, fields, self.r, self.latents, f"{self.name} turned", mean)
        return found


@dataclass(frozen=True)
class FiniteMoment:
    """E[y | z] (order 1) or Var(y | z) (order 2) of a law of finitely many labels."""

    law: FiniteLaw
    order: int

    def __call__(self, z: Any) -> Any:
        """Return values (...) at points (..., r)."""
        from learnability.expressions.callables import namespace

        xp, law = namespace(z), self.law
        parts = len(law.labels) * np.size(z) // _AT_A_TIME + 1
        if xp is np and parts > 1 and np.size(z) > law.r:
            pieces = np.array_split(np.reshape(z, (-1, law.r)), parts)
            found = [self(piece) for piece in pieces if len(piece)]
            return np.concatenate(found).reshape(np.shape(z)[:-1])
        if law.latents:
            points = np.asarray(z, dtype=float).reshape(-1, law.r)
            chances: Any = law.marginal(points).reshape(-1, *np.shape(z)[:-1])
        else:
            chances = law.probabilities(z, xp)
        labels = xp.asarray(law.labels, dtype=chances.dtype)
        mean = xp.tensordot(labels, chances, axes=1)
        if self.order == 1:
            return mean
        return xp.maximum(xp.tensordot(labels**2, chances, axes=1) - mean**2, 0.0)


@dataclass(frozen=True)
class _Chosen:
    """(z, latent variables) -> label, at the normal quantile of the last variable."""

    law: FiniteLaw

    def __call__(self, points: Any) -> Any:
        """Return labels (...) at points (..., r + latents + 1)."""
        from learnability.expressions.callables import namespace
        from learnability.gaussian.particles import special

        xp = namespace(points)
        return self.law.chosen(points[..., :-1], special(xp).ndtr(points[..., -1]), xp)


def where(point: ArrayLike, r: int) -> str:
    """Return a point in words."""
    row = [float(f"{x:.4g}") for x in np.atleast_1d(point)]
    latent = f", latent {row[r:]}" if len(row) > r else ""
    return f"z = {row[0] if r == 1 else row[:r]}{latent}"


def with_latents(z: Array, latents: int, rng: np.random.Generator) -> Array:
    """Return points (..., r) with fresh latent variables after their coordinates."""
    if not latents:
        return z
    return np.concatenate([z, rng.standard_normal((*z.shape[:-1], latents))], axis=-1)


def _reversed(chances: Array) -> Array:
    return chances[:, ::-1]
