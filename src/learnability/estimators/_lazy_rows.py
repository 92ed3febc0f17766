"""Tables that are larger than memory: rows of Dask arrays and data frames, block by block.

Sums over rows are made of the sums of blocks, added in a tree, so that only some blocks and some
sums are in memory at a time. Targets and weights, one number per row, are held in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from learnability.errors import LearnabilityError

__all__ = ["LazyRows", "in_memory", "is_lazy", "lazy_rows"]

_TOGETHER = 8
"""Number of sums that are added at a time."""


@dataclass(frozen=True)
class LazyRows:
    """Rows in blocks.

    Attributes
    ----------
    table : dask array, shape (n, p)
        The rows, all columns of a row in one block.
    names : list of str or None
        Names of the columns, where they have some.
    """

    table: Any
    names: list[str] | None

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return int(self.table.shape[0]), int(self.table.shape[1])

    def summed(self, function: Callable[..., Any], *columns: NDArray[Any]) -> Any:
        """Return the sum over blocks of a function of a block and its part of some columns.

        Parameters
        ----------
        function : callable
            Takes rows (m, p) and (m,) arrays, and returns something that can be added.
        columns : arrays, shape (n,)
            Numbers of the rows, in memory.

        Returns
        -------
        object
            The sum of what the function returns.

        Raises
        ------
        LearnabilityError
            When a block holds numbers that are not finite.
        """
        from dask.delayed import delayed

        ends = [0, *accumulate(self.table.chunks[0])]
        blocks = self.table.to_delayed()[:, 0]
        names = self.names

        def of_block(block: Any, *parts: NDArray[Any]) -> Any:
            return function(_finite(block, names), *parts)

        sums = [
            delayed(of_block)(block, *(column[first:last] for column in columns))
            for block, first, last in zip(blocks, ends[:-1], ends[1:], strict=True)
            if last > first
        ]
        while len(sums) > 1:
            groups = (sums[at : at + _TOGETHER] for at in range(0, len(sums), _TOGETHER))
            sums = [delayed(_added)(group) for group in groups]
        with threadpool_limits(1, user_api="blas"):  # Blocks are processed in parallel already.
            return sums[0].compute()

    def mapped(self, function: Callable[[NDArray[Any]], NDArray[Any]], width: int) -> Any:
        """Return a dask array (n, width) of a function of the rows, not computed yet."""
        names = self.names

        def of_block(block: Any) -> NDArray[Any]:
            return function(_finite(block, names))

        return self.table.map_blocks(
            of_block, dtype=np.float64, chunks=(self.table.chunks[0], (width,))
        )

    def take(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return some rows, given by their numbers in increasing order, as an array in memory."""
        return _finite(self.table[rows].compute(), self.names)


def is_lazy(X: Any) -> bool:
    """Return whether a table is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def in_memory(column: Any) -> Any:
    """Return a column, which may be a Dask collection, as an array."""
    return np.asarray(column.compute()) if is_lazy(column) else column


def lazy_rows(X: Any) -> LazyRows:
    """Return the rows of a Dask array or data frame.

    Raises
    ------
    LearnabilityError
        When it is not a table of numbers.
    """
    names: list[str] | None = None
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        words = [
            name for name, kind in zip(names, X.dtypes, strict=True) if kind.kind not in "biuf"
        ]
        if words:
            raise LearnabilityError(
                f"The columns {', '.join(words[:8])} hold no numbers: a table that is read in "
                "blocks takes numbers only."
            )
        X = X.to_dask_array()
    if X.ndim != 2:
        raise LearnabilityError(f"X has {X.ndim} dimensions, but a table has two.")
    if any(np.isnan(length) for length in X.chunks[0]):
        X = X.compute_chunk_sizes()  # This takes one more pass.
    return LazyRows(X.rechunk({1: -1}), names)


def _finite(block: Any, names: list[str] | None) -> NDArray[np.float64]:
    """Return a block as floats, or refuse it and name the columns that are not finite."""
    rows = np.asarray(block, dtype=np.float64)
    unsure = np.flatnonzero(~np.isfinite(rows.sum(axis=0)))
    wrong = [int(j) for j in unsure if not np.isfinite(rows[:, j]).all()]
    if wrong:
        called = ", ".join(str(j) if names is None else names[j] for j in wrong[:8])
        raise LearnabilityError(
            f"Input X contains NaN or infinity in the columns {called}: fill them, or leave them "
            "out."
        )
    return rows


def _added(parts: Sequence[Any]) -> Any:
    return reduce(lambda one, other: one + other, parts)
