"""Names of a package that are loaded when they are first used.

A package that offers many things would load all of them for whoever wants one. PEP 562 lets a
module answer for a name that it does not have yet; type checkers see ordinary imports instead, in
an ``if TYPE_CHECKING`` block that a test holds against the names here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["loaded_later"]


def loaded_later(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package, whose modules are found too.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping
        Module below the package -> the names that the package offers of it.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name in home_of:
            value = getattr(import_module(f"{package}.{home_of[name]}"), name)
            setattr(sys.modules[package], name, value)
            return value
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return get, names
