"""Second moments of conditional expectations given the label, from samples of any link.

The Gram matrix K = E[ E[t | y] E[t | y]^T ] of features t(z) is estimated, for continuous,
discrete or mixed labels, with its standard error. E[t | y] is fitted by least squares on segments
of the label axis (basis 1, rank of y, y), and K is the product of fits from *different*
replicates of scrambled Sobol points. Given the labels, each fit is unbiased and the replicates
are independent, so their noise does not add up: a vanishing K is estimated by something centred
at zero, whereas the square of one fit adds spurious information for every segment.

The segments come from the other half of the replicates: a recursive best split (as in regression
trees) that continues while a split gains more than noise would, so that the jumps of E[t | y],
which sit at the critical values of g, are found without being known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

__all__ = ["REPLICATES", "CrossGram", "regress_on_label"]

Array = NDArray[np.float64]
Sampler = Callable[[int], tuple[Array, Array, Array]]

_FINE_BINS = 32768
REPLICATES = 8
"""Independent sets of samples."""
_MOST_BASE_SEGMENTS = 64
_LEAST_COUNT = 16
_LEAST_GAIN = 2e-6
_PAIRS = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])


@dataclass(frozen=True)
class Fits:
    """Fits of E[t | y] from independent replicates, in orthonormal functions of each segment.

    Attributes
    ----------
    coefficients : array, shape (replicates, q, segments, functions)
        The fits.
    mass : array, shape (replicates, segments)
        Share of the samples of each replicate in each segment.
    cuts : array, shape (segments + 1,)
        Fine bins at which the segments begin.
    functions : array, shape (segments, 3, functions)
        The orthonormal functions in the basis 1, rank, scaled label.
    """

    coefficients: Array
    mass: Array
    cuts: NDArray[np.int64]
    functions: Array

    def predict(self, axis: LabelAxis, y: Array) -> Array:
        """Return the mean of the fits at labels y, shape (q, n)."""
        index, x, v = axis.coordinates(y)
        segment = np.searchsorted(self.cuts, index, side="right") - 1
        basis = np.stack([np.ones_like(x), x, v], axis=-1)
        values = np.einsum("ni,nia->na", basis, self.functions[segment])
        mean = self.coefficients.mean(axis=0)[:, segment]
        return np.asarray(np.einsum("na,qna->qn", values, mean))

    def cross(self, without: int | None = None) -> Array:
        """Return the mean of the products of fits from different replicates, shape (q, q)."""
        keep = [k for k in range(len(self.mass)) if k != without]
        share = np.sqrt(self.mass[keep].mean(axis=0))
        fits = (self.coefficients[keep] * share[:, None]).reshape(
            len(keep), self.coefficients.shape[1], -1
        )
        total = fits.sum(axis=0)
        own = np.einsum("iak,ibk->ab", fits, fits)
        return np.asarray((total @ total.T - own) / (len(keep) * (len(keep) - 1)))


@dataclass(frozen=True)
class CrossGram:
    """The estimate of K from two halves of the replicates, each fitted on the other's segments."""

    halves: tuple[Fits, Fits]
    axis: LabelAxis

    def predict(self, y: Array) -> Array:
        """Return E[t | y] at labels y, shape (q, n)."""
        return 0.5 * (self.halves[0].predict(self.axis, y) + self.halves[1].predict(self.axis, y))

    def matrix(self) -> Array:
        """Return the estimate of K, shape (q, q)."""
        return 0.5 * (self.halves[0].cross() + self.halves[1].cross())

    def leave_one_out(self) -> list[tuple[Array, float]]:
        """Estimates of K without one replicate, each tagged by the half that it belongs to."""
        return [
            (0.5 * (half.cross(without=k) + other.cross()), tag)
            for half, other, tag in ((*self.halves, 0.0), (*self.halves[::-1], 1.0))
            for k in range(len(half.mass))
        ]


def jackknife_error(estimates: list[tuple[float, float]]) -> float:
    """Return the standard error from leave-one-out values tagged by the half they left."""
    variance = 0.0
    for tag in (0.0, 1.0):
        values = np.array([value for value, half in estimates if half == tag])
        variance += (len(values) - 1) / len(values) * float(np.sum((values - values.mean()) ** 2))
    return float(np.sqrt(variance))


def regress_on_label(sample: Sampler, bins: int = _FINE_BINS) -> CrossGram:
    """Fit E[t | y] on each of several independent replicates.

    Parameters
    ----------
    sample : callable
        From a seed to labels (N,), features (q, N) and weights (N,).
    bins : int
        Number of fine label bins that the segments are made of.

    Returns
    -------
    CrossGram
    """
    data = [sample(seed) for seed in range(REPLICATES)]
    labels = np.concatenate([y for y, _, _ in data])
    axis = LabelAxis.of(labels, bins)
    sums = [_BinSums.of(axis, *part) for part in data]
    middle = REPLICATES // 2
    fits = []
    for fit, use in ((sums[:middle], sums[middle:]), (sums[middle:], sums[:middle])):
        cuts = _segments(_BinSums.total(fit), axis.forced, _LEAST_COUNT * len(fit))
        fits.append(_fit([s.merged(cuts) for s in use], cuts))
    return CrossGram((fits[0], fits[1]), axis)


@dataclass(frozen=True)
class LabelAxis:
    """Fine bins of the label: edges, rank at each edge, and the bins that must stay apart."""

    edges: Array
    rank: Array
    low: Array
    width: Array
    scale: float
    forced: NDArray[np.int64]

    @staticmethod
    def of(labels: Array, bins: int) -> LabelAxis:
        ordered = np.sort(labels)
        n = len(ordered)
        tail = 2.0 ** -np.arange(1, 40)
        tail = tail[tail * n > 64]
        quantiles = np.concatenate([np.arange(1, bins) / bins, tail, 1 - tail])
        index = np.unique((quantiles * n).astype(int))
        index = index[(index > 0) & (index < n)]
        edges, hits = np.unique(ordered[index], return_counts=True)
        atoms = edges[hits > 1]  # A value that fills a quantile has positive probability.
        edges = np.unique(np.concatenate([edges, np.nextafter(atoms, np.inf)]))
        rank = np.concatenate([[0.0], np.searchsorted(ordered, edges) / n, [1.0]])
        ends = np.concatenate([ordered[:1], edges, ordered[-1:]])
        own = np.searchsorted(edges, atoms, side="right")
        base = min(max(n // 4096, 8), _MOST_BASE_SEGMENTS)
        regular = np.searchsorted(rank, np.linspace(0, 1, base + 1))
        forced = np.unique(np.clip(np.concatenate([own, own + 1, regular]), 0, len(edges) + 1))
        forced = np.unique(np.append(forced, len(edges) + 1))
        scale = float(np.abs(ordered[[0, -1]]).max()) or 1.0
        return LabelAxis(edges, rank, ends[:-1], np.maximum(np.diff(ends), 1e-300), scale, forced)

    def coordinates(self, y: Array) -> tuple[NDArray[np.intp], Array, Array]:
        """Return the bin, rank and scaled value of labels."""
        index = np.searchsorted(self.edges, y, side="right")
        inside = np.clip((y - self.low[index]) / self.width[index], 0, 1)
        rank = self.rank[index] + inside * (self.rank[index + 1] - self.rank[index])
        return index, rank, y / self.scale


@dataclass(frozen=True)
class _BinSums:
    """Sums over the samples of each bin.

    Attributes
    ----------
    basis : array, shape (6, bins)
        Sums of 1, x, v, x^2, xv, v^2 with x the rank and v the scaled label.
    moments : array, shape (q, 3, bins)
        Sums of t, tx, tv.
    squares : array, shape (q, bins)
        Sums of t^2.
    count : array, shape (bins,)
        Number of samples; the other sums are weighted.
    """

    basis: Array
    moments: Array
    squares: Array
    count: Array

    @staticmethod
    def of(axis: LabelAxis, y: Array, t: Array, weight: Array) -> _BinSums:
        bins = len(axis.edges) + 1
        index, x, v = axis.coordinates(y)

        def add(values: Array) -> Array:
            return np.bincount(index, values * weight, minlength=bins).astype(float)

        basis = np.stack([add(np.ones_like(x)), add(x), add(v), add(x * x), add(x * v), add(v * v)])
        moments = np.stack([np.stack([add(f), add(f * x), add(f * v)]) for f in t])
        count = np.bincount(index, minlength=bins).astype(float)
        return _BinSums(basis, moments, np.stack([add(f * f) for f in t]), count)

    @staticmethod
    def total(parts: list[_BinSums]) -> _BinSums:
        return _BinSums(
            *(np.sum([getattr(p, f.name) for p in parts], axis=0) for f in fields(_BinSums))
        )

    def merged(self, cuts: NDArray[np.int64]) -> _BinSums:
        """Return sums over the segments between the cuts."""
        return _BinSums(
            *(np.add.reduceat(getattr(self, f.name), cuts[:-1], axis=-1) for f in fields(self))
        )


def _segments(sums: _BinSums, forced: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Cuts of the label axis: best splits of a linear fit in the rank, while they beat noise."""
    q = len(sums.moments)
    raw = [sums.basis[0], sums.basis[1], sums.basis[3], sums.moments[:, 0], sums.moments[:, 1]]
    counted = np.concatenate([[0.0], np.cumsum(sums.count)])
    running = [
        np.concatenate([np.zeros((*a.shape[:-1], 1)), np.cumsum(a, axis=-1)], axis=-1)
        for a in (*raw, sums.squares)
    ]
    total = np.maximum(running[5][:, -1:], 1e-300)

    def explained(low: Array, high: Array, fewest: int) -> Array:
        n, x, xx, t, tx = (c[..., high] - c[..., low] for c in running[:5])
        with np.errstate(all="ignore"):
            spread = xx - x * x / n
            slope = np.where(spread > 1e-12 * n, (tx - t * x / n) ** 2 / spread, 0.0)
            enough = counted[high] - counted[low] >= fewest
            return np.where(enough, t**2 / n + slope, -np.inf)

    cuts: list[int] = []
    stack = list(zip(forced[:-1].tolist(), forced[1:].tolist(), strict=True))
    while stack:
        low, high = stack.pop()
        if high - low < 2:
            cuts.append(low)
            continue
        at = np.arange(low + 1, high)
        whole = explained(np.array([low]), np.array([high]), 1)
        gain = (
            explained(np.array([low]), at, least) + explained(at, np.array([high]), least) - whole
        )
        squares = running[5][:, [high]] - running[5][:, [low]]
        noise = np.maximum(squares - whole, 1e-300) / max(counted[high] - counted[low], 1.0)
        score = (gain / noise).sum(axis=0)
        best = int(np.argmax(score))
        if score[best] > 2 * q + 12 and (gain / total).sum(axis=0)[best] > _LEAST_GAIN:
            stack += [(low, int(at[best])), (int(at[best]), high)]
        else:
            cuts.append(low)
    return np.array([*sorted(cuts), int(forced[-1])])


def _fit(parts: list[_BinSums], cuts: NDArray[np.int64]) -> Fits:
    """Fit each replicate by local least squares, in a basis orthonormal for the pooled labels."""
    pooled = _BinSums.total(parts)
    count = np.maximum(pooled.basis[0], 1e-300)
    centre = pooled.basis[1:3] / count
    shift = np.tile(np.eye(3), (len(count), 1, 1))
    shift[:, 1, 0], shift[:, 2, 0] = -centre[0], -centre[1]

    def centred(sums: _BinSums) -> tuple[Array, Array]:
        n = np.maximum(sums.basis[0], 1e-300)
        gram = shift @ sums.basis[_PAIRS].transpose(2, 0, 1) @ shift.transpose(0, 2, 1)
        moment = np.einsum("sij,qjs->sqi", shift, sums.moments)
        return gram / n[:, None, None], moment / n[:, None, None]

    gram, _ = centred(pooled)
    spread = np.einsum("sii->si", gram)
    raw = pooled.basis[[0, 3, 5]].T / count[:, None]
    # On an atom neither the rank nor the label varies: what is left is rounding.
    size = np.where(spread > 1e-11 * raw + 1e-30, np.sqrt(np.maximum(spread, 1e-300)), np.inf)
    values, vectors = np.linalg.eigh(gram / size[:, :, None] / size[:, None, :])
    whiten = np.where(
        (values > 1e-7)[:, None, :], vectors / np.sqrt(np.maximum(values, 1e-300))[:, None, :], 0
    )
    whiten = whiten / size[:, :, None]
    fits = []
    for sums in parts:
        own, moment = centred(sums)
        own = np.einsum("sia,sij,sjb->sab", whiten, own, whiten)
        moment = np.einsum("sia,sqi->sqa", whiten, moment)
        inverse = np.linalg.pinv(own, rcond=1e-3, hermitian=True)
        fits.append(np.einsum("sab,sqb->qsa", inverse, moment))
    mass = np.array([sums.basis[0] / sums.basis[0].sum() for sums in parts])
    functions = shift.transpose(0, 2, 1) @ whiten
    return Fits(np.array(fits), mass, cuts, functions)
