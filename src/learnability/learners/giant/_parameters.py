"""The first layer after one giant step, as d grows with the batch.

The gradient of neuron j is the sum of s_1 (1/n) sum_i e_i x_i, which all neurons share, and of the
part that sigma'(w_j . x) - s_1 adds; s_1 = E sigma', e = y - f, and f is E sigma when all a_j = 1
and 0 otherwise. The first part has the mean s_1 C_1 (C_1 = E[y x], the linear part of the target)
and noise of squared length s_1^2 E[e^2] d / n. The second has the mean E[e] E[sigma''] w_j and
noise of squared length Var(sigma') E[e^2] d / n, taken as independent between neurons.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, Yang, NeurIPS 2022, proposition 2; Cui, Pesce, Dandi, Krzakala, Lu,
Zdeborova, Loureiro, arXiv:2402.04980, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.inputs.base import Directions
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.learners.giant._network import Parameters
from learnability.targets.base import Target

__all__ = ["Bends", "bends", "checked_parameters", "linear_direction", "linear_part", "one_step"]

Array = NDArray[np.float64]


class Bends(NamedTuple):
    """E[sigma], E[sigma'], E[sigma''] and E[sigma'^2] of an activation."""

    mean: float
    slope: float
    bend: float
    power: float


def bends(activation: Link) -> Bends:
    """Return the moments of an activation on which a step depends.

    Raises
    ------
    LearnabilityError
        When it jumps.
    """
    bent = expand(activation, 2)
    slope = expand(activation.derivative(), 0)
    s1, s2 = float(bent.tensors[1].item()), float(bent.tensors[2].item())
    # sigma' misses a jump of sigma, as a step does: then E[sigma'] and E[z sigma] differ.
    if abs(slope.mean - s1) > 1e-6 * max(abs(s1), 1.0):
        raise LearnabilityError(
            f"`activation` {activation!r} jumps, so its derivative misses a part and gradient "
            "steps are not defined: use a continuous one."
        )
    return Bends(bent.mean, s1, s2, slope.energy)


def linear_direction(target: Target) -> tuple[float, Array]:
    """Return the length and unit direction (r,) of E[y z].

    Raises
    ------
    LearnabilityError
        When the target has no linear part.
    """
    found = expand(target.link, 1)
    part = np.atleast_1d(found.tensors[1])
    size = float(np.linalg.norm(part))
    if found.is_zero(1) is not False:
        raise LearnabilityError(
            f"{target.link!r} has no linear part, so one step on a batch of order d "
            "finds nothing: see `hardness` for the exponent it needs."
        )
    return size, part / size


def linear_part(target: Target, directions: Directions) -> Array | None:
    """Return the unit direction of E[y x], shape (d,); None where it is unknown.

    E[y x] = Sigma W*^T (W* Sigma W*^T)^(-1/2) E[y z] for normal inputs.

    Parameters
    ----------
    target : Target
        The target.
    directions : Directions
        The directions of the run.
    """
    found, inputs = expand(target.link, 1), target.inputs
    if not inputs.normal or found.is_zero(1) is not False:
        return None
    part, W = np.atleast_1d(found.tensors[1]), directions.hidden.astype(np.float32)
    if inputs.has_frame and inputs.frame(*W.shape).isotropic:
        return np.asarray(part / float(np.linalg.norm(part)) @ W)
    moved = inputs.apply(W.astype(float), directions)
    values, vectors = np.linalg.eigh(moved @ W.T)
    along = part @ ((vectors / np.sqrt(values)) @ vectors.T) @ moved
    return np.asarray(along / np.linalg.norm(along))


def checked_parameters(values: Sequence[float]) -> Parameters:
    """Return the spike, alignment, bulk and perhaps spread that a user gives.

    Raises
    ------
    LearnabilityError
        When they are something else.
    """
    try:
        given = Parameters(*(float(value) for value in values))
    except (TypeError, ValueError):
        given = Parameters(*(math.nan,) * 3)
    spike, alignment, bulk, spread = given
    sizes = 0 <= spike < math.inf and 0 < bulk < math.inf and 0 <= spread < math.inf
    if not (sizes and abs(alignment) < 1):
        raise LearnabilityError(
            f"`parameters` was given as {values!r}, but (spike, alignment, bulk), perhaps with a "
            "spread, are accepted: spike >= 0, |alignment| < 1, bulk > 0, spread >= 0."
        )
    return given


def one_step(target: Target, activation: Link, init: str, step: float, batch: float) -> Parameters:
    """Return the spike, alignment and bulk after one step.

    Parameters
    ----------
    target : Target
        The target, with a linear part and isotropic inputs.
    activation : Link
        The function sigma.
    init : str
        The law of the signs a_j.
    step : float
        Size of the step, divided by p.
    batch : float
        Samples of the step, divided by the dimension.
    """
    linear, _ = linear_direction(target)
    own_mean, s1, s2, power_of_slope = bends(activation)
    mean = target.label_mean - (own_mean if init == "ones" else 0.0)
    power = (target.label_variance + mean**2) / batch
    length = math.sqrt(linear**2 + power)
    variance = max(power_of_slope - s1**2, 0.0)
    shift = step * mean * s2
    own = (1 + shift) ** 2 if init == "ones" else 1 + shift**2  # The mean over both signs.
    bulk = math.sqrt(own + step**2 * variance * power)
    return Parameters(abs(step * s1) * length, math.copysign(1, s1) * linear / length, bulk)
