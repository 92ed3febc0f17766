"""Errors on fresh samples, drawn in blocks from the target whose samples were learned from."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.targets.multi_index import MultiIndex
from learnability.targets.spiked_index import SpikedIndex

__all__ = ["FRESH", "fresh_error"]

FRESH = 10_000
"""Number of fresh samples: the error of a run is known to about 1.4 percent."""
_BLOCK = 1000


def fresh_error(
    target: MultiIndex | SpikedIndex,
    seed: int,
    d: int,
    predictor: Callable[[NDArray[Any]], NDArray[Any]],
    first: int = 1,
) -> NDArray[np.float64]:
    """Mean squared error against the noisy label; the noise itself is added exactly.

    Parameters
    ----------
    target : MultiIndex
        Where the samples come from.
    seed, d : int
        Of the run.
    predictor : callable
        Inputs (n, d) -> predictions (k, n), one row a predictor.
    first : int
        Number of the first batch of the target that is taken; the run has learned from none of
        them.

    Returns
    -------
    array, shape (k,)
    """
    total: Any = 0.0
    if isinstance(target, SpikedIndex):
        # Spread evenly along the hidden coordinate: links with heavy tails need it.
        spread = target.stratified(seed, _BLOCK, d, first=first)
        for sample, weights in islice(spread, FRESH // _BLOCK):
            gap = predictor(sample.X).astype(np.float64) - sample.y
            total = total + gap**2 @ weights
        return np.asarray(total / (FRESH // _BLOCK) + target.noise)
    batches = target.batches(seed, _BLOCK, d, first=first, dtype=np.float32)
    for batch in islice(batches, FRESH // _BLOCK):
        truth = np.asarray(target.link(batch.h), dtype=np.float64)
        gap = predictor(batch.X).astype(np.float64) - truth
        total = total + np.mean(gap**2, axis=1)
    return np.asarray(total / (FRESH // _BLOCK) + target.noise)
