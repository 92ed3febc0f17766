"""Directions from moments of x inside slices of y: SIR, SAVE, DR, pHd, learned preprocessing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.utils import check_random_state

from learnability.errors import LearnabilityError
from learnability.estimators._accumulator import Accumulator
from learnability.estimators._base import SubspaceEstimator, check_choice, check_count, read_weights
from learnability.estimators._labels import read_labels
from learnability.estimators._lazy_rows import LazyRows, is_lazy
from learnability.estimators._moments import (
    METHODS,
    SliceMoments,
    bulk_edge,
    leading_directions,
    learned_directions,
)
from learnability.estimators._whitening import WIDE, Whitening, row_blocks, whiten

__all__ = ["MomentSubspace"]

_CLIPPED = 0.95
"""Share of Gaussian rows that keep their length."""


class MomentSubspace(SubspaceEstimator):
    """Directions in which the moments of x change with y.

    This is the cheapest family, with one pass and one eigenproblem. Each method is blind to some
    functions: sir to even ones, phd to odd ones and to every linear trend, save is the last to see
    odd ones; dr sees all first and second moments.

    Parameters
    ----------
    method : {"dr", "sir", "save", "phd", "learned"}, default "dr"
        Directional regression, sliced inverse regression, sliced average variance, principal
        Hessian directions, or moments against functions of y that are learned with the directions.
    n_components : int, default 2
        Number of directions; fewer are returned, with a warning, where the moments hold fewer.
    slices : int or array of increasing edges, default 10
        Slices of a numerical y, of equal weight or with the given inner edges; classes are slices.
    whitening : {"auto", "exact", "shrunk"}, default "auto"
        Covariance of x; "auto" shrinks it below three samples per coordinate.
    clip : bool, default True
        Bound the length of the white rows (at the 95 % point of Gaussian ones), so that heavy tails
        of x do not take over the second moments. It acts on dense tables with three rows per
        coordinate; `partial_fit` leaves it out, because it needs the covariance of all data first.
    random_state : int, RandomState or None, default None
        The seed of the starts of "learned".

    Attributes
    ----------
    components_ : array, shape (r, p)
        The directions, orthonormal in the metric of the covariance of x.
    center_ : array, shape (p,)
        Mean of x.
    eigenvalues_ : array
        Spectrum in decreasing order.
    bulk_edge_ : float
        Where the leading eigenvalue would lie without any dependence; NaN where not known.
    rank_ : int
        Number of white coordinates.
    shrinkage_ : float
        Weight of the identity in the correlation matrix.

    Notes
    -----
    `sample_weight` counts rows: a weight of two is a row given twice.

    Examples
    --------
    >>> import numpy as np
    >>> from learnability.estimators import MomentSubspace
    >>> X = np.random.default_rng(0).standard_normal((500, 5))
    >>> coordinates = MomentSubspace(n_components=1).fit_transform(X, X[:, 0] ** 2)
    """

    _sparse = True

    def __init__(
        self, method: str = "dr", n_components: int = 2, slices: Any = 10,
        whitening: str = "auto", clip: bool = True, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.method = method
        self.n_components = n_components
        self.slices = slices
        self.whitening = whitening
        self.clip = clip
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MomentSubspace:
        """Find the directions.

        Parameters
        ----------
        X : array, sparse matrix, Dask array or Dask data frame, shape (n, p)
            The inputs; those of Dask are read block by block, twice with `clip`.
        y : array, shape (n,) or (n, outputs)
            The target: numbers, of which only the order counts, or classes.
        sample_weight : array, shape (n,), optional
            Counts of the rows.

        Returns
        -------
        MomentSubspace
        """
        self._check()
        self._sums: Accumulator | None = None
        if is_lazy(X):
            return self._fit_blocks(*self._read_lazily(X, y, sample_weight))
        X, y = self._read(X, y)
        weights = read_weights(X, sample_weight)
        codes, ordered = self._codes(y, weights)
        sparse = hasattr(X, "tocsr")
        rough = None if sparse else whiten(X, weights, self.whitening)
        if rough is not None and X.shape[1] > X.shape[0]:
            self._solve(_row_space(rough, X, weights, codes, ordered=ordered), rough)
            return self
        sums = Accumulator(np.zeros(X.shape[1]) if rough is None else rough.center)
        # With few rows the longest ones carry most of the information.
        clip = self.clip and rough is not None and not rough.has_few_rows(weights.sum())
        sums.add(X, weights, codes, _sizes(rough, X) if clip and rough is not None else None)
        whitening = sums.whitening(self.whitening)
        self._solve(sums.moments(whitening, ordered=ordered), whitening)
        return self

    def _codes(self, y: NDArray[Any], weights: Any) -> tuple[NDArray[np.intp], bool]:
        """Return the slice of each row, and whether the slices are in an order."""
        labels = read_labels(y, weights)
        ordered = labels.kind == "numbers"
        if ordered and not isinstance(self.slices, (int, np.integer)):
            return self._cut(y), ordered
        return labels.slices(self.slices if ordered else 0), ordered

    def _fit_blocks(self, rows: LazyRows, y: NDArray[Any], weights: Any) -> MomentSubspace:
        """Fit to rows that are read block by block."""
        n, p = rows.shape
        if p > n:
            raise LearnabilityError(
                f"X has {n} rows and {p} columns, but a table that is read in blocks has more rows "
                "than columns: give it as an array."
            )
        codes, ordered = self._codes(y, weights)
        rough: Whitening | None = None
        shift = rows.take(np.arange(min(n, p + 1))).mean(axis=0)

        def sums_of(X: Any, w: Any, codes: NDArray[np.intp]) -> Accumulator:
            found = Accumulator(shift)
            found.add(X, w, codes, None if rough is None else _sizes(rough, X))
            return found

        if self.clip:
            first = rows.summed(sums_of, weights, np.zeros(n, dtype=np.intp))
            whitening = first.whitening(self.whitening)
            if not whitening.has_few_rows(weights.sum()):
                rough, shift = whitening, whitening.center
        sums = rows.summed(sums_of, weights, codes)
        whitening = sums.whitening(self.whitening)
        self._solve(sums.moments(whitening, ordered=ordered), whitening)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> MomentSubspace:
        """Add rows; the result is that of one fit to all rows, without `clip`, in those slices.

        Parameters
        ----------
        X : array or sparse matrix, shape (n, p)
            More inputs.
        y : array, shape (n,)
            Their targets.
        classes : array, optional
            All classes, in the first call. Without it numbers are cut at the quantiles of the first
            piece, or at `slices` where edges are given, and classes are those of the first piece.
        sample_weight : array, shape (n,), optional
            Counts of the rows.

        Returns
        -------
        MomentSubspace
        """
        self._check()
        sums = getattr(self, "_sums", None)
        first = sums is None
        X, y = self._read(X, y, reset=first)
        weights = read_weights(X, sample_weight)
        if y.ndim == 2:
            raise LearnabilityError("`partial_fit` takes one output, but y has several: use `fit`.")
        if sums is None:
            mean = np.zeros(X.shape[1]) if hasattr(X, "tocsr") else np.average(X, 0, weights)
            sums = self._sums = Accumulator(np.asarray(mean, dtype=float))
            self._edges, self.classes_ = self._first_slices(y, weights, classes)
        if self.classes_ is None:
            codes = np.searchsorted(self._edges, y)
        else:
            codes = np.searchsorted(self.classes_, y).clip(0, len(self.classes_) - 1)
            if (self.classes_[codes] != y).any():
                raise LearnabilityError(
                    "`y` has classes that the first piece had not: name all of them in `classes`."
                )
        sums.add(X, weights, codes)
        whitening = sums.whitening(self.whitening)
        self._solve(sums.moments(whitening, ordered=self.classes_ is None), whitening)
        return self

    def _first_slices(self, y: NDArray[Any], weights: Any, classes: Any) -> tuple[Any, Any]:
        if classes is not None:
            return None, np.unique(np.asarray(classes))
        labels = read_labels(y, weights)
        if labels.kind == "classes":
            return None, labels.values
        if not isinstance(self.slices, (int, np.integer)):
            return np.asarray(self.slices, dtype=float), None
        return np.quantile(y, np.arange(1, self.slices) / self.slices), None

    def _check(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("whitening", self.whitening, ("auto", "exact", "shrunk"))
        check_count("n_components", self.n_components)
        if isinstance(self.slices, (int, np.integer)):
            check_count("slices", self.slices, 2)
        elif np.ndim(self.slices) != 1 or (np.diff(np.asarray(self.slices, float)) <= 0).any():
            raise LearnabilityError(
                "`slices` is neither a whole number nor a list of increasing edges."
            )

    def _cut(self, y: NDArray[Any]) -> NDArray[np.intp]:
        return np.asarray(np.searchsorted(np.asarray(self.slices, dtype=float), y))

    def _solve(self, moments: SliceMoments, whitening: Whitening) -> None:
        """Set the attributes from the moments."""
        if self.method == "learned":
            if whitening.rank > WIDE or whitening.triangular:
                raise LearnabilityError(
                    f"`method` 'learned' takes up to {WIDE} columns, X has more: use 'dr'."
                )
            rng = np.random.default_rng(
                check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
            )
            values, vectors = learned_directions(moments, self.n_components, rng)
        else:
            values, vectors = leading_directions(moments, self.method, self.n_components)
        vectors = _settled(values, vectors, whitening)
        self.eigenvalues_ = values
        self.bulk_edge_ = bulk_edge(moments, self.method)
        found = min(self.n_components, vectors.shape[1])
        if found < self.n_components and found < whitening.rank:
            warnings.warn(
                f"{self.method} finds {found} directions with {len(moments.shares)} slices, fewer "
                f"than the {self.n_components} asked for: no others are added.",
                stacklevel=3,
            )
        self._keep(whitening, vectors[:, :found])


def _settled(values: NDArray[Any], vectors: NDArray[Any], whitening: Whitening) -> NDArray[Any]:
    """Return eigenvectors with a fixed basis where eigenvalues are equal, the longest in x first.

    With nearly as many white coordinates as rows many eigenvalues are equal, and otherwise rounding
    would choose among their eigenvectors.
    """
    if whitening.triangular:
        return vectors
    settled = vectors.copy()
    count = vectors.shape[1]
    apart = np.diff(values[:count]) < -1e-7 * max(float(np.abs(values).max(initial=0)), 1e-300)
    edges = [0, *(np.flatnonzero(apart) + 1), count]
    for first, last in zip(edges[:-1], edges[1:], strict=True):
        if last - first > 1:
            V = vectors[:, first:last]
            along = (whitening.scale[:, None] * whitening.pull_back(V)).T
            settled[:, first:last] = V @ np.linalg.svd(along)[0]
    return settled


def _sizes(whitening: Whitening, X: Any) -> NDArray[Any]:
    """Return factors that shorten long white rows to the 95 % point of Gaussian lengths."""
    most = np.sqrt(chi2.ppf(_CLIPPED, max(whitening.rank, 1)))
    lengths = [
        np.linalg.norm(whitening.rows(X[rows]), axis=1) for rows in row_blocks(0, X.shape[0])
    ]
    return np.asarray(np.minimum(1.0, most / np.maximum(np.concatenate(lengths), 1e-300)))


def _row_space(
    whitening: Whitening, X: Any, weights: Any, codes: NDArray[Any], *, ordered: bool
) -> SliceMoments:
    """Return moments in the row space of a table with more columns than rows, where Z is small."""
    Z = whitening.rows(X)
    shares, means, seconds = [], [], []
    for code in np.unique(codes[weights > 0]):
        rows = (codes == code) & (weights > 0)
        w = weights[rows]
        shares.append(w.sum())
        means.append(w @ Z[rows] / w.sum())
        seconds.append(Z[rows].T @ (Z[rows] * w[:, None]) / w.sum())
    counts = np.array(shares)
    return SliceMoments(counts / counts.sum(), np.array(means), seconds, ordered, counts.sum())
