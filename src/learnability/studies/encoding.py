"""The result of one run as bytes, with a checksum, and many of them as one labelled result.

Runs may end after different times: along their own dimensions they are laid on the union of the
coordinates (or the longest length). A path along the time holds its last value to the end; all else
that a run does not have is NaN, or an empty text.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.results.schema import Status
from learnability.studies.points import Layout

if TYPE_CHECKING:
    import xarray

__all__ = ["assemble", "decode", "encode"]

_HEAD = struct.Struct("<4sII")  # mark, checksum of the rest, length of the description
_MARK = b"LRN1"


class Run(NamedTuple):
    """A decoded run.

    Attributes
    ----------
    variables, coordinates : dict
        Name -> (dims, values).
    attrs : dict
        Provenance.
    """

    variables: dict[str, tuple[tuple[str, ...], NDArray[Any]]]
    coordinates: dict[str, tuple[tuple[str, ...], NDArray[Any]]]
    attrs: dict[str, Any]


def encode(dataset: xarray.Dataset) -> list[bytes]:
    """The bytes of every run of a result, in the order of its seeds, which are left out.

    Parameters
    ----------
    dataset : xarray.Dataset
        From `simulate`.
    """
    count = dataset.sizes["seed"]
    columns: list[tuple[str, str, tuple[Any, ...], list[NDArray[Any]]]] = []
    for kind, names in (("variables", dataset.data_vars), ("coordinates", dataset.coords)):
        for name in names:
            if name == "seed":
                continue
            variable = dataset.variables[name]
            dims, values = variable.dims, np.asarray(variable.values)
            if "seed" in dims:
                runs = list(np.moveaxis(values, dims.index("seed"), 0))
                dims = tuple(dim for dim in dims if dim != "seed")
            else:
                runs = [values] * count
            columns.append((kind, str(name), dims, [_plain(np.asarray(run)) for run in runs]))
    attrs = {str(k): v.item() if isinstance(v, np.generic) else v for k, v in dataset.attrs.items()}
    return [_packed([(*about, runs[k]) for *about, runs in columns], attrs) for k in range(count)]


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers as they are, all else as texts that are no wider than this run needs."""
    if values.dtype.kind in "biufc":
        return values
    return np.array(np.asarray(values, dtype=object).tolist(), dtype=str)


def _packed(arrays: list[Any], attrs: dict[str, Any]) -> bytes:
    described = [[*about, values.dtype.str, values.shape] for *about, values in arrays]
    text = json.dumps({"arrays": described, "attrs": attrs}, default=str).encode()
    body = b"".join([text, *(values.tobytes() for *_, values in arrays)])
    return _HEAD.pack(_MARK, zlib.crc32(body), len(text)) + body


def decode(data: bytes) -> Run:
    """The run that was encoded.

    Raises
    ------
    LearnabilityError
        When the bytes are damaged.
    """
    try:
        mark, checksum, length = _HEAD.unpack_from(data)
        body = memoryview(data)[_HEAD.size :]
        if mark != _MARK or zlib.crc32(body) != checksum:
            raise ValueError
    except (ValueError, struct.error):
        raise LearnabilityError(
            "The stored result of a run is damaged: its checksum is another."
        ) from None
    about = json.loads(bytes(body[:length]))
    run, place = Run({}, {}, about["attrs"]), length
    for kind, name, dims, dtype, shape in about["arrays"]:
        size = int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize
        values = np.frombuffer(body[place : place + size], dtype=dtype).reshape(shape)
        getattr(run, kind)[name] = (tuple(dims), values)
        place += size
    return run


def assemble(layout: Layout, stored: Mapping[str, bytes]) -> xarray.Dataset:
    """One result over the grid and the seeds.

    Parameters
    ----------
    layout : Layout
        Of the study.
    stored : mapping
        Key -> bytes of the runs that are there; the others become NaN, and "missing" as a status.
    """
    import xarray

    runs = {key: decode(stored[key]) for key in layout.keys if key in stored}
    if not runs:
        raise LearnabilityError(
            "None of the runs of this study is stored, so that it has no shape."
        )
    shape = tuple(len(labels) for labels in layout.axes.values())
    lengths, along = _own_dimensions(list(runs.values()), layout)
    data: dict[str, Any] = {}
    coordinates: dict[str, Any] = {name: (name, labels) for name, labels in layout.axes.items()}
    coordinates |= {name: label for name, label in layout.scalars.items()}
    coordinates |= {name: (name, values) for name, values in along.items()}
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
            whole = _blank(
                [values for _, values in held.values()],
                (len(layout.keys), *(lengths[dim] for dim in dims)),
            )
            for place, key in enumerate(layout.keys):
                if key in held:
                    own, values = held[key]
                    kept = [n for n, dim in zip(values.shape, own, strict=True) if dim in dims]
                    values = values.reshape(kept)
                    where = _where(dims, values, runs[key], along)
                    inside: tuple[Any, ...] = np.ix_(*where)
                    whole[(place, *inside)] = values
                    if "time" in dims:
                        _hold(whole[place], dims.index("time"), int(where[dims.index("time")][-1]))
                elif name == "status":
                    whole[place] = str(Status.MISSING)
            into[name] = ((*layout.axes, *dims), whole.reshape(*shape, *whole.shape[1:]))
    return xarray.Dataset(data, coordinates, _common([run.attrs for run in runs.values()], layout))


def _own_dimensions(
    runs: list[Run], layout: Layout
) -> tuple[dict[str, int], dict[str, NDArray[Any]]]:
    """Lengths of the dimensions of a run, and the coordinates along those that have some."""
    lengths: dict[str, int] = {}
    marks: dict[str, dict[Any, None]] = {}
    for run in runs:
        for dims, values in run.variables.values():
            for dim, length in zip(dims, values.shape, strict=True):
                if dim in layout.axes:
                    if length > 1:
                        raise LearnabilityError(
                            f"A run gave {length} values along `{dim}`, which is an axis of the "
                            "grid: one is expected."
                        )
                    continue
                lengths[dim] = max(lengths.get(dim, 0), length)
                if dim in run.coordinates:
                    marks.setdefault(dim, {}).update(
                        dict.fromkeys(run.coordinates[dim][1].tolist())
                    )
    # Numbers in their order, words as they came.
    along = {
        dim: np.array(list(found) if any(isinstance(one, str) for one in found) else sorted(found))
        for dim, found in marks.items()
    }
    return lengths | {dim: len(values) for dim, values in along.items()}, along


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
