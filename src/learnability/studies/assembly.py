"""Many runs as one labelled result.

Runs may end after different times: along their own dimensions they are laid on the union of the
coordinates (or the longest length). A path along the time holds its last value to the end; all else
that a run does not have is NaN, or an empty text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.results.schema import Status
from learnability.studies.encoding import Run, decode
from learnability.studies.points import Layout
from learnability.targets.base import checked_memory

if TYPE_CHECKING:
    import xarray

__all__ = ["assemble"]

Values = tuple[tuple[str, ...], NDArray[Any]]


def assemble(layout: Layout, stored: Mapping[str, bytes]) -> xarray.Dataset:
    """One result over the grid and the seeds.

    Parameters
    ----------
    layout : Layout
        Of the study.
    stored : mapping
        Key -> bytes of the runs that are there; the others become NaN, and "missing" as a status.

    Raises
    ------
    LearnabilityError
        When no run is there, or one is damaged.
    """
    import xarray

    runs = {key: decode(stored[key]) for key in layout.keys if key in stored}
    if not runs:
        raise LearnabilityError(
            "None of the runs of this study is stored, so that it has no shape."
        )
    frame = _framed(list(runs.values()), layout)
    data: dict[str, Any] = {}
    coordinates: dict[str, Any] = {name: (name, labels) for name, labels in layout.axes.items()}
    coordinates |= {name: label for name, label in layout.scalars.items()}
    coordinates |= {name: (name, values) for name, values in frame.along.items()}
    shape = tuple(len(labels) for labels in layout.axes.values())
    cells = len(layout.keys) * max(
        (math.prod(frame.lengths[dim] for dim in dims if dim in frame.lengths) for run in
         runs.values() for dims, _ in run.variables.values()), default=1,
    )  # fmt: skip
    checked_memory("The values of the study", 8.0 * cells, "export fewer runs")
    for kind, into in (("variables", data), ("coordinates", coordinates)):
        for name in dict.fromkeys(n for run in runs.values() for n in getattr(run, kind)):
            if name in coordinates or name in layout.axes:
                continue
            held = {
                key: getattr(run, kind)[name]
                for key, run in runs.items()
                if name in getattr(run, kind)
            }
            dims = tuple(dim for dim in next(iter(held.values()))[0] if dim not in layout.axes)
            whole = _stacked(held, dims, layout, frame)
            if whole is None:
                whole = _laid_out(name, held, dims, layout, frame, runs)
            into[name] = ((*layout.axes, *dims), whole.reshape(*shape, *whole.shape[1:]))
    return xarray.Dataset(data, coordinates, _common([run.attrs for run in runs.values()], layout))


class _Frame(NamedTuple):
    """The dimensions that runs have of their own.

    Attributes
    ----------
    lengths : dict
        Dimension -> length.
    along : dict
        Dimension -> coordinates along it, where there are some.
    alike : set of str
        Dimensions along which all runs have the same coordinates, or none.
    """

    lengths: dict[str, int]
    along: dict[str, NDArray[Any]]
    alike: set[str]


def _framed(runs: list[Run], layout: Layout) -> _Frame:
    lengths: dict[str, int] = {}
    marks: dict[str, list[NDArray[Any]]] = {}
    for run in runs:
        sizes = {
            dim: length
            for dims, values in run.variables.values()
            for dim, length in zip(dims, values.shape, strict=True)
        }
        for dim, length in sizes.items():
            if dim not in layout.axes:
                lengths[dim] = max(lengths.get(dim, 0), length)
                if dim in run.coordinates:
                    marks.setdefault(dim, []).append(run.coordinates[dim][1])
            elif length > 1:
                raise LearnabilityError(
                    f"A run gave {length} values along `{dim}`, which is an axis of the grid: one "
                    "is expected."
                )
    along, alike = {}, {dim for dim in lengths if dim not in marks}
    for dim, found in marks.items():
        if all(np.array_equal(found[0], other) for other in found):
            along[dim] = found[0]
            alike.add(dim)
        else:  # Numbers in their order, words as they came.
            union = list(dict.fromkeys(one for values in found for one in values.tolist()))
            words = any(isinstance(one, str) for one in union)
            along[dim] = np.array(union if words else sorted(union))
    return _Frame(lengths | {dim: len(values) for dim, values in along.items()}, along, alike)


def _stacked(
    held: Mapping[str, Values], dims: tuple[str, ...], layout: Layout, frame: _Frame
) -> NDArray[Any] | None:
    """All runs one after the other, where none is missing and all have the same shape."""
    shape = tuple(frame.lengths[dim] for dim in dims)
    there = len(held) == len(set(layout.keys)) and frame.alike.issuperset(dims)
    size = math.prod(shape)
    if not there or any(values.size != size for _, values in held.values()):
        return None
    whole = np.array([held[key][1].reshape(shape) for key in layout.keys])
    return whole.astype(np.result_type(whole, "<U7")) if whole.dtype.kind == "U" else whole


def _laid_out(
    name: str,
    held: Mapping[str, Values],
    dims: tuple[str, ...],
    layout: Layout,
    frame: _Frame,
    runs: Mapping[str, Run],
) -> NDArray[Any]:
    """Every run at its coordinates."""
    shape = (len(layout.keys), *(frame.lengths[dim] for dim in dims))
    whole = _blank([values for _, values in held.values()], shape)
    for place, key in enumerate(layout.keys):
        if key in held:
            own, values = held[key]
            kept = [n for n, dim in zip(values.shape, own, strict=True) if dim in dims]
            values = values.reshape(kept)
            where = _where(dims, values, runs[key], frame.along)
            inside: tuple[Any, ...] = np.ix_(*where)
            whole[(place, *inside)] = values
            if "time" in dims:
                _hold(whole[place], dims.index("time"), int(where[dims.index("time")][-1]))
        elif name == "status":
            whole[place] = str(Status.MISSING)
    return whole


def _blank(values: list[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[Any]:
    """NaN, or empty texts, of a type that holds all values; whole numbers when none is missing."""
    dtype = np.result_type(*values)
    if dtype.kind == "U":
        return np.full(shape, "", dtype=np.result_type(dtype, np.dtype("<U7")))
    if dtype.kind in "biu":
        if sum(v.size for v in values) == np.prod(shape, dtype=int):
            return np.zeros(shape, dtype=dtype)
        dtype = np.dtype(float)
    return np.full(shape, np.nan, dtype=dtype)


def _where(
    dims: tuple[str, ...],
    values: NDArray[Any],
    run: Run,
    along: Mapping[str, NDArray[Any]],
) -> list[NDArray[Any]]:
    """Positions of the values of one run along its own dimensions, as its coordinates say."""
    found = []
    for dim, length in zip(dims, values.shape, strict=True):
        if dim in along:
            places = {mark: place for place, mark in enumerate(along[dim].tolist())}
            marks = run.coordinates[dim][1].tolist()
            found.append(np.array([places[mark] for mark in marks]))
        else:
            found.append(np.arange(length))
    return found


def _hold(path: NDArray[Any], axis: int, last: int) -> None:
    """Keep a path at its last value to the end, as learners do among their own runs."""
    along = np.moveaxis(path, axis, 0)
    along[last + 1 :] = along[last]


def _common(attrs: list[dict[str, Any]], layout: Layout) -> dict[str, Any]:
    """Attributes on which all runs agree, the learner, and how many runs are missing."""
    first = attrs[0]
    shared = {k: v for k, v in first.items() if all(k in a and same(a[k], v) for a in attrs)}
    found = {**shared, "learner": layout.learner}
    missing = len(layout.keys) - len(attrs)
    return found | ({"missing": missing} if missing else {})


def same(one: Any, other: Any) -> bool:
    """Equality in which NaN equals NaN."""
    return bool(one == other) or (one != one and other != other)
