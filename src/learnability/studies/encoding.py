"""The results of runs as bytes: a mark, a checksum, a description in JSON, and the numbers."""

from __future__ import annotations

import json
import math
import struct
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError

if TYPE_CHECKING:
    import xarray

__all__ = ["Run", "decode", "encode"]

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
    try:
        return _unpacked(body, length)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise LearnabilityError(f"The stored result of a run is no result: {error}") from None


def _unpacked(body: memoryview, length: int) -> Run:
    """A run from its bytes, of which a stranger may have written every one."""
    about = json.loads(bytes(body[:length]))
    run, place = Run({}, {}, dict(about["attrs"])), length
    kinds = {"variables": run.variables, "coordinates": run.coordinates}
    for kind, name, dims, dtype, shape in about["arrays"]:
        form = np.dtype(str(dtype))
        if form.kind not in "biufcU" or len(dims) != len(shape) or min(shape, default=0) < 0:
            raise ValueError("an array of an unknown kind")
        size = math.prod(shape) * form.itemsize
        values = np.frombuffer(body[place : place + size], dtype=form).reshape(shape)
        kinds[kind][str(name)] = (tuple(map(str, dims)), values)
        place += size
    if place != len(body):
        raise ValueError("there is more than it says")
    return run
