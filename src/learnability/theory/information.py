"""The information I(M) = E[g_out g_out^T] of one label, by the best of the ways to compute it.

Links on boxes have exact integrals at diagonal overlaps, exact posteriors are integrated on
product rules, and every other link is integrated over its level sets and cells, which lines drawn
at random meet in four directions. Close to perfect recovery these cannot be resolved: there noisy
labels are integrated on a grid of z where that is fine enough, and else I(M) follows its limit law,
V I(M) ~ V^e with e = 0 for labels with a density, 1/2 for finitely many labels, 1 for noisy ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.labels.channel import Channel
from learnability.labels.posterior import box_posterior
from learnability.theory._box_information import FiniteInformation, RootInformation
from learnability.theory._level_information import FINE, ROUGH, LevelInformation
from learnability.theory._limit_information import BeyondResolved, sampled_slopes, share_of_slopes
from learnability.theory._line_information import (
    FEWER_LINES,
    FINE_LINES,
    ROUGH_LINES,
    LineInformation,
)
from learnability.theory._nearby_rule import NearbyRule
from learnability.theory._noisy_grid import NoisyGrid
from learnability.theory._noisy_line import NARROWEST, NoisyLine, noisy_line
from learnability.theory._quadrature_information import QuadratureInformation
from learnability.theory.cell_edges import label_atoms

__all__ = ["MOST_DIRECTIONS", "RESOLVED", "LabelInformation", "keeps_diagonal", "label_information"]

Array = NDArray[np.float64]
Correction = Callable[[Array], Array]

MOST_DIRECTIONS = 4
"""Most hidden directions of which the information is computed."""

RESOLVED = (1 - 1e-4, 0.97, 0.88, 0.995)
"""Largest overlap that level sets and cells resolve, for one to three directions; boxes of four."""
_ON_LINES = 0.75
"""The same for lines drawn at random, which meet level sets of four directions."""
_NOISY = 0.97
"""The same for level sets of one direction under label noise, whose posteriors have a width."""
_COARSE = 0.7
"""Coarseness of the rough rule of noisy labels."""
_PROBE = 0.5
_ON_BOXES = (1e-8, 1e-7, 1e-4, 5e-4)
"""Relative error of integrals on boxes, for one to four open directions."""
_PROBES = ((0.2, 0.5, 0.8), (0.5, 0.8), (0.5, 0.8), (0.1, 0.4, 0.75))
_EDGE = 0.981
"""Overlap of one direction at which the rules of noisy labels are least fine."""
_MISSED = (4.0, 0.1, 0.1, 1.0)
"""Relative error, over the mass that the rule of labels misses: for one direction at folds."""
_SAFETY = (2.0, 2.0, 3.0, 2.5)
"""The fine rule is closer to the truth than to the rough one; where a label jumps not by much."""
_FINE_GRID, _ROUGH_GRID = (0.75, 1.0), (1.1, 1.4)
"""Steps of grids of noisy labels for two and three directions, over those that are narrow."""
_FEWER, _SETTLED = (20_000, 10_000), 1e-5
"""Nodes of product rules that tell the error of a finer one, and when they tell all of it."""
_SMOOTH = 0.92
"""Largest overlap of some directions, beside others that are not found, of product rules."""
_BEYOND = (0.1, 0.1, 0.1, 0.4)
"""Relative error of what is told of perfect recovery by the law of the limit alone."""
_NEAR = (0.05, 0.05, 0.12, 0.12)
"""The rough rule is corrected by the fine one at an overlap this close."""
_CLOSELY, _OPEN, _SHUT = 2e-3, 0.01, 1e-3
"""The same at a fixed point; least overlap at which the two are compared; no information."""


def keeps_diagonal(channel: Channel) -> bool:
    """Return whether reflections that leave a law of labels as it is keep overlaps diagonal.

    Parameters
    ----------
    channel : Channel
        Whose symmetries are read.
    """
    r, law = channel.link.r, channel.law
    symmetries = channel.link.symmetries if law is None else law.symmetries
    flips = [s.signs for s in symmetries if s.permutation == tuple(range(r))]
    return all(any(f[i] * f[j] < 0 for f in flips) for i in range(r) for j in range(i))


@lru_cache(maxsize=32)
def label_information(channel: Channel) -> LabelInformation:
    """The information of a channel, with what it has computed."""
    if channel.law is not None:
        from learnability.theory._law_information import LawInformation

        return LawInformation(channel)
    return LabelInformation(channel)


@dataclass(frozen=True, eq=False)
class LabelInformation:
    """E[g_out g_out^T] as a function of the overlap M.

    Parameters
    ----------
    channel : Channel
        The link and its label noise, with at most four hidden directions.
    """

    channel: Channel

    def __post_init__(self) -> None:
        if self.r > MOST_DIRECTIONS:
            raise LearnabilityError(
                f"State evolution of {self.channel.link!r} has {self.r} hidden directions, but at "
                f"most {MOST_DIRECTIONS} are computed."
            )
        if self._on_lines and label_atoms(self.channel.link):
            raise LearnabilityError(
                f"State evolution of {self.channel.link!r} with {self.r} hidden directions is "
                "computed for labels that have a density, and for links that are constant on boxes "
                "in all coordinates but one: this one has labels of positive probability on cells "
                "that are no boxes."
            )

    @property
    def r(self) -> int:
        """Number of hidden directions."""
        return self.channel.link.r

    @cached_property
    def _on_lines(self) -> bool:
        """Whether level sets of four directions are met by lines drawn at random."""
        return self.r == MOST_DIRECTIONS and self.on_boxes is None

    @property
    def resolved(self) -> float:
        """Largest overlap that level sets and cells resolve."""
        if self._on_lines:
            return _ON_LINES
        if self.r > 1 or self.channel.noise == 0:
            return RESOLVED[self.r - 1]
        return 1 - NARROWEST if isinstance(self._levels, NoisyLine) else _NOISY

    @cached_property
    def keeps_diagonal(self) -> bool:
        """Whether reflections keep the overlap diagonal."""
        return keeps_diagonal(self.channel)

    @cached_property
    def on_boxes(self) -> Callable[[Array], Array] | None:
        """E[g_j^2] at diagonal overlaps q (r,), by exact integrals, where there are such."""
        scheme = box_posterior(self.channel)
        if scheme is None or not self.keeps_diagonal:
            return None
        finite = FiniteInformation(scheme)
        if scheme.smooth is None:
            return finite
        roots = RootInformation(scheme)
        if not scheme.flat_boxes[0]:
            return roots
        return (lambda q: finite(q) + roots(q)) if self.r == 1 else None

    @cached_property
    def saturation(self) -> float:
        """Relative error of integrals on boxes where labels are equal only to rounding."""
        scheme = box_posterior(self.channel)
        if scheme is None or scheme.smooth is None:
            return 0.0
        lost, M = RootInformation(scheme).blurred, _PROBE * np.eye(self.r)
        return lost / float((1 - _PROBE) * np.trace(self(M))) if lost > 0 else 0.0

    @cached_property
    def _quadrature(self) -> QuadratureInformation:
        return QuadratureInformation(self.channel)

    def _quadrature_error(self, M: Array) -> float:
        """Relative error of product rules, from those of fewer nodes.

        Where these do not agree the posterior is not smooth in the label, which ends the range of
        another piece: no product rule sees that, and level sets tell the error.
        """
        fine = self._quadrature(M)
        size = max(float(np.abs(fine).max()), 1e-300)
        fewer = [QuadratureInformation(self.channel, n)(M) for n in _FEWER]
        spread = max(float(np.abs(fine - other).max()) / size for other in fewer)
        if spread < _SETTLED:
            return max(spread, 1e-6)
        return max(spread, float(np.abs(fine - self._levels(M)).max()) / size)

    def _by_quadrature(self, M: Array) -> bool:
        """Whether posteriors are exact, and few enough variables are left to integrate over."""
        values = np.linalg.eigvalsh(M)
        known = int(np.count_nonzero(values > 1e-8))
        resolved = known in (0, self.r) or float(values[-1]) <= _SMOOTH
        few = self.r + (self.channel.noise > 0) + known <= 3
        return few and resolved and self._quadrature.exact

    @cached_property
    def _levels(self) -> LevelInformation | NoisyLine | LineInformation:
        if self._on_lines:
            return LineInformation(self.channel, FINE_LINES)
        return noisy_line(self.channel) or LevelInformation(self.channel, FINE)

    @property
    def exact(self) -> bool:
        """Whether only rounding and well-resolved quadratures limit it, at every overlap."""
        return self.exact_at(_PROBE * np.eye(self.r))

    def exact_at(self, M: Array) -> bool:
        """The same at one overlap."""
        return self.on_boxes is not None or self._by_quadrature(M)

    @cached_property
    def error(self) -> float:
        """Largest relative error of I(M), from two resolutions; that of the quadrature if exact."""
        if self.exact and self.on_boxes is not None:
            return _ON_BOXES[self.r - 1] + self.saturation
        if self.exact:
            return max(self._quadrature_error(q * np.eye(self.r)) for q in _PROBES[self.r - 1])
        gaps = []
        edge = (_EDGE, self.resolved) if self.r == 1 and self.channel.noise > 0 else ()
        other = self._other
        for probe in (*_PROBES[self.r - 1], *(q for q in edge if q <= self.resolved)):
            M = probe * np.eye(self.r)
            fine, mass = self._levels.with_mass(M)
            fine, rough = self._symmetric(fine, M), self._symmetric(other(M), M)
            missed = _MISSED[self.r - 1] * abs(mass - 1)
            gaps.append(float(np.abs(fine - rough).max() / np.abs(fine).max()) + missed)
        return _SAFETY[self.r - 1] * max(gaps) + self._tails

    @property
    def _tails(self) -> float:
        """E[x^2; |x| > reach] of the largest omega, which both resolutions leave out."""
        if isinstance(self._levels, NoisyLine):
            return 0.0
        resolution = FINE_LINES.omega if self._on_lines else FINE
        reach = resolution.omega_reach[self.r - 1]
        density = math.exp(-0.5 * reach**2) / math.sqrt(2 * math.pi)
        return 2 * reach * density + math.erfc(reach / math.sqrt(2))

    def error_at(self, M: Array) -> float:
        """The same at one overlap: it may be exact there, or taken from where it is resolved."""
        if self.exact or self.exact_at(M):
            return self.error if self.exact else self._quadrature_error(M)
        gap = self._anchor(M)[2] if self._anchors else 0.0
        return max(self._error_between(M), _SAFETY[self.r - 1] * gap)

    def _error_between(self, M: Array) -> float:
        """The same from the errors of resolved overlaps that are multiples of the identity."""
        least = max(1 - float(np.linalg.eigvalsh(M)[-1]), 1e-12) / (1 - self.resolved)
        if self.channel.noise > 0 and self.r > 1 and least < 1:
            fine, rough = (g(M) if g is not None else None for g in (self._grid, self._rough_grid))
            if fine is not None and rough is not None:
                gap = float(np.abs(fine - rough).max() / np.abs(fine).max())
                return max(self.error, _SAFETY[self.r - 1] * gap + self._tails)
            # I(M) grows with M, and no faster than 1 / V: where noise ends that is not told.
            return self.error + max(1 / least - 1, 0.0)
        return self.error + _BEYOND[self.r - 1] * max(1 - math.sqrt(least), 0.0)

    def __call__(self, M: Array) -> Array:
        """E[g_out g_out^T] at overlap M, shape (r, r)."""
        if self.on_boxes is not None:
            return np.diag(self.on_boxes(np.diag(M)))
        found = self._quadrature(M) if self._by_quadrature(M) else self._anywhere(M)
        return self._symmetric(found, M)

    def _symmetric(self, found: Array, M: Array) -> Array:
        """The average over the symmetries of the link that keep M."""
        turns = [s.matrix for s in self.channel.link.symmetries]
        turns = [P for P in turns if np.allclose(P @ M @ P.T, M, atol=1e-9)]
        return np.asarray(np.mean([P @ found @ P.T for P in turns], axis=0))

    def around(self, M: Array, closely: bool = False) -> Callable[[Array], Array]:
        """The same as a function that is smooth close to M, and best at it if closely."""
        if self.exact:
            return self
        if closely:
            self._anchor(M, _CLOSELY)
        correction = first = self._correction(M)
        if self._by_quadrature(M):  # It tells nothing of directions that are not open at M.
            exact, V = self._quadrature(M), self._root(M)
            then = NearbyRule.between(V @ exact @ V, first(V @ self._rough(M) @ V), _SHUT)
            correction = lambda rough: then(first(rough))  # noqa: E731
        return lambda near: self._symmetric(self._anywhere(near, correction), near)

    def finely(self, M: Array) -> Array:
        """The same by the fine rule at each overlap, for overlaps that it resolves."""
        return self(M) if self.exact_at(M) else self._symmetric(self._levels(M), M)

    def _anywhere(self, M: Array, correction: Correction | None = None) -> Array:
        """From level sets and cells; close to perfect recovery by the law of the limit."""
        values, frame = np.linalg.eigh(0.5 * (M + M.T))
        most = self.resolved
        if values[-1] <= most:
            return self._corrected(M, correction)
        on_grid = None if self._grid is None else self._grid(M)
        if on_grid is not None:
            return on_grid
        kept, variance = np.minimum(values, most), np.maximum(1 - values, 1e-12)
        # On the way to perfect recovery all steps start from the same overlap.
        ends = values[0] >= most
        found = self._last if ends else self._corrected((frame * kept) @ frame.T, correction)
        near = BeyondResolved(self._rough, kept, variance, frame)
        if self.exponent == 0:
            return near.of_exact_labels(found, self._slopes)
        return near.of_power(found, 1 - self.exponent)

    @cached_property
    def _last(self) -> Array:
        return self._corrected(self.resolved * np.eye(self.r))

    @cached_property
    def _slopes(self) -> Array:
        """Gradients of the link on a sample, shape (n, r)."""
        return sampled_slopes(self.channel.link)

    def _corrected(self, M: Array, correction: Correction | None = None) -> Array:
        """From the rough rule, and what the fine one adds at an overlap close to this."""
        root = self._root(M)
        if correction is None:
            correction = self._correction(M)
        found = correction(root @ self._rough(M) @ root)
        return np.asarray(np.linalg.solve(root, np.linalg.solve(root, found).T))

    def _correction(self, M: Array) -> Correction:
        """Fine over rough rule at the nearest overlap known, in posterior units: it varies slowly.

        Of directions that are not open neither tells anything: it is that of a small overlap.
        """
        return self._anchor(M)[1]

    def _anchor(self, M: Array, most: float = math.inf) -> tuple[Array, Correction, float]:
        """An overlap close to M, fine over rough rule there, and their relative difference."""
        values, frame = np.linalg.eigh(0.5 * (M + M.T))
        at = np.asarray((frame * np.clip(values, _OPEN, self.resolved)) @ frame.T)
        near = min(self._anchors, key=lambda a: np.abs(a[0] - at).max(), default=None)
        if near is None or np.abs(near[0] - at).max() > min(_NEAR[self.r - 1], most):
            V, fine, rough = self._root(at), self._levels(at), self._rough(at)
            between = NearbyRule.between(V @ fine @ V, V @ rough @ V)
            near = at, between, float(np.abs(fine - rough).max() / np.abs(fine).max())
            self._anchors.append(near)
        return near

    @staticmethod
    def _root(M: Array) -> Array:
        """The symmetric root of I - M."""
        values, frame = np.linalg.eigh(np.eye(len(M)) - M)
        return np.asarray((frame * np.sqrt(np.maximum(values, 1e-12))) @ frame.T)

    @cached_property
    def _anchors(self) -> list[tuple[Array, Correction, float]]:
        return []

    @cached_property
    def _rough(self) -> LevelInformation | NoisyLine | LineInformation:
        if self._on_lines:
            return LineInformation(self.channel, ROUGH_LINES)
        return noisy_line(self.channel, _COARSE) or LevelInformation(self.channel, ROUGH)

    @property
    def _other(self) -> LevelInformation | NoisyLine | LineInformation:
        """The rule that tells the error of the fine one."""
        return LineInformation(self.channel, FEWER_LINES) if self._on_lines else self._rough

    @cached_property
    def _grid(self) -> NoisyGrid | None:
        """Of noisy labels at overlaps that level sets do not resolve."""
        return NoisyGrid(self.channel, _FINE_GRID[self.r - 2]) if self._on_grids else None

    @cached_property
    def _rough_grid(self) -> NoisyGrid | None:
        return NoisyGrid(self.channel, _ROUGH_GRID[self.r - 2]) if self._on_grids else None

    @property
    def _on_grids(self) -> bool:
        return self.channel.noise > 0 and 1 < self.r < MOST_DIRECTIONS

    @property
    def exponent(self) -> float:
        """The power e in V I(M) ~ V^e close to perfect recovery."""
        if self.channel.noise > 0:
            return 1.0
        return 0.5 if self.channel.link.values is not None else 0.0

    @cached_property
    def full(self) -> float:
        """The ratio of samples above which perfect recovery is a fixed point; inf if it never is.

        Labels with a density leave E[n n^T] with trace one, n the unit normal of a level set in
        posterior coordinates; labels on cells tell nothing to this order.
        """
        if self.exponent > 0:
            return math.inf
        moving = share_of_slopes(self.channel.link, lambda s: np.any(np.abs(s) > 1e-12, axis=-1))
        return self.r / moving if moving > 0 else math.inf
