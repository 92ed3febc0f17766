"""Errors of a readout in dimension d, on neurons that know a subspace or have taken giant steps.

Those on neurons that know a subspace are the errors of `subspace_features`. Neurons that have taken
steps are drawn with the samples of the steps, as often as it takes to settle the mean error, and
have the errors of `place_equivalent` at the best ridge; where so many samples are too many to be
drawn the neurons are those of the law of `trained_neurons`, and the stated error holds what this
law is off in the largest dimension in which samples are drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.sections import REACH
from learnability.labels.link import Link
from learnability.theory.equivalent import errors
from learnability.theory.place_equivalent import best_error, in_classes
from learnability.theory.placed_features import LEAST, placed_features
from learnability.theory.subspace_features import levels_in, subspace_levels
from learnability.theory.trained_neurons import (
    Neurons,
    drawn_neurons,
    knowing_neurons,
    trained_neurons,
)

__all__ = ["RegimeErrors"]

Array = NDArray[np.float64]

_LEFT_OUT = 0.08
"""Share of the error that the lengths of inputs may change, on neurons that know a subspace."""
_DRAWN, _NEURON, _FAR = 2e7, 64, 1000
"""The most work of a draw, in numbers per sample of which the activation counts as so many, and the
largest dimension."""
_DRAWS, _SETTLED = (3, 12), 0.01
"""How often samples are drawn at least and at most, and the relative error that is enough."""
_SHARE = 0.03
"""Share of the error of trained neurons that their equations leave out."""
_LONGEST = 7.0
"""The largest length of neurons along a hidden direction, over that of the rest."""
_LARGEST = 1e50
"""The largest length of neurons, and the largest of their features, whose squares are numbers."""
_BEYOND = 1e-3
"""The largest share of the square of a feature beyond the reach of the integrals."""


@dataclass(frozen=True)
class RegimeErrors:
    """Errors in dimension d of the best ridge.

    Attributes
    ----------
    target : MultiIndex
        The target, on isotropic inputs.
    sigma : Link
        The activation.
    powers : tuple
        Factor and exponent of the samples, and of the neurons.
    order : int
        The order k of the samples, n of the order of d^k.
    taken : int
        Steps that are taken.
    step : float, optional
        Their size over d^((k - 1) / 2).
    """

    target: Any
    sigma: Link
    powers: tuple[tuple[float, float], tuple[float, float]]
    order: int
    taken: int
    step: float | None

    def sizes(self, d: int) -> tuple[float, float]:
        """Return n and p."""
        n, p = (max(factor * d**power, 1.0) for factor, power in self.powers)
        return n, p

    def knowing(self, d: int, known: Array, strength: float) -> tuple[float, float] | None:
        """Return the error of neurons that know a subspace and its error; None if too long."""
        law = knowing_neurons(known, d, strength)
        if not self.resolved(law):
            return None
        link, noise = self.target.link, self.target.noise
        both = []
        for part in (law, law.half()):
            found = subspace_levels(link, known, self.sigma, part, noise)
            levels = levels_in(d, len(known), self.target.r, found)
            power = float(levels.sizes @ levels.eigenvalues) + levels.tail
            tried = (
                errors(levels, *self.sizes(d), v).test for v in _ridges(self.sizes(d)[0], power)
            )
            both.append(min(tried))
        return both[0], abs(both[0] - both[1]) + _LEFT_OUT * both[0]

    def trained(self, d: int) -> tuple[float, float] | None:
        """Return the error of neurons after steps and its error; None if they are too long."""
        with np.errstate(all="ignore"):
            law = self.law(d)
            if not self.resolved(law):
                return None
        if self.can_draw(d):
            return self.drawn(d)
        # Beyond these sizes the law stands for draws, as well as it does at the last of them.
        error = self.error(law, d)
        numerics = abs(error - self.error(law.half(), d, fewer=True))
        return error, numerics + (_SHARE + self.gap) * error

    def resolved(self, law: Neurons) -> bool:
        """Return whether the integrals resolve the features of a law."""
        return law.longest() <= _LONGEST and self.reached(law)

    def reached(self, law: Neurons) -> bool:
        """Return whether the integrals reach all features of a law, by its longest neuron."""
        if not law.largest() <= _LARGEST:
            return False
        z = np.linspace(-2 * REACH, 2 * REACH, 801)
        with np.errstate(all="ignore"):
            value = np.asarray(self.sigma(law.largest() * z[:, None]), dtype=float)
            squares = (value * np.exp(-0.25 * z**2)) ** 2
        # At the ends of this range the density is below 1e-78.
        total = float(squares.sum())
        known = np.abs(value[np.abs(z) <= REACH]).max() <= _LARGEST * max(law.largest(), 1.0)
        return bool(known) and float(squares[np.abs(z) > REACH].sum()) <= _BEYOND * total

    def can_draw(self, d: int) -> bool:
        """Return whether the samples of the steps are few enough to be drawn."""
        return d <= _FAR and self.sizes(d)[0] * (d + _NEURON) * max(self.taken, 1) <= _DRAWN

    @cached_property
    def gap(self) -> float:
        """Relative difference of law and draws at the largest dimension in which these are made."""
        d = _FAR
        while d > self.least and not self.can_draw(d):
            d = max(int(0.9 * d), self.least)
        found = self.drawn(d)
        return math.nan if found is None else float(abs(self.error(self.law(d), d) / found[0] - 1))

    def drawn(self, d: int) -> tuple[float, float] | None:
        """Return the mean error over a few draws, and its error; None if it is not resolved."""
        words = self.target.link, self.sigma, (d, *self.sizes(d)), self.size(d), self.taken
        found: list[float] = []
        spread, first, (least, most) = math.inf, None, _DRAWS
        while len(found) < most and (len(found) < least or spread > _SETTLED * np.mean(found)):
            law = drawn_neurons(*words, self.target.noise, len(found))
            if not self.reached(law):
                return None
            first = first or law
            found.append(self.error(law, d))
            spread = float(np.std(found, ddof=1)) / math.sqrt(len(found)) if found[1:] else math.inf
        assert first is not None
        fewer, error = self.error(first, d, fewer=True), float(np.mean(found))
        return error, spread + abs(found[0] - fewer) + _SHARE * error

    def law(self, d: int) -> Neurons:
        """Return the law of the neurons."""
        words = self.target.link, self.sigma, (d, self.sizes(d)[0]), self.size(d), self.taken
        return trained_neurons(*words, self.target.noise)

    @property
    def least(self) -> int:
        """The least dimension in which neurons after steps have an error."""
        return int(self.target.r) + min(self.taken, 2) + LEAST

    def size(self, d: int) -> float:
        """Return the size of the steps."""
        return float((self.step or 0.0) * d ** ((max(self.order, 1) - 1) / 2))

    def error(self, law: Neurons, d: int, fewer: bool = False) -> float:
        """Return the error of the best ridge on neurons of a law."""
        target, (n, p) = self.target, self.sizes(d)
        placed = placed_features(target.link, self.sigma, law, d, fewer)
        # What the places miss of the variance of the target is learned as little as noise is.
        variance, seen = target.label_variance - target.noise, placed.variance()
        if seen > variance > 0:
            placed = placed.scaled(math.sqrt(variance / seen))
        missed = max(variance - seen, 0.0)
        return best_error(in_classes(placed, n), n, p, target.noise + missed)


def _ridges(n: float, power: float) -> Array:
    """Return ridges from far too small to far too large, for features of that mean square."""
    usual = np.geomspace(1e-6 * min(n, 1.0), 10 * n, 61)
    if power <= 1:
        return usual
    return np.append(usual, np.geomspace(10 * n, 10 * n * power, 2 + math.ceil(math.log2(power))))
