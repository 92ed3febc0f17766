"""Tables that are larger than memory: folders of Parquet files, and a held-out score on them.

`MomentSubspace` and `held_out_score` accept Dask arrays and data frames and give the same results
as in memory, up to rounding; message passing uses rows that are drawn at random, and the report of
`IndexSubspace` says what that loses.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from learnability.errors import LearnabilityError
from learnability.estimators._base import (
    as_seed,
    check_choice,
    check_count,
    checked_target,
    rows_in_memory,
)
from learnability.estimators._judge import judge as judged
from learnability.estimators._labels import read_labels
from learnability.estimators._lazy_rows import in_memory, is_lazy, lazy_rows

__all__ = ["held_out_score", "parquet_rows", "sampled_frame"]


def parquet_rows(
    path: str | Path, target: str, columns: Sequence[str] = (), drop: Sequence[str] = ()
) -> tuple[Any, Any]:
    """Return the inputs and the target of a Parquet data set, which is not read yet.

    Parameters
    ----------
    path : str or Path
        A folder of Parquet files, or one file.
    target : str
        Name of the column to explain.
    columns, drop : sequence of str
        The columns to take, all by default, and those to leave out.

    Returns
    -------
    tuple
        A Dask data frame and a Dask series, for `fit`.

    Raises
    ------
    LearnabilityError
        When there is no such data set, or a column is not in it.
    """
    table = _data_set(path)
    known = [str(name) for name in table.columns]
    for name in (target, *columns, *drop):
        if name not in known:
            raise LearnabilityError(
                f"There is no column {name!r}: the columns are {', '.join(known[:12])}."
            )
    taken = [name for name in (columns or known) if name not in (target, *drop)]
    if not taken:
        raise LearnabilityError("The table has no column beside the target.")
    return table[taken], table[target]


def sampled_frame(path: str | Path, seed: int = 0) -> tuple[Any, list[str]]:
    """Return rows of a Parquet data set as a data frame in memory, with sentences about them.

    Parameters
    ----------
    path : str or Path
        A folder of Parquet files, or one file.
    seed : int
        The seed of the draw of rows, if there are more than easily fit into memory.

    Returns
    -------
    tuple
        A data frame, and sentences.

    Raises
    ------
    LearnabilityError
        When there is no such data set.
    """
    table = _data_set(path)
    rows, most = len(table), rows_in_memory(len(table.columns))
    if rows <= most:
        return table.compute().reset_index(drop=True), []
    found = table.sample(frac=most / rows, random_state=seed).compute().reset_index(drop=True)
    return found, [
        f"{len(found)} of {rows} rows were drawn at random. With all of them the odds q / (1 - q) "
        f"of a squared overlap q would be about {rows / len(found):.1f} times as large."
    ]


def _data_set(path: str | Path) -> Any:
    """Return a Parquet data set as a Dask data frame."""
    try:
        import dask.dataframe as frames

        return frames.read_parquet(str(path))
    except ImportError as error:
        raise LearnabilityError(
            "Parquet files need pyarrow: install learnability[parquet]."
        ) from error
    except (OSError, ValueError) as error:
        raise LearnabilityError(
            f"{str(path)!r} cannot be read as a Parquet data set: {' '.join(str(error).split())}"
        ) from error


def held_out_score(
    estimator: Any, X: Any, y: Any, folds: int = 3, judge: str = "information",
    random_state: Any = 0, sample_weight: Any = None,
) -> tuple[float, float]:  # fmt: skip
    """Return the score of an estimator's coordinates on rows that it did not see.

    Parameters
    ----------
    estimator : subspace estimator
        The estimator, which is cloned and fitted to all rows and without each fold.
    X : array, Dask array or Dask data frame, shape (n, p)
        The inputs; those of Dask are read block by block, the coordinates are held in memory.
    y : array, shape (n,)
        The target.
    folds : int
        Number of folds.
    judge : {"information", "cv"}
        Nats per row of a learned channel, or score of a support vector machine.
    random_state : int, RandomState or None
        The seed of the split of the rows.
    sample_weight : array, shape (n,), optional
        Counts of the rows.

    Returns
    -------
    tuple of float
        The score, and its standard error.

    Raises
    ------
    LearnabilityError
        When an argument is not accepted.
    """
    check_choice("judge", judge, ("information", "cv"))
    check_count("folds", folds, 2)
    y = checked_target(in_memory(y))
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(in_memory(sample_weight))
    X = lazy_rows(X).table if is_lazy(X) else np.asarray(X, dtype=float)
    verdict = judged(
        clone(estimator), X, y, read_labels(y, weights), folds=folds, seed=as_seed(random_state),
        how=judge,
    )  # fmt: skip
    return verdict.score, verdict.error
