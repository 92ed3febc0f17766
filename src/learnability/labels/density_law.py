"""A density of the label that a user gives; nodes of an integral over the label are soft cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LinkError
from learnability.gaussian.rules import composite_legendre
from learnability.labels._checks import checked_breaks, checked_r, name_of
from learnability.labels.finite_laws import FiniteLaw
from learnability.labels.laws import probe_points
from learnability.labels.link import Link

__all__ = ["DensityLaw"]

Array = NDArray[np.float64]

_CLOSE = 1e-6
_PANELS = (16, 64, 256)
_NODES = 8
_AT_A_TIME = 2**22  # Densities that are computed at a time.
_INVISIBLE = -45.0  # A density below exp(-45) of its peak is left out.


class DensityLaw(FiniteLaw):
    """A label with a density that the user gives by its logarithm.

    Parameters
    ----------
    log_density : callable
        (y, z) -> log p(y | z), for labels (...) and points (..., r) that broadcast; -inf where
        the density vanishes.
    support : (float, float)
        Ends of the labels; infinite ones are accepted.
    r : int
        Number of hidden coordinates.
    breaks : sequence, optional
        Where the density jumps or has a kink as a function of z, as for `Link`; none by default.

    Examples
    --------
    >>> law = DensityLaw(lambda y, z: -np.abs(y - z[..., 0]) - np.log(2), (-np.inf, np.inf))
    >>> round(float(law.mean(np.array([[0.5]]))[0]), 6)
    0.5
    """

    kind: ClassVar[str] = "density"

    def __init__(
        self,
        log_density: Callable[[Any, Any], Any],
        support: tuple[float, float],
        r: int = 1,
        breaks: Sequence[Any] = (),
    ) -> None:
        self.log_density, self.support = log_density, (float(support[0]), float(support[1]))
        if not self.support[0] < self.support[1]:
            raise LinkError(
                f"`support` was given as {support!r}, but two numbers, the smaller first, are "
                "accepted."
            )
        size = checked_r(r)
        edges = tuple(
            item if isinstance(item, Link) else _break(item, size)
            for item in checked_breaks(list(breaks), size)
        )
        name = f"DensityLaw({name_of(log_density)})"
        self._edges = edges
        self._fill((), (), size, 0, name, None)
        y, width = self._nodes()
        self._widths = width
        self.labels = tuple(float(label) for label in y)

    def _key(self) -> tuple[Any, ...]:
        return type(self), self.log_density, self.support, self.r, self._edges

    def _log(self, y: Any, z: Any) -> Array:
        with np.errstate(all="ignore"):
            found, again = (np.asarray(self.log_density(y, z), dtype=float) for _ in range(2))
        if np.isnan(found).any() or not np.array_equal(found, again, equal_nan=True):
            raise LinkError(
                f"{self.name} gave a log density that is not a number, or a different one on a "
                "second call, but it must be a function, with -inf where the density vanishes."
            )
        return found

    def _nodes(self) -> tuple[Array, Array]:
        """Nodes and weights of integrals over the label, fine enough for the density."""
        points = probe_points(self.r)
        points = points[np.linalg.norm(points, axis=1) <= 7.5]
        points = points[:: max(len(points) // 200, 1)]
        low, high = self._range(points)
        before = None
        for panels in _PANELS:
            y, width = composite_legendre(self._panels(low, high, panels), np.inf, _NODES)
            total = width @ np.exp(self._log(y[:, None], points))
            settled = before is not None and np.abs(total - before).max() < _CLOSE
            if settled and np.abs(total - 1).max() < _CLOSE:
                return y, width
            before = total
        assert before is not None
        worst = int(np.argmax(np.abs(before - 1)))
        at = np.round(points[worst], 3).tolist()
        raise LinkError(
            f"{self.name} integrates to {before[worst]:.6g} over its support at z = {at}, but a "
            "density integrates to 1; one that jumps or is very narrow is not resolved."
        )

    def _panels(self, low: float, high: float, count: int) -> Array:
        """Ends of panels: equal ones, and ones that grow from the end of the support or from 0."""
        origin = next((end for end in self.support if math.isfinite(end)), 0.0)
        grown = np.logspace(-4, math.log10(high - low), count)
        ends = np.concatenate([np.linspace(low, high, count + 1), origin - grown, origin + grown])
        return np.unique(ends[(ends >= low) & (ends <= high)])

    def _range(self, points: Array) -> tuple[float, float]:
        """The part of the support on which the density can be seen."""
        scale = np.concatenate([[0.0], np.logspace(-3, 6, 1800)])
        low, high = self.support
        if math.isfinite(low) and math.isfinite(high):
            return low, high
        grid = np.concatenate([-scale[:0:-1], scale])
        if math.isfinite(low) or math.isfinite(high):
            grid = low + scale if math.isfinite(low) else high - scale[::-1]
        found = self._log(grid[:, None], points)
        seen = np.nonzero((found > found.max() + _INVISIBLE).any(axis=1))[0]
        if not len(seen) or seen[-1] + 1 >= len(grid) + math.isfinite(high):
            raise LinkError(
                f"{self.name} has no density that can be seen, or one that reaches beyond 1e6."
            )
        first, last = grid[max(seen[0] - 1, 0)], grid[min(seen[-1] + 1, len(grid) - 1)]
        return max(low, float(first)), min(high, float(last))

    @property
    def parts(self) -> tuple[Link, ...]:
        """The mean, the variance, and the density at some labels."""
        some = np.linspace(0, len(self.labels) - 1, 7).astype(int)[1:-1]
        densities = [Link(_At(self, self.labels[k]), r=self.r, breaks=self._edges) for k in some]
        return self.mean, self.variance, *densities

    @property
    def carriers(self) -> tuple[Link, ...]:
        """The density at one label, with the breaks."""
        middle = self.labels[len(self.labels) // 2]
        return (Link(_At(self, middle), r=self.r, breaks=self._edges),)

    @property
    def values(self) -> tuple[float, ...] | None:
        """None, because the label has a density."""
        return None

    @property
    def constant(self) -> bool:
        """Whether the density does not change between its breaks: always False."""
        return False

    @property
    def breaks(self) -> tuple[Link, ...] | None:
        """Links whose zero sets hold the breaks."""
        return self._edges

    def probabilities(self, z: Any, xp: Any = np) -> Any:
        """Return the density at the nodes times their weights, (K, ...); see `FiniteLaw`."""
        return self._weighted(slice(None), np.asarray(z, dtype=float))

    def each_probability(self, z: Array) -> Iterator[Array]:
        """Yield the same label by label; nodes are many, so a few are computed at a time.

        Parameters
        ----------
        z : array, shape (..., r)
            Hidden coordinates.
        """
        few = max(_AT_A_TIME * z.shape[-1] // max(z.size, 1), 1)
        for start in range(0, len(self.labels), few):
            yield from self._weighted(slice(start, start + few), z)

    def _weighted(self, labels: slice, z: Array) -> Array:
        y = np.array(self.labels[labels]).reshape(-1, *(1,) * (z.ndim - 1))
        width = self._widths[labels].reshape(y.shape)
        with np.errstate(all="ignore"):
            return np.asarray(width * np.exp(np.asarray(self.log_density(y, z), dtype=float)))

    def likelihood(self, y: Any, z: Any, xp: Any = np) -> Any:
        """Return p(y | z); see `FiniteLaw`."""
        return xp.exp(self.log_density(y, z))

    def sample(self, z: Array, rng: np.random.Generator) -> Array:
        """Return labels (...) of coordinates (..., r), by the inverse of the cumulative law."""
        return self.chosen(z, rng.random(z.shape[:-1]))

    def chosen(self, z: Any, u: Any, xp: Any = np) -> Array:
        """Return the labels (...) at quantiles u of the law, between its nodes; see `FiniteLaw`."""
        flat, level = np.asarray(z, dtype=float).reshape(-1, self.r), np.ravel(u)
        y, found = np.array(self.labels), np.empty(len(flat))
        for rows in np.array_split(np.arange(len(flat)), len(flat) * len(y) // 4_000_000 + 1):
            chance = self.probabilities(flat[rows])
            total = np.cumsum(chance, axis=0) - 0.5 * chance
            found[rows] = _between(total, y, level[rows])
        return found.reshape(np.shape(z)[:-1])

    @property
    def mirror(self) -> Callable[[Array], Array] | None:
        """The function that reverses the order of the labels, where the nodes are symmetric."""
        return super().mirror

    def rotate(self, Q: Array) -> FiniteLaw:
        """Return the law of a label whose hidden coordinates are Q z."""
        density = self.log_density
        turned = [link.rotate(Q) for link in self._edges]
        return DensityLaw(lambda y, z: density(y, z @ Q.T), self.support, self.r, turned)


class _At:
    """z -> p(y | z) at one label."""

    def __init__(self, law: DensityLaw, y: float) -> None:
        self.law, self.y = law, y

    def __call__(self, z: Any) -> Any:
        return self.law.likelihood(self.y, z)


def _between(total: Array, y: Array, level: Array) -> Array:
    """Where increasing columns (K, n) pass levels (n,), by linear interpolation in y (K,)."""
    above = np.clip((total < level).sum(axis=0), 1, len(y) - 1)
    column = np.arange(len(level))
    low, high = total[above - 1, column], total[above, column]
    share = np.clip((level - low) / np.maximum(high - low, 1e-300), 0.0, 1.0)
    return np.asarray(y[above - 1] + share * (y[above] - y[above - 1]))


def _break(item: Any, r: int) -> Link:
    from learnability.expressions.tree import Call, Const, Var

    if isinstance(item, Call | Const | Var):
        return Link._from_tree(item, r)
    return Link(item, r=r)
