"""Where spherical flows turn and end, if the overlap with the hidden direction determines them.

On isotropic inputs, and on those with one spike along the hidden direction, the flow on the sphere
moves m = <w, w*> alone, down the loss with tau^2 = 1 + theta m^2, rho = m sqrt(1 + theta) / tau and

    dL/dm = (2 / tau^2) (theta m E[h F] - sqrt(1 + theta) A)

(`population`). Its zeros cut [-1, 1] into basins; m^2 of a random start has a Beta law. As the
spike grows the loss depends on S = theta m^2: tau^2 = 1 + S and rho^2 = S / (1 + S). A slope whose
sign is decided by rounding counts as unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.learners.networks.population import Population

__all__ = ["Landscape", "Recovery", "landscape", "recovery"]

Array = NDArray[np.float64]
_LEAST, _MOST, _SCAN = 1e-6, 1e6, 481
_DENSITY = 40  # Points of a scan per factor of ten.
_NEAREST = 1e-6  # Least |m| sqrt(d) of the scan: fewer than one start in a million has less.


class Landscape(NamedTuple):
    """Where the loss of an aligned spherical flow turns, as the spike grows.

    Attributes
    ----------
    maxima : tuple of float
        S = theta m^2 of separatrices: the flow goes to the side on which it begins.
    minima : tuple of float
        S at which it ends; 0 is one when the loss first increases.
    sign : int
        The sign of the overlap that is followed, the one with the lower loss.
    decided : tuple of float
        The smallest and the largest S at which the slope is larger than its rounding.
    """

    maxima: tuple[float, ...]
    minima: tuple[float, ...]
    sign: int
    decided: tuple[float, float]


class Recovery(NamedTuple):
    """Shares of random starts.

    Attributes
    ----------
    share : float
        The share of starts whose flow ends at the correlation asked for, or beyond.
    undecided : float
        The share of starts whose flow passes where rounding decides its direction.
    """

    share: float
    undecided: float


def landscape(population: Population) -> Landscape:
    """Return extrema of the loss in S, between 1e-6 and 1e6, for the sign of m of lower loss."""
    grid = np.exp(np.linspace(math.log(_LEAST), math.log(_MOST), 81))

    def loss(S: float, sign: int) -> float:
        return population.loss(sign * math.sqrt(S / (1 + S)), math.sqrt(1 + S))

    lowest = {sign: min(loss(S, sign) for S in grid) for sign in (1, -1)}
    sign = 1 if lowest[1] <= lowest[-1] + 1e-9 * population.energy else -1

    def slope(log_s: float) -> float:
        root = math.exp(log_s / 2)
        tau = math.hypot(1.0, root)
        return population.turn(sign * root / tau, tau, root, float(sign))

    scan = np.linspace(math.log(_LEAST), math.log(_MOST), _SCAN)
    slopes = np.array([slope(x) for x in scan])
    known = np.flatnonzero(slopes)
    maxima: list[float] = []
    minima: list[float] = [0.0] if len(known) and slopes[known[0]] > 0 else []
    for k, after in zip(known[:-1], known[1:], strict=True):
        if slopes[k] * slopes[after] < 0:
            root = _zero(slope, float(scan[k]), float(scan[after]))
            (maxima if slopes[k] > 0 else minima).append(math.exp(root))
    ends = (float(scan[known[0]]), float(scan[known[-1]])) if len(known) else (math.nan, math.nan)
    return Landscape(tuple(maxima), tuple(minima), sign, (math.exp(ends[0]), math.exp(ends[1])))


def recovery(population: Population, theta: float, d: int, correlation: float) -> Recovery:
    """Return the share of random starts that end at a |rho| of at least `correlation`.

    Here rho is the correlation of w.x with the argument of the label.

    Parameters
    ----------
    population : Population
        The link and the activation.
    theta : float
        Strength of a spike along the hidden direction; 0 for isotropic inputs.
    d : int
        Dimension.
    correlation : float
        The |rho| that has to be reached.
    """
    from scipy.special import betainc

    pull = math.sqrt(1 + theta)

    def rho(m: float) -> float:
        return m * pull / math.sqrt(1 + theta * m * m)

    def slope(m: float) -> float:
        return population.turn(rho(m), math.sqrt(1 + theta * m * m), theta * m, pull)

    def below(m: float) -> float:
        return 0.5 + 0.5 * math.copysign(float(betainc(0.5, (d - 1) / 2, m * m)), m)

    least = _NEAREST / math.sqrt(d)
    side = np.geomspace(least, 1.0, math.ceil(-math.log10(least) * _DENSITY) + 1)
    share = undecided = 0.0
    for low, high, end in _basins(slope, np.concatenate([-side[::-1], [0.0], side])):
        mass = below(high) - below(low)
        if math.isnan(end):
            undecided += mass
        elif abs(rho(end)) >= correlation:
            share += mass
    return Recovery(share, undecided)


def _basins(slope: Callable[[float], float], m: Array) -> Iterator[tuple[float, float, float]]:
    """Yield pieces (low, high) of a scan with the place where a descent from there ends.

    The place is NaN where the descent meets a slope of unknown sign, except at 0, where such a
    slope counts as zero.
    """
    motion = -np.sign([slope(float(x)) for x in m])
    last = len(m) - 1

    def ends(order: range, way: int) -> Array:
        """Return where a descent that leaves each point of the scan to one side ends."""
        found = np.full(len(m), np.nan)
        for k in order:
            after = k + way
            if motion[after] == way:
                found[k] = m[after] if after in (0, last) else found[after]
            elif motion[after] == -way == -motion[k]:
                found[k] = _zero(slope, *sorted((float(m[k]), float(m[after]))))
            elif m[after] == 0:
                found[k] = 0.0
        return found

    right, left = ends(range(last - 1, -1, -1), 1), ends(range(1, last + 1), -1)
    for k in range(last):
        low, high = float(m[k]), float(m[k + 1])
        first = motion[k] or (motion[k + 1] if low == 0 else 0)
        second = motion[k + 1] or (motion[k] if high == 0 else 0)
        if first == 0 or second == 0:
            yield low, high, math.nan
        elif first == second or first > 0:
            yield low, high, float(right[k] if first > 0 else left[k + 1])
        else:
            middle = _zero(slope, low, high)
            yield low, middle, float(left[k + 1])
            yield middle, high, float(right[k])


def _zero(slope: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(slope, low, high, xtol=1e-10))
