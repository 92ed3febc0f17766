"""Labelled results as a table to read, made from the schema alone."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.results.schema import OBSERVABLES, STDERR, THRESHOLDS, row_of

if TYPE_CHECKING:
    import xarray

__all__ = ["table"]

_FIRST = ("alpha", "kappa", "time")
"""What a table runs along when it can; else along another dimension of the result."""
_MOST_OF_ONE = 4
"""Columns of one observable along its own dimensions."""


def table(dataset: xarray.Dataset, width: int = 100) -> str:
    """Return the result of a learner as text, with one row per alpha or per time.

    Parameters
    ----------
    dataset : xarray.Dataset
        A result of `predict`, or one of `simulate` or of a study, whose means and standard errors
        over the seeds are shown. Further dimensions of a grid give one table per value.
    width : int
        Characters of a row; the observables that have no room are named below the table.

    Returns
    -------
    str
        The observables in the order of the schema, with the statuses in the end; then the
        thresholds.
    """
    names = [name for name in OBSERVABLES if name in dataset]
    dataset = _with_one_time(dataset, names)
    single = "alpha" in dataset.coords and "alpha" not in dataset.dims
    longer = dataset.expand_dims("alpha") if single else dataset
    axis, shown = _rows(longer, names)
    dataset = longer if axis == "alpha" else dataset
    grid = [dim for name in shown for dim in _leading(dataset, name) if dim != axis]
    further = list(dict.fromkeys(grid))
    tables = []
    for place in itertools.product(*(range(dataset.sizes[dim]) for dim in further)):
        part = dataset.isel(dict(zip(further, place, strict=True)))
        labels = {dim: part[dim].item() for dim in further if dim in part.coords}
        head = ", ".join(f"{dim} = {label}" for dim, label in labels.items())
        text = _one(part.assign_attrs(labels), axis, shown, width)
        tables.append(f"{head}\n{text}" if head else text)
    return "\n\n".join(tables)


def _with_one_time(dataset: xarray.Dataset, names: list[str]) -> xarray.Dataset:
    """Return the result with paths of one time where it has their values at that time alone."""
    paths = [name for name in names if "time" in row_of(name).dims]
    if "time" not in dataset.coords or dataset["time"].ndim or not paths:
        return dataset
    longer = {name: dataset[name].expand_dims("time") for name in paths}
    rest = dataset.drop_vars([*paths, "time"])
    return rest.assign({name: values.drop_vars("time") for name, values in longer.items()}).assign(
        {"time": [dataset["time"].item()]}
    )


def _leading(dataset: xarray.Dataset, name: str) -> list[str]:
    """Return dimensions of the grid: those that neither the observable nor the seeds bring."""
    inner = (*row_of(name).dims, "seed", "ridge")
    return [str(dim) for dim in dataset[name].dims if dim not in inner]


def _rows(dataset: xarray.Dataset, names: list[str]) -> tuple[str | None, list[str]]:
    """Return the dimension of the rows, and what can be shown along it."""
    leading = [dim for name in names for dim in _leading(dataset, name)]
    inner = [str(dim) for name in names for dim in dataset[name].dims if dim not in leading]
    never = ("seed", "estimate", "index", "ridge")
    for axis in dict.fromkeys([*_FIRST, *leading, *inner]):
        if axis not in dataset.dims or axis in never:
            continue
        shown = [n for n in names if axis in dataset[n].dims and _fits(dataset[n], axis)]
        if any(dataset[name].dtype.kind in "biuf" for name in shown):
            whole = "status" in names and "status" not in shown and axis in inner
            return axis, [*shown, "status"] if whole else shown
    return None, [name for name in names if _fits(dataset[name], None)]


def _fits(values: xarray.DataArray, axis: str | None) -> bool:
    """Return whether an observable takes few columns; times are rows."""
    own = [dim for dim in _own(values) if dim != axis]
    return "time" not in own and math.prod(values.sizes[dim] for dim in own) <= _MOST_OF_ONE


def _one(dataset: xarray.Dataset, axis: str | None, shown: list[str], width: int) -> str:
    """Return a table without further dimensions."""
    about = dataset.attrs
    columns: list[tuple[str, list[str]]] = []
    if axis is not None:
        labels = dataset[axis].values
        texts = (f"{v:.6g}" if labels.dtype.kind in "iuf" else str(v) for v in labels)
        columns.append((axis, list(texts)))
    left_out = []
    for name in shown:
        own = [
            (head, _texts(name, dataset, axis, values, error))
            for head, values, error in _columns(dataset, name, axis)
        ]
        taken = sum(_width(column) for column in [*columns, *own])
        if name == "status" or taken <= width or len(columns) < 2:
            columns += own
        else:
            left_out.append(name.removesuffix("_trace").replace("_", " "))
    columns.sort(key=lambda column: column[0].startswith("status"))
    rows = [[head for head, _ in columns], *zip(*(cells for _, cells in columns), strict=True)]
    lines = [*_head(dataset), ""]
    for row in rows:
        padded = (cell.ljust(_width(column) - 2) for cell, column in zip(row, columns, strict=True))
        lines.append(("  " + "  ".join(padded)).rstrip())
    lines += ["", f"  not shown: {', '.join(left_out)}"] if left_out else []
    thresholds = [(name, about[name]) for name in THRESHOLDS if name in about]
    lines += [""] if thresholds else []
    lines += [
        f"  {name:<20}{_threshold(value, about.get(name + STDERR, math.nan))}"
        for name, value in thresholds
    ]
    lines += ["", f"Note: {about['note']}"] if about.get("note") else []
    return "\n".join(lines)


def _width(column: tuple[str, list[str]]) -> int:
    return 2 + max(map(len, [column[0], *column[1]]))


def _texts(
    name: str,
    dataset: xarray.Dataset,
    axis: str | None,
    values: xarray.DataArray,
    error: xarray.DataArray | None,
) -> list[str]:
    """Return the cells of a column; what has no rows of its own is the same in all of them."""
    if axis is not None and axis not in values.dims:
        values = values.expand_dims({axis: dataset.sizes[axis]})
    return _counted(values) if name == "status" else _cells(values, error)


def _head(dataset: xarray.Dataset) -> list[str]:
    """Return what was learned, and by whom."""
    about = dataset.attrs
    label = f"y = {about['link']}" + (f" + sqrt({about['noise']:g}) xi" if about["noise"] else "")
    if not about.get("inputs", "Isotropic()").startswith("Isotropic"):
        label += f", x from {about['inputs']}"
    made = about["learner"]
    if "d" in dataset.coords and not dataset["d"].ndim:
        about = {"d": dataset["d"].item(), **about}
    made += f", d = {about['d']}" if "d" in about else ""
    if "seed" in dataset.dims:
        made += f", {dataset.sizes['seed']} seed" + ("s" if dataset.sizes["seed"] > 1 else "")
    return [label, made]


def _columns(
    dataset: xarray.Dataset, name: str, axis: str | None
) -> Iterator[tuple[str, xarray.DataArray, xarray.DataArray | None]]:
    """Yield head, values and standard error of each column of an observable."""
    title = name.removesuffix("_trace").replace("_", " ")
    values, error = dataset[name], dataset.get(name + STDERR)
    own = [dim for dim in _own(values) if dim != axis]
    for place in itertools.product(*(range(values.sizes[dim]) for dim in own)):
        where: dict[str, Any] = dict(zip(own, place, strict=True))
        head = " ".join([title, *(_label(values, dim, k) for dim, k in where.items())])
        if "estimate" in values.dims and "index" in where:
            neurons = values.sizes["estimate"]
            if neurons > 1 and neurons != values.sizes["index"]:
                # Of several neurons the one that knows the direction best.
                yield head, abs(values.isel(where)).max("estimate"), None
                continue
            where["estimate"] = where["index"] if neurons > 1 else 0
        yield head, values.isel(where), None if error is None else error.isel(where)


def _own(values: xarray.DataArray) -> list[str]:
    """Return inner dimensions that become columns; of a matrix of overlaps the indices."""
    dims = [dim for dim in (*row_of(str(values.name)).dims, "ridge") if dim in values.dims]
    return [dim for dim in dims if not (dim == "estimate" and "index" in dims)]


def _label(values: xarray.DataArray, dim: str, place: int) -> str:
    if dim not in values.coords:
        return str(place + 1)
    label: Any = values[dim].values[place]
    return f"({label:g})" if isinstance(label, int | float | np.number) else f"({label})"


def _cells(values: xarray.DataArray, error: xarray.DataArray | None) -> list[str]:
    """Numbers, with the standard error of the theory or over the seeds where there is one."""
    means = np.asarray(values.values, dtype=float)
    errors = np.full(means.shape, np.nan) if error is None else error.values
    if "seed" in values.dims:
        means, errors = _over_seeds(np.asarray(values.transpose("seed", ...), dtype=float))
    pairs = zip(np.atleast_1d(means), np.atleast_1d(errors), strict=True)
    return [
        f"{_number(mean)} +- {_number(error)}" if np.isfinite(error) else _number(mean)
        for mean, error in pairs
    ]


def _over_seeds(runs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard error along the first axis, without the runs that are missing."""
    there = ~np.isnan(runs)
    count = there.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(there, runs, 0.0).sum(axis=0) / count
        squares = np.where(there, runs - mean, 0.0) ** 2
        return mean, np.sqrt(squares.sum(axis=0) / (count - 1) / count)


def _number(value: float) -> str:
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{round(value, 4) + 0.0:.4f}" if abs(value) < 1e5 else f"{value:.6g}"


def _counted(status: xarray.DataArray) -> list[str]:
    """Return statuses; of several seeds each with its number."""
    if "seed" not in status.dims:
        return [str(word) for word in np.atleast_1d(status.values)]
    rows = np.atleast_2d(status.transpose(..., "seed").values)
    if rows.shape[1] == 1:
        return [str(word) for word in rows[:, 0]]
    return [", ".join(f"{n} {s}" for s, n in Counter(map(str, row)).most_common()) for row in rows]


def _threshold(value: float, error: float) -> str:
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "infinite"
    return f"{value:.6g}" + (f" +- {error:.1g}" if error > 1e-9 * abs(value) else "")
