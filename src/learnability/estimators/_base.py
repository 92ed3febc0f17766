"""What all subspace estimators share: reading a table, the linear map, names, fixed signs.

``transform`` is x -> (x - center_) components_^T. The components are orthonormal in the metric of
the covariance, so that the coordinates are uncorrelated with unit variance, and each has its
largest entry (in units of the column's spread) positive.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from learnability.errors import LearnabilityError
from learnability.estimators._lazy_rows import LazyRows, in_memory, is_lazy, lazy_rows
from learnability.estimators._whitening import Whitening

__all__ = [
    "SubspaceEstimator",
    "as_seed",
    "check_choice",
    "check_count",
    "checked_target",
    "fixed_signs",
    "read_weights",
    "refuse_extreme_target",
    "refuse_extremes",
    "refuse_missing",
    "rows_in_memory",
]

Array = NDArray[np.float64]
_MOST_SAMPLED, _LEAST_SAMPLED = 200_000, 10_000
"""The most and the fewest rows of a Dask collection drawn where a finder needs them in memory."""
_SAMPLED_NUMBERS = 1e8
"""The largest number of entries of these rows, unless they are the fewest rows."""
_LARGEST = 1e70
"""The largest entry of a table, of which fourth powers are computed; and that of its inverse."""


class SubspaceEstimator(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base of the estimators whose ``transform`` is a projection."""

    _doc_link_module = "learnability"
    _doc_link_template = "generated/learnability.estimators.{estimator_name}.html"
    _sparse = False

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"estimator_name": type(self).__name__}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = self._sparse
        return tags

    def _read(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, NDArray[Any]]:
        """Return the table and the target as arrays, or name the columns at fault."""
        if y is None:
            raise LearnabilityError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        refuse_missing(X)
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr" if self._sparse else False,
            dtype=[np.float64, np.float32], ensure_min_samples=2 if reset else 1,
        )  # fmt: skip
        refuse_extremes(X, getattr(self, "feature_names_in_", None))
        y = checked_target(y)
        if len(y) != X.shape[0]:
            raise LearnabilityError(
                f"X has {X.shape[0]} rows and y has {len(y)}: inconsistent numbers of samples."
            )
        return X, y

    def _read_counted(self, X: Any, y: Any, counts: Any) -> tuple[Any, NDArray[Any], Array]:
        """Return the rows of positive weight, their targets and their weights.

        From a Dask collection rows are drawn at random, and `sampled_` is (drawn, present).
        """
        self.__dict__.pop("sampled_", None)  # It may be there from an earlier fit.
        if is_lazy(X):
            X, y, counts = self._sample(X, y, counts)
        X, y = self._read(X, y)
        weights = read_weights(X, counts)
        if (weights > 0).all():
            return X, y, weights
        present = weights > 0
        return X[present], y[present], weights[present]

    def _read_lazily(self, X: Any, y: Any, counts: Any) -> tuple[LazyRows, NDArray[Any], Array]:
        """Return rows in blocks, with targets and weights in memory."""
        if y is None:
            raise LearnabilityError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        rows, y = lazy_rows(X), checked_target(in_memory(y))
        n, p = rows.shape
        if len(y) != n:
            raise LearnabilityError(
                f"X has {n} rows and y has {len(y)}: inconsistent numbers of samples."
            )
        self.n_features_in_ = p
        self.__dict__.pop("feature_names_in_", None)  # It may be there from an earlier fit.
        if rows.names is not None:
            self.feature_names_in_ = np.array(rows.names, dtype=object)
        return rows, y, read_weights(np.empty((n, 0)), in_memory(counts))

    def _sample(self, X: Any, y: Any, counts: Any) -> tuple[Any, Any, Any]:
        """Return rows of a Dask collection that are drawn at random, as a table in memory."""
        rows, y, weights = self._read_lazily(X, y, counts)
        present = np.flatnonzero(weights > 0)
        most = rows_in_memory(rows.shape[1])
        seed = as_seed(getattr(self, "random_state", 0))
        some = np.sort(np.random.default_rng(seed).permutation(present)[:most])
        self.sampled_ = (len(some), len(present))
        if len(some) < len(present):
            warnings.warn(
                f"{len(some)} of {len(present)} rows were drawn at random for "
                f"{type(self).__name__}, which needs them in memory.",
                stacklevel=4,
            )
        table: Any = rows.take(some)
        if rows.names is not None:
            import pandas

            table = pandas.DataFrame(table, columns=rows.names)
        return table, y[some], weights[some]

    def _keep(self, whitening: Whitening, U: NDArray[Any]) -> None:
        """Set the linear map from orthonormal directions U (k, r) of white space."""
        self.components_ = fixed_signs(whitening.pull_back(U).T, whitening.scale)
        self.center_ = whitening.center
        self.rank_ = whitening.rank
        self.shrinkage_ = whitening.shrinkage

    def for_folds(self) -> Any:
        """Return an unfitted copy for the folds of the judge, given this fit to all rows."""
        return clone(self)

    def transform(self, X: Any) -> Array:
        """Return coordinates of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix, Dask array or Dask data frame, shape (n, p)
            The inputs.

        Returns
        -------
        array, shape (n, r)
            ``(X - center_) components_^T``; of a Dask collection a Dask array, not computed yet.
        """
        check_is_fitted(self)
        if is_lazy(X):
            return self._transform_lazily(X)  # type: ignore[no-any-return]
        refuse_missing(X)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        return self._project(X)

    def _transform_lazily(self, X: Any) -> Any:
        """Return coordinates of the rows of a Dask collection, a Dask array."""
        rows = lazy_rows(X)
        if rows.shape[1] != self.n_features_in_:
            raise LearnabilityError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return rows.mapped(self._project, len(self.components_))

    def _project(self, X: Any) -> Array:
        return np.asarray(X @ self.components_.T - self.center_ @ self.components_.T)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def rows_in_memory(p: int) -> int:
    """Return how many rows of p columns are drawn from a table that is not in memory."""
    return int(np.clip(_SAMPLED_NUMBERS / max(p, 1), _LEAST_SAMPLED, _MOST_SAMPLED))


def fixed_signs(components: Array, scale: Array) -> Array:
    """Return directions (r, p) whose largest entries, in units of the spread, are positive."""
    if not len(components):
        return components
    sized = components * scale
    largest = np.abs(sized).argmax(axis=1)
    return np.asarray(components * np.sign(sized[np.arange(len(sized)), largest])[:, None])


def refuse_missing(X: Any) -> None:
    """Refuse a data frame with NaN or infinite numbers, and name their columns."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return
    wrong = []
    for name in X.columns:
        column = np.asarray(X[name])
        try:
            fine = np.isfinite(column.astype(float)).all()
        except (TypeError, ValueError):
            continue
        if not fine:
            wrong.append(str(name))
    if wrong:
        raise LearnabilityError(
            f"Input X contains NaN or infinity in the columns {', '.join(wrong)}: fill them (for "
            "instance with sklearn.impute.SimpleImputer) or leave them out."
        )


def refuse_extreme_target(y: NDArray[Any]) -> None:
    """Refuse a target of numbers whose squares are no finite numbers, or vanish."""
    size = float(np.abs(y).max(initial=0.0))
    if size > _LARGEST or 0 < size < 1 / _LARGEST:
        raise LearnabilityError(
            f"`y` holds numbers beyond {_LARGEST:.0e}, or none beyond {1 / _LARGEST:.0e}: give it "
            "in other units."
        )


def refuse_extremes(X: Any, names: Any = None) -> None:
    """Refuse columns whose squares are no finite numbers, or vanish though the columns do not."""
    ends = [X.max(axis=0), -X.min(axis=0)]
    if hasattr(X, "tocsr"):
        ends = [one.toarray()[0] for one in ends]
    sizes = np.maximum(*ends)
    wrong = np.flatnonzero((sizes > _LARGEST) | ((sizes > 0) & (sizes < 1 / _LARGEST)))
    if len(wrong):
        which = ", ".join(str(j) if names is None else str(names[j]) for j in wrong[:8])
        raise LearnabilityError(
            f"The columns {which} hold numbers beyond {_LARGEST:.0e}, or none beyond "
            f"{1 / _LARGEST:.0e}: give them in other units."
        )


def checked_target(y: Any) -> NDArray[Any]:
    """Return a target as an array of finite numbers or of words, or refuse it."""
    y = _target(y)
    dtype = None if y.dtype.kind in "OUS" else np.float64
    y = check_array(
        y, ensure_2d=False, dtype=dtype, ensure_all_finite=dtype is not None,
        input_name="y", allow_nd=True,
    )  # fmt: skip
    if y.ndim > 2:
        raise LearnabilityError("`y` has more than two dimensions: give (n,) or (n, outputs).")
    return np.asarray(y)


def _target(y: Any) -> NDArray[Any]:
    """Return the target as an array; objects that are all numbers become floats."""
    y = np.asarray(y)
    if y.dtype.kind != "O":
        return np.asarray(y)
    import pandas

    missing = np.argwhere(pandas.isna(y))
    if len(missing):
        raise LearnabilityError(
            f"Input y contains missing values (NaN or None), the first in row {missing[0, 0]}: "
            "leave such rows out."
        )
    if all(isinstance(one, Real) and not isinstance(one, bool) for one in y.ravel()):
        return np.asarray(y.astype(float))
    return np.asarray(y)


def read_weights(X: Any, counts: Any) -> Array:
    """Return the counts of the rows of X, by default ones."""
    found = _check_sample_weight(counts, X, dtype=np.float64, ensure_non_negative=True)
    return np.asarray(found)


def as_seed(random_state: Any) -> int:
    """Return a whole number as a seed, drawn from the random state unless it is one."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def check_choice(name: str, value: Any, accepted: tuple[str, ...]) -> None:
    """Refuse a parameter that is not one of the accepted words."""
    if not (isinstance(value, str) and value in accepted):
        raise LearnabilityError(
            f"`{name}` was given as {value!r}, but {', '.join(map(repr, accepted))} is accepted."
        )


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Return a whole number of at least `least`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not (whole and value >= least):
        raise LearnabilityError(
            f"`{name}` was given as {value!r}, but a whole number of at least {least} is accepted."
        )
    return int(value)
