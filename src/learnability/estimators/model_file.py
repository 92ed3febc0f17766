"""Fitted estimators as files that hold data and no code: JSON and arrays in one archive.

A file is a zip archive (an .npz that NumPy opens): `model.json` names our classes and their
attributes, and every array is a separate .npy. Reading a file creates objects of the classes of
`learnability.estimators` only and never runs code from the file; sizes and shapes are compared with
the data before memory is allocated.
"""

from __future__ import annotations

import dataclasses
import importlib
import io
import json
import math
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import learnability
from learnability.errors import LearnabilityError
from learnability.results import whole_file

__all__ = ["FORMAT", "load_model", "save_model"]

FORMAT = "learnability-model-1"
"""The format that a file declares; another format has another number."""

_DOCUMENT = "model.json"
_LARGEST = 2**31  # The most bytes of a file, and of its unpacked content.
_MOST = 100_000  # The most arrays in a file.
_DEEPEST = 50
_HOME = re.compile(r"learnability\.estimators(\.\w+)?")


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted estimator to a file, as a whole or not at all.

    Parameters
    ----------
    model : estimator
        An estimator of `learnability.estimators`.
    path : str or Path
        The file, usually ending in .npz.

    Raises
    ------
    LearnabilityError
        When the estimator holds something other than numbers, text, arrays and our estimators.
    """
    arrays: list[NDArray[Any]] = []
    document = {
        "format": FORMAT,
        "version": learnability.__version__,
        "model": _described(model, arrays, "model", 0),
    }
    with whole_file(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_DOCUMENT, json.dumps(document, allow_nan=False))
        for number, array in enumerate(arrays):
            with archive.open(f"{number}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)


def load_model(path: str | Path) -> Any:
    """Read a fitted estimator from a file; nothing of the file is run.

    Parameters
    ----------
    path : str or Path
        A file that `save_model` or ``learnability fit`` wrote.

    Returns
    -------
    estimator
        The estimator, with the same attributes to the last bit.

    Raises
    ------
    LearnabilityError
        When the file is not a model, is damaged, or is of another format.
    """
    name = repr(str(path))
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise ValueError("it is larger than 2 GiB")
        with zipfile.ZipFile(path) as archive:
            document, arrays = _unpacked(archive)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        model = _made(document["model"], arrays, 0)
        if not isinstance(model, BaseEstimator):
            raise ValueError("it holds no estimator")
    except OSError as error:
        raise LearnabilityError(f"The model {name} cannot be read ({error.strerror}).") from None
    except (
        ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError,
        EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zipfile.LargeZipFile,
    ) as error:  # fmt: skip
        raise LearnabilityError(
            f"The file {name} is not a model that can be read ({' '.join(str(error).split())}): "
            "give one that `learnability fit` or `save_model` wrote."
        ) from None
    if document.get("version") != learnability.__version__:
        warnings.warn(
            f"The model {name} was written by learnability {document.get('version')!r}, and this is"
            f" {learnability.__version__}: compare its answers before you rely on them.",
            stacklevel=2,
        )
    return model


# ---- writing


def _described(value: Any, arrays: list[NDArray[Any]], where: str, depth: int) -> Any:
    """Return the JSON form of a value; arrays are put aside and named by their number."""
    if depth > _DEEPEST:
        raise LearnabilityError(f"`{where}` is nested more than {_DEEPEST} times.")

    def inner(one: Any, place: str) -> Any:
        return _described(one, arrays, f"{where}{place}", depth + 1)

    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind == "O" and all(type(one) is str for one in array.ravel()):
            words = [inner(one, "[]") for one in array.ravel()]
            return {"words": words, "shape": list(array.shape)}
        if array.dtype.kind in "biufcU":
            arrays.append(array)
            kind = "scalar" if isinstance(value, np.generic) else "array"
            return {kind: len(arrays) - 1}
    if type(value) in (list, tuple):
        return {type(value).__name__: [inner(one, f"[{k}]") for k, one in enumerate(value)]}
    if type(value) is dict:
        return {"dict": [[inner(k, ".key"), inner(v, f"[{k!r}]")] for k, v in value.items()]}
    kind_of = type(value)
    if kind_of is _class(f"{kind_of.__module__}:{kind_of.__qualname__}"):
        fields = vars(value).items()
        return {
            "object": f"{kind_of.__module__}:{kind_of.__qualname__}",
            "fields": {name: inner(held, f".{name}") for name, held in fields},
        }
    raise LearnabilityError(
        f"`{where}` is a {kind_of.__name__}, which a model file does not hold (numbers, texts, "
        "arrays and estimators of learnability are): pickle it where you trust every reader."
    )


def _class(place: str) -> type | None:
    """Return a class of data of our estimators by its name, or None for anything else."""
    module, _, name = place.partition(":")
    if not _HOME.fullmatch(module) or not name.isidentifier():
        return None
    try:
        found: Any = getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None
    ours = isinstance(found, type) and found.__module__ == module
    if ours and (issubclass(found, BaseEstimator) or dataclasses.is_dataclass(found)):
        kind: type = found
        return kind
    return None


# ---- reading


def _unpacked(archive: zipfile.ZipFile) -> tuple[Any, dict[int, NDArray[Any]]]:
    """Return the document and the arrays, if their sizes are as declared."""
    entries = archive.infolist()
    if len(entries) > _MOST or sum(entry.file_size for entry in entries) > _LARGEST:
        raise ValueError("it unpacks to more than 2 GiB")
    document, arrays = None, {}
    for entry in entries:
        data = archive.read(entry)  # This verifies the checksum.
        if entry.filename == _DOCUMENT:
            document = json.loads(data)
        elif match := re.fullmatch(r"(\d{1,6})\.npy", entry.filename):
            arrays[int(match[1])] = _array(data)
        else:
            raise ValueError("it holds files that are not of a model")
    return document, arrays


def _array(data: bytes) -> NDArray[Any]:
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, by_columns, dtype = header(stream)
    size = math.prod(shape) * dtype.itemsize
    if dtype.kind not in "biufcU" or min(shape, default=0) < 0 or size != len(data) - stream.tell():
        raise ValueError("an array is not as large as it says")
    flat = np.frombuffer(data, dtype, offset=stream.tell()).copy()
    return flat.reshape(shape, order="F" if by_columns else "C")


def _made(form: Any, arrays: dict[int, NDArray[Any]], depth: int) -> Any:
    """Return the value of a JSON form."""
    if depth > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} times")

    def inner(one: Any) -> Any:
        return _made(one, arrays, depth + 1)

    if not isinstance(form, dict | list):
        return form
    match form:
        case {"float": ("inf" | "-inf" | "nan") as word}:
            return float(word)
        case {"array": int(number)}:
            return arrays[number]
        case {"scalar": int(number)}:
            return arrays[number][()]
        case {"words": list(words), "shape": list(shape)}:
            return np.array([inner(one) for one in words], dtype=object).reshape(shape)
        case {"list": list(items)}:
            return [inner(one) for one in items]
        case {"tuple": list(items)}:
            return tuple(inner(one) for one in items)
        case {"dict": list(pairs)}:
            return {inner(key): inner(held) for key, held in pairs}
        case {"object": str(place), "fields": dict(fields)}:
            found = _class(place)
            if found is None:
                raise ValueError(f"it names the class {place!r}, which is none of ours")
            made: Any = object.__new__(found)
            vars(made).update({str(name): inner(held) for name, held in fields.items()})
            return made
    raise ValueError("it holds something of an unknown kind")
