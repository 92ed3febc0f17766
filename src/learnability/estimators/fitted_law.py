"""The law of the label that was learned from a table, for use by the theory.

The held-out coordinates of the supported directions get one softmax channel: the probability of
each class, or of each fifth of the numbers, given the coordinates. It is a `FiniteLaw` like any
other, so that thresholds, staircases and costs follow from it.

The theory depends on which moments vanish exactly, and none does for a fitted law. The law is
therefore averaged over each reflection of its coordinates unless the rows contradict it: the loss
of log-likelihood must exceed twice what noise would cause in the terms that the reflection forbids,
by three standard deviations. The coordinates are centred at the mean of the rows, which is not that
of their law: centres of the reflection within three standard errors of it are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.estimators._channel import standardised
from learnability.estimators._labels import read_labels
from learnability.estimators._logit_channel import Bins, LogitChannel, bins_of
from learnability.estimators._products import products
from learnability.labels import FiniteLaw

__all__ = ["fitted_law"]

Array = NDArray[np.float64]
_PARTS = 5
_MOST_CLASSES = 6
_MOST_DIRECTIONS = 2
_FAR = 4.0
_KNOWN = 0.9
"""Least overlap at which the law given the coordinates stands for that given the true ones."""
_DEGREES = {1: 6, 2: 4}
_STEPS = (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)
"""Centres of reflections that are tried, in standard errors of the mean of a coordinate."""


def fitted_law(found: Any, y: Any, sample_weight: Any = None) -> FiniteLaw:
    """Return the law of the target given the supported directions of a fit.

    Numbers are cut into fifths, whose label is 0 to 4. The coordinates differ a little from the
    true ones and the law is smoothed, so that it is mostly less sharp than the true one and its
    thresholds are mostly too large; few rows may also make it too sharp. It is refused where the
    estimated overlap of a direction is below 0.9.

    Parameters
    ----------
    found : IndexSubspace
        The fitted estimator.
    y : array, shape (n,)
        The target it was fitted to.
    sample_weight : array, shape (n,), optional
        Counts of the rows.

    Returns
    -------
    FiniteLaw

    Raises
    ------
    LearnabilityError
        When no direction is supported, or one is not known well enough, or there are more than two
        directions or six classes.
    """
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    y, weights = np.asarray(y)[weights > 0], weights[weights > 0]
    report = found.report_
    r = report.supported or 0
    if report.supported is None and report.undecided:
        what, why = next(iter(report.undecided.items()))
        raise LearnabilityError(f"There is no law to speak of: {what} are undecided, {why}.")
    if r == 0:
        raise LearnabilityError(
            "No direction is supported by held-out rows: there is no law to speak of."
        )
    if r > _MOST_DIRECTIONS:
        raise LearnabilityError(
            f"{r} directions are supported, but the law of at most {_MOST_DIRECTIONS} is learned."
        )
    if any(known is None or known[0] < _KNOWN for known in report.overlap[:r]):
        why = "; ".join(report.undecided.values()) or "more rows are needed"
        raise LearnabilityError(
            "A direction is not known to an overlap of 0.9, so that the law of the target given it "
            f"is undecided: {why}."
        )
    labels = read_labels(y, weights)
    if labels.kind == "classes" and len(labels.values) > _MOST_CLASSES:
        raise LearnabilityError(
            f"The target has {len(labels.values)} classes, but at most {_MOST_CLASSES} are taken."
        )
    bins = bins_of(labels, _PARTS, _PARTS - 1)
    centred = found.held_out_[:, :r] - weights @ found.held_out_[:, :r] / weights.sum()
    t, _ = standardised(centred, weights)
    degree = _DEGREES[r]
    at = products(t, degree)
    channel = LogitChannel(degree, 2.0).fit(at, bins, 30)

    def law(z: Array) -> Array:
        z = np.clip(np.asarray(z, dtype=float), -_FAR, _FAR)
        flat = products(z.reshape(-1, r), degree)
        found = channel.law(flat, _blank(bins, len(flat.w)))
        return found.reshape(*z.shape[:-1], -1)

    averaged = _reflected(law, t, bins, channel.parameters(at, bins))

    def chance(k: int) -> Callable[[Array], Array]:
        return lambda z: np.asarray(averaged(z)[..., k])

    count = len(bins.pi)
    return FiniteLaw(
        range(count), [chance(k) for k in range(count)], r=r, name="the law that was learned"
    )


def _blank(bins: Bins, n: int) -> Bins:
    return Bins(np.zeros(n, dtype=np.intp), bins.pi, bins.psi, bins.roughness, np.ones(n))


def _reflected(
    law: Callable[[Array], Array], t: Array, bins: Bins, parameters: int
) -> Callable[[Array], Array]:
    """Return the law averaged over the reflections that the rows do not contradict."""
    rows = np.arange(len(t))
    r = t.shape[1]
    rows_counted = float(bins.weights.sum())

    def likelihood(law: Callable[[Array], Array], at: Array) -> float:
        return float(bins.weights @ np.log(np.maximum(law(at)[rows, bins.codes], 1e-12)))

    for signs in product((1.0, -1.0), repeat=r):
        turned = [j for j in range(r) if signs[j] < 0]
        if not turned:
            continue
        forbidden = parameters / 2
        most = likelihood(law, t) - forbidden - 3 * np.sqrt(2 * forbidden)
        found: tuple[float, Any, Array] | None = None
        for steps in product(_STEPS, repeat=len(turned)):
            centre = np.zeros(r)
            centre[turned] = np.array(steps) / np.sqrt(rows_counted)
            even = _even(law, np.array(signs), centre)
            value = likelihood(even, t - centre)
            if value >= most and (found is None or value > found[0]):
                found = value, even, t - centre
        if found is not None:
            law, t = found[1:]
    return law


def _even(law: Callable[[Array], Array], signs: Array, centre: Array) -> Callable[[Array], Array]:
    """Return a law averaged over a reflection, in coordinates whose zero is at `centre`."""

    def even(z: Array) -> Array:
        z = np.asarray(z, dtype=float)
        return np.asarray((law(z + centre) + law(z * signs + centre)) / 2)

    return even
