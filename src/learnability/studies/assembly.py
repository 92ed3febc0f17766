"""Many runs as one labelled result.

Runs may end after different times: along their own dimensions they are placed on the union of the
coordinates (or on the longest length). A path along the time keeps its last value to the end; all
else that a run does not have is NaN, or an empty text. Runs are taken as they come, and the bytes
of those of one form are joined: 10^5 runs are then a few arrays instead of as many objects.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.results.labelled import Labelled
from learnability.results.schema import Status
from learnability.studies.encoding import Form, Part, opened_run
from learnability.studies.points import Layout
from learnability.targets.base import checked_memory

__all__ = ["assemble"]


def assemble(layout: Layout, stored: Iterable[tuple[str, bytes]]) -> Labelled:
    """Return one result over the grid and the seeds.

    Parameters
    ----------
    layout : Layout
        The layout of the study.
    stored : iterable of (str, bytes)
        Keys and bytes of the runs that exist, each once; the others become NaN, with "missing"
        as their status.

    Raises
    ------
    LearnabilityError
        When there is no run, or one is damaged.
    """
    places = {key: place for place, key in enumerate(dict.fromkeys(layout.keys))}
    blocks, attrs, count = _gathered(stored, places)
    total = len(places)
    twice = total < len(layout.keys)
    asked = [places[key] for key in layout.keys] if twice else []
    del places
    if not blocks:
        raise LearnabilityError(
            "None of the runs of this study is stored, so the shape of its result is not known."
        )
    frame = _framed(blocks, layout)
    data: dict[str, Any] = {}
    coordinates: dict[str, Any] = {name: (name, labels) for name, labels in layout.axes.items()}
    coordinates |= {name: label for name, label in layout.scalars.items()}
    coordinates |= {name: (name, values) for name, values in frame.along.items()}
    shape = tuple(len(labels) for labels in layout.axes.values())
    parts = [part for block in blocks for part in block.form.parts]
    cells = max(
        (math.prod(frame.lengths.get(dim, 1) for dim in part.dims) for part in parts), default=1
    )
    needed = 8.0 * len(layout.keys) * cells
    checked_memory("The values of the study", needed, "export fewer runs")
    for kind, into in (("variables", data), ("coordinates", coordinates)):
        for name in dict.fromkeys(part.name for part in parts if part.kind == kind):
            if name in coordinates or name in layout.axes:
                continue
            dims, whole = _laid_out(kind, name, blocks, total, layout, frame)
            whole = whole[asked] if twice else whole
            into[name] = ((*layout.axes, *dims), whole.reshape(*shape, *whole.shape[1:]))
    missing = {"missing": total - count} if count < total else {}
    return Labelled(data, coordinates, {**attrs, "learner": layout.learner, **missing})


class _Block:
    """The runs of one form, one after the other.

    Parameters
    ----------
    form : Form
        The form that all of them have.
    """

    def __init__(self, form: Form) -> None:
        self.form = form
        self.places: list[int] = []
        self.numbers = bytearray()

    def part(self, kind: str, name: str) -> Part | None:
        """Return what the form says about an array; None if it has no such array."""
        found = (part for part in self.form.parts if (part.kind, part.name) == (kind, name))
        return next(found, None)

    def values(self, part: Part) -> NDArray[Any]:
        """Return an array of all runs, with the runs along its first axis."""
        count = len(self.places)
        rows = np.frombuffer(self.numbers, np.uint8).reshape(count, self.form.size)
        own = np.ascontiguousarray(rows[:, part.start : part.end])
        return (
            own.view(part.dtype).reshape(count, *part.shape)
            if own.size
            else np.zeros((count, *part.shape), part.dtype)
        )


def _gathered(
    stored: Iterable[tuple[str, bytes]], places: Mapping[str, int]
) -> tuple[list[_Block], dict[str, Any], int]:
    """Return the runs by their form, the attributes on which all agree, and the number of runs."""
    blocks: dict[Form, _Block] = {}
    common: dict[str, Any] | None = None
    before: dict[str, Any] | None = None
    count = 0
    for key, data in stored:
        form, attrs, numbers = opened_run(data)
        block = blocks.get(form)
        if block is None:
            block = blocks[form] = _Block(form)
        block.places.append(places[key])
        block.numbers += numbers
        count += 1
        if common is None:
            common = attrs
        elif attrs is not before:
            common = {k: v for k, v in common.items() if k in attrs and same(attrs[k], v)}
        before = attrs
    return list(blocks.values()), common or {}, count


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


def _framed(blocks: list[_Block], layout: Layout) -> _Frame:
    lengths: dict[str, int] = {}
    marks: dict[str, list[tuple[list[int], NDArray[Any]]]] = {}
    for block in blocks:
        sizes = {
            dim: length
            for part in block.form.parts
            if part.kind == "variables"
            for dim, length in zip(part.dims, part.shape, strict=True)
        }
        for dim, length in sizes.items():
            if dim not in layout.axes:
                lengths[dim] = max(lengths.get(dim, 0), length)
                coordinate = block.part("coordinates", dim)
                if coordinate is not None:
                    marks.setdefault(dim, []).append((block.places, block.values(coordinate)))
            elif length > 1:
                raise LearnabilityError(
                    f"A run gave {length} values along `{dim}`, which is an axis of the grid: one "
                    "is expected."
                )
    along, alike = {}, {dim for dim in lengths if dim not in marks}
    for dim, found in marks.items():
        first = found[0][1][0]
        if all(values.shape[1:] == first.shape and bool((values == first).all())
               for _, values in found):  # fmt: skip
            along[dim] = first
            alike.add(dim)
        else:
            along[dim] = _union(found)
    return _Frame(lengths | {dim: len(values) for dim, values in along.items()}, along, alike)


def _union(found: list[tuple[list[int], NDArray[Any]]]) -> NDArray[Any]:
    """Return all coordinates: numbers sorted, words in the order in which they came."""
    if any(values.dtype.kind == "U" for _, values in found):
        rows = [
            row for places, values in found for row in zip(places, values.tolist(), strict=True)
        ]
        return np.array(list(dict.fromkeys(one for _, row in sorted(rows) for one in row)))
    return np.unique(np.concatenate([values.reshape(-1) for _, values in found]))


def _laid_out(
    kind: str, name: str, blocks: list[_Block], count: int, layout: Layout, frame: _Frame
) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Return the dimensions of an array, and the array of all runs, each at its coordinates."""
    held = [(block, part) for block in blocks if (part := block.part(kind, name)) is not None]
    dims = tuple(dim for dim in held[0][1].dims if dim not in layout.axes)
    shape = (count, *(frame.lengths[dim] for dim in dims))
    size = sum(len(block.places) * math.prod(part.shape) for block, part in held)
    whole = _blank([part.dtype for _, part in held], shape, full=size == math.prod(shape))
    absent: NDArray[np.bool_] = np.ones(count, dtype=bool)
    for block, part in held:
        kept = [n for n, dim in zip(part.shape, part.dims, strict=True) if dim in dims]
        values = block.values(part).reshape(-1, *kept)
        for rows, where in _where(block, dims, kept, frame):
            places = np.array(block.places)[rows]
            absent[places] = False
            inside: tuple[Any, ...] = np.ix_(places, *where) if where else (places,)
            whole[inside] = values[rows]
            if where and "time" in dims:
                axis = dims.index("time")
                _hold(whole, places, 1 + axis, int(where[axis][-1]))
    if name == "status":
        whole[absent] = str(Status.MISSING)
    return dims, whole


def _blank(dtypes: list[np.dtype[Any]], shape: tuple[int, ...], *, full: bool) -> NDArray[Any]:
    """Make an array of NaN, empty texts, or whole numbers if `full`, that can hold all values."""
    dtype = np.result_type(*dtypes)
    if dtype.kind == "U":
        return np.full(shape, "", dtype=np.result_type(dtype, np.dtype("<U7")))
    if dtype.kind in "biu":
        if full:
            return np.zeros(shape, dtype=dtype)
        dtype = np.dtype(float)
    return np.full(shape, np.nan, dtype=dtype)


def _where(
    block: _Block, dims: tuple[str, ...], lengths: list[int], frame: _Frame
) -> Iterator[tuple[Any, list[NDArray[Any]]]]:
    """Runs of a block that have the same coordinates, and where these are along each dimension.

    No places are given when all runs of the block fill the frame.
    """
    marks = {}
    for dim in dims:
        if dim not in frame.alike:
            coordinate = block.part("coordinates", dim)
            if coordinate is None:
                raise LearnabilityError(f"A run has no coordinates along `{dim}`, as others do.")
            marks[dim] = block.values(coordinate)
    if not marks:
        fills = lengths == [frame.lengths[dim] for dim in dims]
        yield slice(None), [] if fills else [np.arange(length) for length in lengths]
        return
    groups: dict[bytes, list[int]] = {}
    for row in range(len(block.places)):
        one = b"".join(values[row].tobytes() for values in marks.values())
        groups.setdefault(one, []).append(row)
    for rows in groups.values():
        where = [np.arange(length) for length in lengths]
        for axis, dim in enumerate(dims):
            if dim in marks:
                order = {mark: place for place, mark in enumerate(frame.along[dim].tolist())}
                where[axis] = np.array([order[mark] for mark in marks[dim][rows[0]].tolist()])
        yield np.array(rows), where


def _hold(whole: NDArray[Any], places: NDArray[Any], axis: int, last: int) -> None:
    """Continue paths by their last value to the end, as learners do among their own runs."""
    along = np.moveaxis(whole, axis, 1)
    if last + 1 < along.shape[1]:
        along[places, last + 1 :] = along[places, last : last + 1]


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, where NaN equals NaN."""
    return bool(one == other) or (one != one and other != other)
