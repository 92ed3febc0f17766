"""K_k of labels of which only samples tell: products of the coordinates are fitted on the label."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.hermite_products import hermite_products
from learnability.gaussian.rules import sobol_normals
from learnability.gaussian.sections import Section
from learnability.labels._label_regression import REPLICATES, CrossGram, regress_on_label
from learnability.labels._moment_matrices import ConditionalMoments

__all__ = ["regressed_moments", "regression_of_products"]

Array = NDArray[np.float64]

_WORK = 26  # This bounds the base-two logarithm of samples times products.
_STRETCH = 1.2  # Samples are wider than the normal law, and weighted: the tails matter for moments.
_DIGITS = 2.0**40
"""Labels are compared to so many parts of themselves."""
_RARE = 1e-3
"""An upper limit of the probability of the cells of `Section.rare_points`."""


def regressed_moments(
    section: Section,
    noise: float,
    orders: list[int],
    invariant: dict[int, Array],
    samples: int,
    place: int | None = None,
) -> dict[int, ConditionalMoments]:
    """Return K_k on the products that symmetries allow.

    Parameters
    ----------
    section : Section
        The link in the coordinates of interest.
    noise : float
        Variance of the label noise.
    orders : list of int
        Orders k.
    invariant : dict
        Order -> basis of the products that symmetries allow.
    samples : int
        Base-two logarithm of the number of samples.
    place : int, optional
        Its number when it is averaged with others, at other values of known coordinates: its
        samples are its own then, and cells that they do not meet are bounded.

    Raises
    ------
    LearnabilityError
        When samples do not meet a cell of a section that stands alone.
    """
    rare = len(section.rare_points) > 0
    if rare and place is None:
        raise LearnabilityError(
            f"{section.link!r} has a cell between curved boundaries that is so small that samples "
            "do not meet it, so what its label tells is not known."
        )
    cross = regression_of_products(section, noise, orders, invariant, samples, place or 0)
    whole = cross.matrix()
    left_out = cross.leave_one_out()
    found = {}
    start = 0
    for k in orders:
        basis = invariant[k]
        block = slice(start, start + basis.shape[1])
        start = block.stop
        matrix = basis @ whole[block, block] @ basis.T
        # Of an event of probability p, E[z | it]^2 is at most 2 log(1 / p).
        most = _RARE * (-2 * math.log(_RARE)) ** k / math.factorial(k)
        found[k] = ConditionalMoments(
            k,
            matrix,
            (matrix + most * basis @ basis.T,) if rare else (),
            tuple((basis @ m[block, block] @ basis.T, tag) for m, tag in left_out),
            "regression",
            basis.shape[1],
        )
    return found


def _without_rounding(y: Array) -> Array:
    """Labels that are equal but for rounding as one: what rounding tells of z is not learnable."""
    share, power = np.frexp(y)
    return np.asarray(np.ldexp(np.round(share * _DIGITS) / _DIGITS, power))


def regression_of_products(
    section: Section,
    noise: float,
    orders: Sequence[int],
    invariant: dict[int, Array],
    samples: int,
    place: int = 0,
) -> CrossGram:
    """Return the regression of the invariant products of several orders on the label.

    Parameters are those of `regressed_moments`; sections in different places have other samples.
    """
    dimension = section.m + (noise > 0)
    # Many products of a high order are averaged together and take memory: fewer samples suffice.
    products = sum(len(invariant[k]) for k in orders)
    samples = min(samples, max(_WORK - math.ceil(math.log2(products)), 17)) - (section.m > 2)

    def sample(seed: int) -> tuple[Array, Array, Array]:
        normals = sobol_normals(dimension, samples - 3, REPLICATES * place + seed)
        z = _STRETCH * normals[:, : section.m]
        weight = np.exp(-0.5 * (1 - _STRETCH**-2) * (z**2).sum(axis=1))
        y = _without_rounding(section(z))
        if noise > 0:
            y = y + math.sqrt(noise) * normals[:, -1]
        features = [invariant[k].T @ hermite_products(z, k) for k in orders]
        return y, np.concatenate(features), weight

    return regress_on_label(sample, bins=min(32768, 2 ** (samples - 7)))
