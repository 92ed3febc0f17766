"""Labelled results without Dask's arrays, so that a short call does not wait for them.

The first labelled array that xarray makes in a process lets it look for Dask, whose arrays it could
hold; that loads `dask.array`, which takes a fifth of the time of a short call. Results of the
command line hold NumPy's arrays alone. xarray looks once and remembers: when it looks while Dask is
out of sight, Dask stays unloaded until a study starts workers with it. The library never does this,
because a user's own program may put Dask's arrays into labelled results.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["leave_dask_unloaded"]


def leave_dask_unloaded() -> None:
    """Load xarray while Dask is hidden from it; nothing happens when Dask is loaded already."""
    if "dask" in sys.modules:
        return
    with _out_of_sight("dask"):
        import xarray

        xarray.Variable((), 0.0)


@contextmanager
def _out_of_sight(package: str) -> Iterator[None]:
    """Let the import of a package fail inside a ``with`` block.

    Parameters
    ----------
    package : str
        The name of a package that is not loaded yet.
    """
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]
