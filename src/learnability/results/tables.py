"""Labelled results as a table to read, made from the schema alone."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.results.labelled import Labelled, Values, labelled
from learnability.results.schema import OBSERVABLES, STDERR, THRESHOLDS, row_of

if TYPE_CHECKING:
    import xarray

__all__ = ["table"]

_FIRST = ("alpha", "kappa", "time")
"""What a table runs along when it can; else along another dimension of the result."""
_MOST_OF_ONE = 4
"""Columns of one observable along its own dimensions."""


def table(dataset: xarray.Dataset | Labelled, width: int = 100) -> str:
    """Return the result of a learner as text, with one row per alpha or per time.

    Parameters
    ----------
    dataset : xarray.Dataset or Labelled
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
    result = labelled(dataset)
    names = [name for name in OBSERVABLES if result.has(name)]
    result = _with_one_time(result, names)
    single = "alpha" in result.coords and "alpha" not in result.sizes
    longer = _with_one_alpha(result) if single else result
    axis, shown = _rows(longer, names)
    result = longer if axis == "alpha" else result
    grid = [dim for name in shown for dim in _leading(result, name) if dim != axis]
    further = list(dict.fromkeys(grid))
    sizes = result.sizes
    tables = []
    for place in itertools.product(*(range(sizes[dim]) for dim in further)):
        part = result.at(dict(zip(further, place, strict=True)))
        labels = {dim: part.values(dim).array.item() for dim in further if dim in part.coords}
        head = ", ".join(f"{dim} = {label}" for dim, label in labels.items())
        text = _one(part._replace(attrs={**part.attrs, **labels}), axis, shown, width)
        tables.append(f"{head}\n{text}" if head else text)
    return "\n\n".join(tables)


def _with_one_alpha(result: Labelled) -> Labelled:
    """Return the result with its one ratio as a dimension of every variable."""
    longer = {name: result.values(name).along("alpha") for name in result.variables}
    variables = {name: (one.dims, one.array) for name, one in longer.items()}
    label = result.values("alpha").array[None]
    return Labelled(variables, {**result.coords, "alpha": (("alpha",), label)}, result.attrs)


def _with_one_time(result: Labelled, names: list[str]) -> Labelled:
    """Return the result with paths of one time where it has their values at that time alone."""
    paths = [name for name in names if "time" in row_of(name).dims and name in result.variables]
    if "time" not in result.coords or result.values("time").dims or not paths:
        return result
    longer = {name: result.values(name).along("time") for name in paths}
    variables = {**result.variables, **{name: (v.dims, v.array) for name, v in longer.items()}}
    label = result.values("time").array[None]
    return Labelled(variables, {**result.coords, "time": (("time",), label)}, result.attrs)


def _leading(result: Labelled, name: str) -> list[str]:
    """Return dimensions of the grid: those that neither the observable nor the seeds bring."""
    inner = (*row_of(name).dims, "seed", "ridge")
    return [dim for dim in result.values(name).dims if dim not in inner]


def _rows(result: Labelled, names: list[str]) -> tuple[str | None, list[str]]:
    """Return the dimension of the rows, and what can be shown along it."""
    held = {name: result.values(name) for name in names}
    leading = [dim for name in names for dim in _leading(result, name)]
    inner = [dim for name in names for dim in held[name].dims if dim not in leading]
    never = ("seed", "estimate", "index", "ridge")
    sizes = result.sizes
    for axis in dict.fromkeys([*_FIRST, *leading, *inner]):
        if axis not in sizes or axis in never:
            continue
        shown = [n for n in names if axis in held[n].dims and _fits(held[n], axis)]
        if any(held[name].array.dtype.kind in "biuf" for name in shown):
            whole = "status" in names and "status" not in shown and axis in inner
            return axis, [*shown, "status"] if whole else shown
    return None, [name for name in names if _fits(held[name], None)]


def _fits(values: Values, axis: str | None) -> bool:
    """Return whether an observable takes few columns; times are rows."""
    own = [dim for dim in _own(values) if dim != axis]
    return "time" not in own and math.prod(values.sizes[dim] for dim in own) <= _MOST_OF_ONE


def _one(result: Labelled, axis: str | None, shown: list[str], width: int) -> str:
    """Return a table without further dimensions."""
    about = result.attrs
    columns: list[tuple[str, list[str]]] = []
    if axis is not None:
        labels = result.values(axis).array
        texts = (f"{v:.6g}" if labels.dtype.kind in "iuf" else str(v) for v in labels)
        columns.append((axis, list(texts)))
    left_out = []
    for name in shown:
        own = [
            (head, _texts(name, result, axis, values, error))
            for head, values, error in _columns(result, name, axis)
        ]
        taken = sum(_width(column) for column in [*columns, *own])
        if name == "status" or taken <= width or len(columns) < 2:
            columns += own
        else:
            left_out.append(name.removesuffix("_trace").replace("_", " "))
    columns.sort(key=lambda column: column[0].startswith("status"))
    rows = [[head for head, _ in columns], *zip(*(cells for _, cells in columns), strict=True)]
    lines = [*_head(result), ""]
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
    name: str, result: Labelled, axis: str | None, values: Values, error: Values | None
) -> list[str]:
    """Return the cells of a column; what has no rows of its own is the same in all of them."""
    if axis is not None and axis not in values.dims:
        values = values.along(axis, result.sizes[axis])
    return _counted(values) if name == "status" else _cells(values, error)


def _head(result: Labelled) -> list[str]:
    """Return what was learned, and by whom."""
    about = result.attrs
    label = f"y = {about['link']}" + (f" + sqrt({about['noise']:g}) xi" if about["noise"] else "")
    if not about.get("inputs", "Isotropic()").startswith("Isotropic"):
        label += f", x from {about['inputs']}"
    made = about["learner"]
    if "d" in result.coords and not result.values("d").dims:
        about = {"d": result.values("d").array.item(), **about}
    made += f", d = {about['d']}" if "d" in about else ""
    sizes = result.sizes
    if "seed" in sizes:
        made += f", {sizes['seed']} seed" + ("s" if sizes["seed"] > 1 else "")
    return [label, made]


def _columns(
    result: Labelled, name: str, axis: str | None
) -> Iterator[tuple[str, Values, Values | None]]:
    """Yield head, values and standard error of each column of an observable."""
    title = name.removesuffix("_trace").replace("_", " ")
    values = result.values(name)
    error = result.values(name + STDERR) if result.has(name + STDERR) else None
    sizes = values.sizes
    own = [dim for dim in _own(values) if dim != axis]
    for place in itertools.product(*(range(sizes[dim]) for dim in own)):
        where = dict(zip(own, place, strict=True))
        head = " ".join([title, *(_label(result, dim, k) for dim, k in where.items())])
        if "estimate" in sizes and "index" in where:
            neurons = sizes["estimate"]
            if neurons > 1 and neurons != sizes["index"]:
                # Of several neurons the one that knows the direction best.
                yield head, _largest(values.at(where), "estimate"), None
                continue
            where["estimate"] = where["index"] if neurons > 1 else 0
        yield head, values.at(where), None if error is None else error.at(where)


def _largest(values: Values, dim: str) -> Values:
    """Return the largest sizes along a dimension, without those that are missing."""
    largest = np.fmax.reduce(np.abs(values.array), axis=values.dims.index(dim))
    return Values(values.name, tuple(one for one in values.dims if one != dim), largest)


def _own(values: Values) -> list[str]:
    """Return inner dimensions that become columns; of a matrix of overlaps the indices."""
    dims = [dim for dim in (*row_of(values.name).dims, "ridge") if dim in values.dims]
    return [dim for dim in dims if not (dim == "estimate" and "index" in dims)]


def _label(result: Labelled, dim: str, place: int) -> str:
    if dim not in result.coords:
        return str(place + 1)
    label: Any = result.values(dim).array[place]
    return f"({label:g})" if isinstance(label, int | float | np.number) else f"({label})"


def _cells(values: Values, error: Values | None) -> list[str]:
    """Numbers, with the standard error of the theory or over the seeds where there is one."""
    means = np.asarray(values.array, dtype=float)
    errors = np.full(means.shape, np.nan) if error is None else error.array
    if "seed" in values.dims:
        means, errors = _over_seeds(np.moveaxis(means, values.dims.index("seed"), 0))
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


def _counted(status: Values) -> list[str]:
    """Return statuses; of several seeds each with its number."""
    if "seed" not in status.dims:
        return [str(word) for word in np.atleast_1d(status.array)]
    rows = np.atleast_2d(np.moveaxis(status.array, status.dims.index("seed"), -1))
    if rows.shape[1] == 1:
        return [str(word) for word in rows[:, 0]]
    return [", ".join(f"{n} {s}" for s, n in Counter(map(str, row)).most_common()) for row in rows]


def _threshold(value: float, error: float) -> str:
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "infinite"
    return f"{value:.6g}" + (f" +- {error:.1g}" if error > 1e-9 * abs(value) else "")
