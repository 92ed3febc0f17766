"""Layer-wise probes: how linearly each level of hidden features can be read off each layer.

A probe is ridge regression of the hidden features on the values of a layer, fitted on one half of
the samples with the ridge of least leave-one-out error. Its value is the share of the variance of
the features that it explains on the other half, R^2 = 1 - sum (h - fit)^2 / sum (h - mean h)^2,
summed over the features of a level. Its standard error is that of a ratio of means over samples.
The value is zero if nothing can be read linearly from the layer; a poor probe can have less.

References
----------
Alain, Bengio, ICLR workshop 2017 (linear probes of layers).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.learners.deep._leave_one_out import fit_by_leave_one_out

__all__ = ["Probes", "layer_probes"]

Array = NDArray[np.float64]
Values = NDArray[Any]

_LEAST = 20  # The least number of samples.


@dataclass(frozen=True, eq=False)
class Probes:
    """What linear probes read.

    Attributes
    ----------
    value : array, shape (layers, levels)
        Share of the variance of a level's features that a layer explains, on held-out samples.
    stderr : array, shape (layers, levels)
        Its standard error, from the held-out samples.
    layers, levels : tuple of str
        Names of the layers and of the levels.
    """

    value: Array
    stderr: Array
    layers: tuple[str, ...]
    levels: tuple[str, ...]

    def __str__(self) -> str:
        cells = [["", *self.levels]]
        for name, row, errors in zip(self.layers, self.value, self.stderr, strict=True):
            cells.append([name, *(f"{v:.3f} ({e:.3f})" for v, e in zip(row, errors, strict=True))])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
            for row in cells
        )


def layer_probes(
    features: Sequence[Values] | Callable[[Values], Sequence[Values]],
    hidden: Sequence[Values],
    inputs: Values | None = None,
    ridge: float | None = None,
    seed: int = 0,
) -> Probes:
    """Return how linearly each level of hidden features can be read off each layer.

    Parameters
    ----------
    features : sequence of array, shape (n, ...), or callable
        Values of each layer of any model at n samples, or a function that gives them for `inputs`.
    hidden : sequence of array, shape (n,) or (n, ...)
        Values of the hidden features of each level at the same samples, such as those of
        `Hierarchical.features`; or labels, one column for each class.
    inputs : array, shape (n, ...), optional
        Samples for a callable.
    ridge : float, optional
        Ridge over the mean eigenvalue of a layer's Gram matrix; by default the one of least
        leave-one-out error.
    seed : int
        Seed of the split of the samples into halves.

    Returns
    -------
    Probes

    Raises
    ------
    LearnabilityError
        When numbers of samples differ or are fewer than 20, when values are not finite, or when a
        level is constant.

    References
    ----------
    Alain, Bengio, ICLR workshop 2017.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).standard_normal((2000, 3))
    >>> found = layer_probes([x, x**2], [x[:, 0], x[:, 0] ** 2])
    >>> found.value.round(1) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    if callable(features):
        if inputs is None:
            raise LearnabilityError(
                "`features` was given as a function, but `inputs` was not: give the samples at "
                "which its layers are probed."
            )
        features = features(inputs)
    layers = [_checked("features", k, one) for k, one in enumerate(features, 1)]
    levels = [_checked("hidden", k, one) for k, one in enumerate(hidden, 1)]
    sizes = {len(one) for one in (*layers, *levels)}
    if len(sizes) != 1 or not layers or not levels or min(sizes) < _LEAST:
        raise LearnabilityError(
            f"Layers of {', '.join(str(len(one)) for one in layers) or 'no'} samples and levels of "
            f"{', '.join(str(len(one)) for one in levels) or 'no'} were given, but at least one "
            f"of each, all at the same {_LEAST} samples or more, is accepted."
        )
    n = sizes.pop()
    order = np.random.default_rng([seed, 61]).permutation(n)
    fitted, held = order[: n // 2], order[n // 2 :]
    found = np.array([_probe(layer, levels, fitted, held, ridge) for layer in layers])
    return Probes(
        found[..., 0], found[..., 1],
        tuple(f"layer {k + 1}" for k in range(len(layers))),
        tuple(f"level {k + 1}" for k in range(len(levels))),
    )  # fmt: skip


def _probe(
    layer: Array, levels: Sequence[Array], fitted: Values, held: Values, ridge: float | None
) -> list[tuple[float, float]]:
    """Return the share and its error for each level, from one regression for all levels."""
    centre = layer[fitted].mean(axis=0)
    spread = layer[fitted].std(axis=0)
    varies = spread > 1e-12 * np.abs(layer).max(axis=0)
    standard = ((layer - centre) / np.where(varies, spread, 1.0))[:, varies]
    labels = np.concatenate(levels, axis=1)
    read = np.tile(labels[fitted].mean(axis=0), (len(held), 1))
    if varies.any():
        fit = fit_by_leave_one_out(lambda: [standard[fitted]], labels[fitted].T, ridge)
        read = fit(standard[held])
    missed = (labels[held] - read) ** 2
    apart = (labels[held] - labels[held].mean(axis=0)) ** 2
    found, start = [], 0
    for level in levels:
        columns = slice(start, start + level.shape[1])
        start += level.shape[1]
        top, bottom = missed[:, columns].sum(axis=1), apart[:, columns].sum(axis=1)
        mean = float(bottom.mean())
        left = float(top.mean()) / mean
        error = float(np.std(top - left * bottom, ddof=1)) / (mean * math.sqrt(len(held)))
        found.append((1 - left, error))
    return found


def _checked(name: str, place: int, values: Values) -> Array:
    """Return the values as rows of numbers."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(())
    if found.ndim == 0 or not found.size or not np.isfinite(found).all():
        raise LearnabilityError(
            f"`{name}` number {place} was given with shape {np.shape(values)}, but finite values "
            "with one row for each sample are accepted."
        )
    rows = found.reshape(len(found), -1)
    if name == "hidden" and not np.ptp(rows, axis=0).any():
        raise LearnabilityError(
            f"`hidden` number {place} is constant, so that there is nothing to be read."
        )
    return rows
