"""One neuron on the sphere with the correlation loss: the equation of its overlap m as a series.

With c_k = E[. He_k] and the noise D of the labels, plain steps of size step / d give

    dm/dt = step (1 - m^2) sum_k c_{k+1}(g) c_{k+1}(s) m^k / k!
            - step^2 / (2 b) m sum_k c_k(g^2 + D) c_k(s'^2) m^k / k!.

From m ~ d^(-1/2) the first k with c_k(g) c_k(s) != 0 sets the number of steps: d for k = 1,
d log d for k = 2, d^(k - 1) beyond, where the step must shrink like d^(1 - k / 2). Reuse of a
sample replaces the first sum by an average that depends on every power of the label: it takes d
steps when that average does not vanish at m = 0, and d log d when it grows from there.

References
----------
Ben Arous, Gheissari, Jagannath, JMLR 22 (2021); Arnaboldi, Dandi, Krzakala, Pesce, Stephan,
arXiv:2405.15459; Damian, Pillaud-Vivien, Lee, Bruna, arXiv:2403.05529 (generative exponent).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.labels.hermite import HermiteExpansion, expand
from learnability.labels.link import Link
from learnability.learners.online._motion import Averages, Averaging, Drift, Point, Rates
from learnability.learners.online._steps import Recipe

__all__ = ["growth", "series_averages"]

Array = NDArray[np.float64]
_ORDER = 60
_TAIL = 1e-7  # Largest rest of the series at m = 1, over the norms of its factors.


def series_averages(recipe: Recipe, noise: float) -> Averaging | None:
    """Return averages as Hermite series; None when there are none or they converge too slowly."""
    one = recipe.width == 1 and recipe.link.r == 1 and recipe.spherical and recipe.isotropic
    plain = recipe.rule == "plain" and recipe.normalisation == "none"
    if not one or recipe.loss != "correlation" or not plain:
        return None
    try:
        signal = _product(expand(recipe.link, _ORDER), expand(recipe.activation, _ORDER))
        square = _product(
            expand(_power(recipe.link), _ORDER),
            slopes := expand(_squared(recipe.activation.derivative()), _ORDER),
        )
    except LearnabilityError:  # No Hermite expansion: not square-integrable.
        return None
    if signal is None or square is None:
        return None
    square[0] += noise * slopes.mean
    powers = np.arange(_ORDER)

    def averages(at: Point, rates: Rates) -> Averages:
        m, a = float(at.overlap[0, 0]), float(at.second[0])
        series = m ** np.arange(_ORDER + 1)
        pull = a * (1 - m**2) * float(signal[1:] @ (m**powers * (powers + 1)))
        # The part along the weights themselves changes only their length and is left out.
        parts = pull, -m * pull, a**2 * float(square @ series)
        hidden, rest, squared = (np.array([[part]]) for part in parts)
        return Averages(hidden, rest, squared, np.array([float(signal @ series)]))

    return averages


def _product(first: HermiteExpansion, second: HermiteExpansion) -> Array | None:
    """Return c_k c'_k / k! up to the order; None when the rest of the series is not negligible."""
    tail = np.sqrt(first.remainder * second.remainder)
    if tail > _TAIL * np.sqrt(first.energy * second.energy):
        return None
    factorial = np.cumprod(np.maximum(np.arange(_ORDER + 1, dtype=float), 1.0))
    pairs = zip(first.tensors, second.tensors, strict=True)
    return np.array([a.item() * b.item() for a, b in pairs]) / factorial


def _squared(link: Link) -> Link:
    if link.text is not None:
        return Link(f"({link.text})**2", r=1)
    return Link(lambda z: link(z) ** 2, r=1, breaks=link.breaks)


def _power(link: Link) -> Link:
    """Return E[y^2 | z]."""
    if link.law is None:
        return _squared(link)
    mean, variance = link.law.mean, link.law.variance
    return Link(lambda z: mean(z) ** 2 + variance(z), r=1, breaks=link.breaks)


def growth(recipe: Recipe, drift: Drift, rates: Rates, second: Array) -> str:
    """Return how the number of steps from m ~ d^(-1/2) grows with d; empty where it is not known.

    Parameters
    ----------
    recipe : Recipe
        The learner and the link.
    drift : callable
        The drift of free weights.
    rates : Rates
        Step sizes.
    second : array, shape (1,)
        Second layer.
    """
    one = recipe.width == 1 and recipe.link.r == 1 and recipe.isotropic
    if not one or recipe.loss != "correlation" or recipe.normalisation != "none":
        return ""
    if recipe.rule == "plain":
        g, s = expand(recipe.link, 20), expand(recipe.activation, 20)
        seen = [k for k in range(1, 21) if g.is_zero(k) is False and s.is_zero(k) is False]
        if not seen:
            return ""
        return {1: "d", 2: "d log d"}.get(seen[0], f"d^{seen[0] - 1}")

    def velocity(m: float) -> float:
        found = drift(Point(np.array([[1 - m**2]]), np.array([[m]]), second), rates)
        length = 0.5 * found.rest[0, 0] + m * found.overlap[0, 0]
        return float(found.overlap[0, 0] - m * length)

    size = rates.step * 1e-4
    if abs(velocity(0.0)) > size:
        return "d"
    return "d log d" if velocity(0.01) - velocity(0.0) > 0.01 * size else ""
