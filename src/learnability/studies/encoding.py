"""The results of runs as bytes: a mark, a checksum, a description in JSON, and the numbers."""

from __future__ import annotations

import json
import math
import struct
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError

if TYPE_CHECKING:
    from learnability.results.labelled import Labelled

__all__ = ["Form", "Part", "Run", "decode", "encode", "opened_run"]

_HEAD = struct.Struct("<4sII")  # mark, checksum of the rest, length of the description
_MARK = b"LRN1"
_SHORT = 2**16  # Descriptions of at most this many bytes are remembered.


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


class Part(NamedTuple):
    """One array of a run: its description, and where its bytes are.

    Attributes
    ----------
    kind : str
        "variables" or "coordinates".
    name : str
        The name of the array.
    dims, dtype, shape
        Dimensions, type and shape of the array.
    start, end : int
        The first byte of the numbers, and the one after the last.
    """

    kind: str
    name: str
    dims: tuple[str, ...]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    end: int


class Form(NamedTuple):
    """The arrays of a run; many runs have the same form.

    Attributes
    ----------
    parts : tuple of Part
        The arrays.
    size : int
        Number of bytes of all arrays.
    """

    parts: tuple[Part, ...]
    size: int


def encode(found: Labelled) -> list[bytes]:
    """Return the bytes of every run of a result, in the order of its seeds; these are left out.

    Parameters
    ----------
    found : Labelled
        A result of `Runs`.
    """
    count = len(found.coords["seed"][1])
    heads: list[tuple[str, str, tuple[str, ...]]] = []
    columns: list[list[NDArray[Any]]] = []
    for kind, held in (("variables", found.variables), ("coordinates", found.coords)):
        for name, value in held.items():
            if name == "seed":
                continue
            dims, given = value if isinstance(value, tuple) else ((), value)
            dims, values = (dims,) if isinstance(dims, str) else dims, _plain(np.asarray(given))
            if "seed" in dims:
                before: tuple[Any, ...] = (slice(None),) * dims.index("seed")
                runs = [_narrow(values[(*before, k)]) for k in range(count)]
                dims = tuple(dim for dim in dims if dim != "seed")
            else:
                runs = [_narrow(values)] * count
            heads.append((kind, name, dims))
            columns.append(runs)
    attrs = _DESCRIBE(found.attrs)
    return [_packed(heads, [runs[k] for runs in columns], attrs) for k in range(count)]


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as they are, and all else as texts."""
    if values.dtype.kind in "biufcU":
        return values
    return np.array(np.asarray(values, dtype=object).tolist(), dtype=str)


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """Return texts of a type no wider than this run needs."""
    values = np.asarray(values)
    return np.array(values.tolist(), dtype=str) if values.dtype.kind == "U" else values


def _simple(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


_DESCRIBE = json.JSONEncoder(default=_simple).encode


@lru_cache(maxsize=256)
def _described(arrays: tuple[Any, ...]) -> str:
    return _DESCRIBE([[*head, dtype.str, shape] for head, dtype, shape in arrays])


def _packed(heads: list[Any], arrays: list[NDArray[Any]], attrs: str) -> bytes:
    forms = [(head, one.dtype, one.shape) for head, one in zip(heads, arrays, strict=True)]
    text = f'{{"arrays": {_described(tuple(forms))}, "attrs": {attrs}}}'.encode()
    body = b"".join([text, *[values.tobytes() for values in arrays]])
    return _HEAD.pack(_MARK, zlib.crc32(body), len(text)) + body


def decode(data: bytes) -> Run:
    """Return the run that was encoded.

    Raises
    ------
    LearnabilityError
        When the bytes are damaged.
    """
    form, attrs, body = opened_run(data)
    kinds: dict[str, dict[str, tuple[tuple[str, ...], NDArray[Any]]]] = {
        "variables": {}, "coordinates": {},
    }  # fmt: skip
    for part in form.parts:
        values = np.frombuffer(body[part.start : part.end], dtype=part.dtype).reshape(part.shape)
        kinds[part.kind][part.name] = (part.dims, values)
    return Run(kinds["variables"], kinds["coordinates"], dict(attrs))


def opened_run(data: bytes) -> tuple[Form, dict[str, Any], memoryview]:
    """Return the form of a run, its provenance (not to be changed), and its numbers as bytes.

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
            "The stored result of a run is damaged: its checksum does not match."
        ) from None
    try:
        known = _form_of if length <= _SHORT else _form_of.__wrapped__  # Long ones are not kept.
        form, attrs = known(bytes(body[:length]))
        if form.size != len(body) - length:
            raise ValueError("its length is not that of its description")
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise LearnabilityError(f"The stored result of a run cannot be read: {error}") from None
    return form, attrs, body[length:]


@lru_cache(maxsize=256)
def _form_of(text: bytes) -> tuple[Form, dict[str, Any]]:
    """Return what a description says; it is not trusted, since anyone may have written it."""
    about = json.loads(text)
    parts, place = [], 0
    for kind, name, dims, dtype, shape in about["arrays"]:
        form = np.dtype(str(dtype))
        fine = (
            kind in ("variables", "coordinates")
            and form.kind in "biufcU"
            and len(dims) == len(shape)
            and all(type(n) is int and n >= 0 for n in shape)
        )
        if not fine:
            raise ValueError("it has an array of an unknown kind")
        size = math.prod(shape) * form.itemsize
        words = tuple(map(str, dims))
        parts.append(Part(kind, str(name), words, form, tuple(shape), place, place + size))
        place += size
    return Form(tuple(parts), place), dict(about["attrs"])
