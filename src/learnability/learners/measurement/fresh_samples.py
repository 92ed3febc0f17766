"""Errors on fresh samples, drawn in blocks from the target of the run.

The squares of a polynomial have heavy tails: the mean of He4(z1)^2 He2(z2)^2 z3^2 over 10000
samples varies between half and twice its expectation. That expectation is known, so the mean of
the squared errors is corrected by its regression on the mean square of the target.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.targets.base import Target

__all__ = ["FRESH", "fresh_error"]

FRESH = 10_000
"""Number of fresh samples: the error of a run is known to about 1.4 percent."""
_BLOCK = 1000
_CONSTANT = 1e-9
"""Relative variance of a square that is one number but for rounding."""


def fresh_error(
    target: Target,
    seed: int,
    d: int,
    predictor: Callable[[NDArray[Any]], NDArray[Any]],
    first: int = 1,
) -> NDArray[np.float64]:
    """Return the mean squared error against the noisy label, whose variance is added exactly.

    Parameters
    ----------
    target : Target
        Where the samples come from.
    seed, d : int
        The seed and the dimension of the run.
    predictor : callable
        Inputs (n, d) -> predictions (k, n), one row for each predictor.
    first : int
        Number of the first batch of the target that is used; the run must have learned from none
        of these batches.

    Returns
    -------
    array, shape (k,)
    """
    squares, powers = [], []
    batches = target.batches(seed, _BLOCK, d, first=first, dtype=np.float32)
    for batch in islice(batches, FRESH // _BLOCK):
        truth = np.asarray(target.link(batch.h), dtype=np.float64)
        squares.append((predictor(batch.X).astype(np.float64) - truth) ** 2)
        powers.append(truth**2)
    error = np.concatenate(squares, axis=1)
    mean = error.mean(axis=1)
    known = target.signal_power
    if known is not None:
        power = np.concatenate(powers)
        surplus = power - power.mean()
        spread = float(surplus @ surplus)
        # A square that is one number but for rounding, as that of 0.7 sign(h), tells nothing.
        varies = spread > _CONSTANT * len(power) * power.mean() ** 2
        slope = error @ surplus / spread if varies else 0.0
        mean = np.maximum(mean - slope * (power.mean() - known), 0.0)
    return np.asarray(mean + target.label_noise)
