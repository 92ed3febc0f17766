"""What a few giant steps and a readout learn when samples and neurons are powers of d.

Steps on n of the order of d^k fresh samples climb the CSQ staircase of order k, one stair per step.
All functions of the subspace U that was found can be learned, and of the rest the part of degree at
most kappa, with d^kappa the smaller of n and p. That is the limit; in dimension d the errors of a
readout on neurons that have found U, or on neurons after steps of a given size (`trained_neurons`),
are those of `subspace_features`, at the best ridge.

References
----------
Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25 (2024), theorem 3 and conjecture 3.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError, refuse
from learnability.fields import is_number
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.targets import TargetLike, as_target
from learnability.theory.csq import HIGHEST_KAPPA, csq_staircase, risk_floors
from learnability.theory.regime_errors import RegimeErrors

__all__ = ["Regimes", "regimes"]

Array = NDArray[np.float64]

_NUMBER = r"\d*\.?\d+"
_POWER = re.compile(
    rf"(?:(?P<factor>{_NUMBER})\s*\*?\s*)?(?P<d>d)?(?:\s*(?:\^|\*\*)\s*(?P<power>{_NUMBER}))?"
)
_THEOREM = (
    "Dandi, Krzakala, Loureiro, Pesce, Stephan, JMLR 25 (2024): theorem 3 for the subspace of one "
    "step, conjecture 3 for later steps and for the floor"
)
_MOST_ORDER = 4
_MOST_STEPS = 6
_MOST_DIRECTIONS, _MOST_POWER = 4, 9
_LARGEST, _MOST_SIZES, _MOST = 1e30, 1000, 1e80
"""The largest dimension, how many of them have errors at once, and the most samples or neurons."""
_TOO_FEW = "the error at d = {d}: neurons after steps have one from {least} dimensions on."
_TOO_LONG = (
    "the error at d = {d}: neurons of this `step` or `strength` are so long, or the `activation` "
    "grows so fast, that the integrals of their features are not resolved; smaller steps have one."
)


@dataclass(frozen=True)
class Regimes:
    """What is learned at n and p of given powers of d.

    Attributes
    ----------
    n, p : tuple of float
        Factor and exponent of the samples of a step (and of the readout) and of the neurons.
    steps : int
        The requested number of giant steps.
    directions : array, shape (k, r)
        Orthonormal rows of the subspace that the steps find.
    floor : float
        The error that stays as d grows, noise included; at a whole exponent it is approached as the
        factor grows too.
    variance : float
        Variance of the label, which is the error if nothing is learned.
    d, error : array
        Dimensions, and the errors of the best ridge there on neurons that have found the subspace,
        or that have taken the steps; NaN where that is undecided.
    error_stderr : array
        What half of the points of the law of the neurons change, and 8 % on neurons that know the
        subspace, for the lengths of inputs. After steps it is the spread over draws of their
        samples, or how far their law is from draws in the largest dimension in which these are
        made, and 3 % for what the equations leave out. Both shares are measured.
    theorem : str
        Where the statement comes from.
    undecided : tuple of str
        What could not be decided about the staircase and the errors.
    """

    n: tuple[float, float]
    p: tuple[float, float]
    steps: int
    directions: Array
    floor: float
    variance: float
    d: Array
    error: Array
    error_stderr: Array
    theorem: str
    undecided: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the parts as lists and numbers; what is undecided is None."""
        return {
            "n": list(self.n), "p": list(self.p), "steps": self.steps,
            "directions": self.directions.tolist(), "floor": self.floor,
            "variance": self.variance, "d": self.d.tolist(), "error": _known(self.error),
            "error_stderr": _known(self.error_stderr),
            "theorem": self.theorem, "undecided": list(self.undecided),
        }  # fmt: skip

    def to_text(self) -> str:
        """Return a few lines: the subspace, the floor and the errors by dimension."""
        count, r = self.directions.shape
        rows = "; ".join(
            "(" + ", ".join(f"{v + 0.0:.3g}" for v in row) + ")" for row in self.directions.round(6)
        )
        lines = [
            f"n = {_told(self.n)} samples, p = {_told(self.p)} neurons, {self.steps} giant "
            f"step{'s' if self.steps > 1 else ''}",
            f"learned    {count} of {r} directions{': ' + rows if count else ''}",
            f"floor      {self.floor:.4g} (nothing learned: {self.variance:.4g})",
            f"{'d':>10} {'error':>10} {'stderr':>10}",
            *(
                f"{d:>10.0f} {e:>10.4g} {s:>10.2g}"
                for d, e, s in zip(self.d, self.error, self.error_stderr, strict=True)
            ),
            f"theorem    {self.theorem}",
            *(f"undecided  {what}" for what in self.undecided),
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()


def regimes(
    target: TargetLike,
    n: str = "d",
    p: str = "d",
    steps: int = 1,
    *,
    activation: str | Link = "relu(z - 1/2)",
    strength: float = 1.0,
    step: float | None = None,
    d: int | Sequence[int] = (100, 1000, 10_000, 100_000, 1_000_000),
) -> Regimes:
    """Return the subspace and the error that n samples and p neurons, powers of d, reach.

    Parameters
    ----------
    target : MultiIndex, Link or str
        The target, of at most four directions, with isotropic inputs.
    n, p : str
        Samples of a step and of the readout, and neurons, such as "d", "8*d^2" or "32".
    steps : int
        Number of giant steps, from 0 on.
    activation : str or Link
        The function sigma of the neurons.
    strength : float
        Length of the neurons along each direction that was found, over that of the rest; it does
        not act when `step` is given.
    step : float, optional
        Size of the steps over d^((k - 1) / 2), n of the order of d^k: the errors are then those of
        neurons that have taken the steps, with a standard normal second layer.
    d : int or sequence of int
        Dimensions for which errors are computed, from 10 to 1e30.

    Returns
    -------
    Regimes

    Raises
    ------
    LearnabilityError
        When a power cannot be read or is too high, or the target is not accepted.

    Examples
    --------
    >>> found = regimes("z1 + z1*z2", n="8*d", p="8*d", steps=2, d=[100])
    >>> found.directions.shape, round(found.floor, 6)
    ((2, 2), 0.0)
    """
    learned = as_target(target).simplified()
    if learned.kind != "multi-index" or learned.inputs.kind != "isotropic":
        raise LearnabilityError(
            f"`target` was given as {learned!r}, but a multi-index target with isotropic inputs is "
            "accepted: the staircase of giant steps is known for these."
        )
    if learned.channel.law is not None:
        raise LearnabilityError(
            f"`target` was given as {learned!r}, but a label that is a function of the hidden "
            "coordinates with Gaussian noise is accepted: the floors are known for these."
        )
    if learned.r > _MOST_DIRECTIONS:
        raise LearnabilityError(
            f"`target` was given as {learned!r}, but at most {_MOST_DIRECTIONS} hidden directions "
            "are accepted: its staircase would take too long."
        )
    if step is not None and not (is_number(step) and 0 < step < math.inf):
        raise refuse("step", step, "a number above 0, or None")
    if not (is_number(strength) and 0 <= strength < math.inf):
        raise refuse("strength", strength, "a number from 0 on")
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
        raise refuse("steps", steps, "a whole number from 0 on")
    if step is not None and steps > _MOST_STEPS:
        raise refuse("steps", steps, f"at most {_MOST_STEPS} where `step` is given")
    samples, neurons = _read("n", n), _read("p", p)
    sigma, sizes = _one_variable(activation), _sizes(d, learned.r)
    for name, given, (factor, power) in (("n", n, samples), ("p", p, neurons)):
        if factor * sizes.max() ** power > _MOST:
            raise refuse(name, given, f"at most {_MOST:.0e} at d = {sizes.max():.3g}")
    order = min(int(samples[1]), _MOST_ORDER)
    kappa = int(min(samples[1], neurons[1]))
    if kappa > HIGHEST_KAPPA:
        raise refuse("n and p", (n, p), f"powers of d up to {HIGHEST_KAPPA}")
    undecided: tuple[str, ...] = ()
    known = np.zeros((0, learned.r))
    staircase = csq_staircase(learned.link, max(order, 1))
    floors = risk_floors(learned.link, staircase)
    climbed = min(steps if order >= 1 else 0, len(staircase.steps))
    if climbed:
        undecided = tuple(staircase.doubts)
        known = np.vstack([known, *(step.directions for step in staircase.steps[:climbed])])
    floor = floors[climbed][kappa] + learned.noise
    values = []
    taken = steps if order >= 1 else 0
    asked = RegimeErrors(learned, sigma, (samples, neurons), order, taken, step)
    for one in sizes:
        place = int(one)
        if step is not None and place < asked.least:
            undecided += (_TOO_FEW.format(d=place, least=asked.least),)
            values.append((math.nan, math.nan))
            continue
        found = asked.knowing(place, known, strength) if step is None else asked.trained(place)
        if found is None or not np.isfinite(found).all():
            undecided += (_TOO_LONG.format(d=place),)
            found = math.nan, math.nan
        values.append(found)
    error, stderr = np.array(values).T
    return Regimes(
        samples, neurons, steps, known, float(floor), learned.label_variance, sizes,
        error, stderr, _THEOREM, undecided,
    )  # fmt: skip


def _read(name: str, text: str) -> tuple[float, float]:
    """Return the factor and the exponent of a power of d."""
    found = _POWER.fullmatch(str(text).strip())
    if found is None or not str(text).strip() or (found["power"] and not found["d"]):
        raise refuse(name, text, "a power of d such as d, 8*d^2 or 32")
    factor = float(found["factor"] or 1.0)
    exponent = float(found["power"] or 1.0) if found["d"] else 0.0
    if not (0 < factor <= _MOST and exponent <= _MOST_POWER):
        accepted = f"a power of d up to d^{_MOST_POWER} with a factor above 0 up to {_MOST:.0e}"
        raise refuse(name, text, accepted)
    return factor, exponent


def _one_variable(activation: str | Link) -> Link:
    """Return the activation, which is a function of one variable with a mean square."""
    sigma = activation if isinstance(activation, Link) else Link(activation)
    if sigma.r != 1 or sigma.law is not None:
        raise refuse("activation", sigma, "a function of one variable")
    expand(sigma, 0)
    return sigma


def _sizes(d: int | Sequence[int], r: int) -> Array:
    """Return the dimensions as an array."""
    given = [d] if is_number(d) else list(d) if isinstance(d, Iterable) else [math.nan]
    sizes = np.array([one if is_number(one) else math.nan for one in given], dtype=float)
    least = max(10, r + 1)
    good = (sizes >= least).all() and (sizes <= _LARGEST).all() and not (sizes % 1).any()
    if not (good and 0 < len(sizes) <= _MOST_SIZES):
        accepted = f"one to {_MOST_SIZES} whole numbers from {least} to {_LARGEST:.0e}"
        raise refuse("d", d, accepted)
    return sizes


def _known(values: Array) -> list[float | None]:
    return [float(one) if math.isfinite(one) else None for one in values]


def _told(power: tuple[float, float]) -> str:
    factor, exponent = power
    base = "" if exponent == 0 else "d" if exponent == 1 else f"d^{exponent:g}"
    return base if factor == 1 and base else f"{factor:g}{' ' + base if base else ''}"
