"""What a parameter is, in a form that stays the same from one process to the next.

The key of a point is a hash of this form. Numbers, texts and lists stand for themselves, a record
(learner, target) for its class, the version of its numerics and its fields, a link for its formula.
A function is recognised by its bytecode, its constants, and the values and functions it refers to;
one that holds anything else is not recognised, and a sentence says so.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from learnability.errors import LearnabilityError
from learnability.labels.link import Link

__all__ = ["described", "identity", "kind_of"]


def identity(value: Any) -> Any:
    """Return the JSON form of a parameter, equal for equal parameters in every process.

    Parameters
    ----------
    value : object
        A number, text, None, array, list, dictionary, link, record or function.

    Returns
    -------
    object
        A form of numbers, texts, lists and dictionaries; 2 and 2.0 are the same.
    """
    return _identity(value, ())


def kind_of(record: Any) -> str:
    """Return the class of a learner or target with its package, wherever it is defined."""
    kind = type(record)
    return f"{kind.__module__.split('.')[0]}.{kind.__qualname__}"


def described(value: Any) -> Any:
    """Return a parameter as the label of a coordinate: a number as it is, all else as text."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return (value.text or repr(value)) if isinstance(value, Link) else str(value)
    return value.item() if isinstance(value, np.number) else value


def _identity(value: Any, outer: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return _identity(value.item(), outer)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return {"number": str(value)}
        return int(value) if value.is_integer() else value
    if isinstance(value, complex | bytes | slice) or value is Ellipsis:
        return {type(value).__name__: repr(value)}
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "values": _identity(value.ravel().tolist(), outer)}
    if isinstance(value, list | tuple | range):
        return [_identity(item, outer) for item in value]
    if isinstance(value, frozenset | set):
        return {"set": sorted((_identity(item, outer) for item in value), key=repr)}
    if isinstance(value, Mapping):
        return {"items": sorted(([_identity(k, outer), _identity(v, outer)]
                                 for k, v in value.items()), key=repr)}  # fmt: skip
    if isinstance(value, Link):
        return _link(value, outer)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _record(value, outer)
    if callable(value):
        return _function(value, outer)
    raise LearnabilityError(
        f"A parameter was given as {type(value).__name__}, but a study can store results for "
        "numbers, texts, lists, links, records and functions of these: leave out `store`."
    )


def _link(link: Link, outer: tuple[int, ...]) -> Any:
    if link.text is not None:
        return {"link": link.text, "r": link.r}
    breaks = None if link.breaks is None else [_link(b, outer) for b in link.breaks]
    return {"link": _function(link.__reduce__()[1][0], outer), "r": link.r, "breaks": breaks}


def _record(record: Any, outer: tuple[int, ...]) -> Any:
    fields = {f.name: _identity(getattr(record, f.name), outer) for f in dataclasses.fields(record)}
    found: dict[str, Any] = {"class": kind_of(record), "fields": fields}
    if hasattr(record, "simulate") or hasattr(record, "sample"):
        found["numerics"] = getattr(type(record), "numerics_version", 1)
    elif callable(record) and not _installed(type(record).__module__):
        found["call"] = _function(type(record).__call__, outer)
    return found


def _function(function: Callable[..., Any], outer: tuple[int, ...]) -> Any:
    """Return the form of a function; `outer` are the functions that refer to it."""
    if id(function) in outer:
        return {"function": "itself", "depth": len(outer) - outer.index(id(function))}
    outer = (*outer, id(function))
    if isinstance(function, functools.partial):
        parts = [function.func, list(function.args), function.keywords]
        return {"partial": [_identity(part, outer) for part in parts]}
    if isinstance(function, types.MethodType):
        return {
            "method": [_identity(function.__self__, outer), _function(function.__func__, outer)]
        }
    if dataclasses.is_dataclass(function):
        return _record(function, outer)
    name = getattr(function, "__qualname__", getattr(function, "__name__", None))
    module = getattr(function, "__module__", None) or "numpy"  # NumPy's ufuncs name no module.
    if name is not None and _installed(module):
        return {"function": f"{module}.{name}"}
    if type(function).__module__.split(".")[0] in ("jax", "jaxlib"):  # jax.jit(f) does what f does.
        function = getattr(function, "__wrapped__", function)
    if not isinstance(function, types.FunctionType):
        raise LearnabilityError(
            f"The function {name or function!r} is not written in Python, so that a later run "
            "could not recognise it and its results cannot be stored: leave out `store`."
        )
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    held: list[Any] = [function.__defaults__, function.__kwdefaults__, cells]
    try:
        found = [_identity(part, outer) for part in held]
        found.append(_globals(function.__code__, function.__globals__, outer))
    except (LearnabilityError, RecursionError) as error:
        raise LearnabilityError(
            f"The function {name} refers to something that a later run could not recognise, so "
            f"that its results cannot be stored: give a formula, or leave out `store`. ({error})"
        ) from None
    return {"function": name, "code": _code(function.__code__, outer), "holds": found}


def _code(code: types.CodeType, outer: tuple[int, ...]) -> Any:
    """Return the bytecode, which belongs to one version of Python, with constants and names."""
    constants = [
        _code(c, outer)
        if isinstance(c, types.CodeType)
        else [type(c).__name__, _identity(c, outer)]
        for c in code.co_consts
    ]
    python = ".".join(map(str, sys.version_info[:2]))
    return [python, code.co_code.hex(), constants, list(code.co_names), code.co_argcount]


def _globals(code: types.CodeType, names: dict[str, Any], outer: tuple[int, ...]) -> Any:
    """Return what the names in the code stand for: modules by name, all else by value."""
    found = {}
    nested = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    for name in code.co_names:
        if name not in names:
            continue  # It is a builtin, an attribute, or not defined.
        value = names[name]
        if not isinstance(value, types.ModuleType):
            found[name] = _identity(value, outer)
        elif _installed(value.__name__):
            found[name] = value.__name__
        else:  # In the user's own module, only what is used counts.
            used = {n: getattr(value, n) for n in code.co_names if hasattr(value, n)}
            found[name] = {n: _identity(v, outer) for n, v in sorted(used.items())}
    return [found, [_globals(inner, names, outer) for inner in nested]]


def _installed(module: str) -> bool:
    """Return whether a module belongs to Python or to an installed package."""
    top = module.split(".")[0]
    if top in sys.stdlib_module_names:
        return top != "__main__"
    if top == "learnability":
        return True
    place = getattr(sys.modules.get(top), "__file__", None) or ""
    return "site-packages" in place or "dist-packages" in place
