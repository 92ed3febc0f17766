"""Seals: checksums that tie a run to its key, and a layout to its keys, and what they guard.

A stored run is a mark, eight bytes of BLAKE2 of its key and its bytes, and the bytes; a layout has
its own checksum among its fields. Rows of version 1 have no seals and are taken as they are. What
was read is still not trusted: the JSON may hold anything.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from learnability.errors import LearnabilityError
from learnability.studies.encoding import decode
from learnability.studies.points import Layout

__all__ = ["DAMAGED", "described", "layout_of", "opened", "sealed", "tied"]

_MARK = b"LRN2"
_LENGTH = 8
_LARGEST_LAYOUT = 2**26  # Characters.
_MOST_AXES = 20

DAMAGED = (
    LearnabilityError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError,
    RecursionError, MemoryError,
)  # fmt: skip
"""What reading the rows of a damaged or crafted file may raise."""


def _checksum(key: str, data: bytes) -> bytes:
    found = hashlib.blake2b(key.encode(), digest_size=_LENGTH)
    found.update(data)
    return found.digest()


def sealed(key: str, data: bytes) -> bytes:
    """Return the bytes of a run as they are stored.

    Parameters
    ----------
    key : str
        The key of the run.
    data : bytes
        Its encoded result.
    """
    return _MARK + _checksum(key, data) + data


def opened(key: str, stored: Any) -> bytes:
    """Return the bytes of a run, when they are those of this key.

    Parameters
    ----------
    key, stored
        The key and the stored bytes of a row.

    Raises
    ------
    LearnabilityError
        When the seal does not match.
    """
    if not isinstance(key, str) or not isinstance(stored, bytes):
        raise LearnabilityError("A row of a run has the wrong type.")
    if not stored.startswith(_MARK):
        decode(stored)  # A row of version 1 has only its own checksum.
        return stored
    start = len(_MARK) + _LENGTH
    data = stored[start:]
    if stored[len(_MARK) : start] != _checksum(key, data):
        raise LearnabilityError("The seal of a run is broken.")
    return data


def tied(key: Any, parameters: Any, seed: Any) -> None:
    """Refuse a key that is not the hash of its parameters and its seed.

    Parameters
    ----------
    key, parameters, seed
        The values of a row.

    Raises
    ------
    LearnabilityError
        When the key does not match.
    """
    if not isinstance(parameters, str) or type(seed) is not int:
        raise LearnabilityError("a value has the wrong type")
    if key != hashlib.blake2b(f"{parameters}|{seed}".encode(), digest_size=16).hexdigest():
        raise LearnabilityError("the key does not belong to its parameters")


def described(layout: Layout, keys: str) -> str:
    """Return a layout as it is stored beside its keys.

    Parameters
    ----------
    layout : Layout
        The layout of a study.
    keys : str
        The keys of the layout as one text.
    """
    text = layout.to_json()
    seal = _checksum(keys, text.encode()).hex()
    return json.dumps({**json.loads(text), "seal": seal})


def layout_of(text: Any, keys: Any) -> Layout:
    """Return the layout of a row.

    Parameters
    ----------
    text, keys
        The values of the row.

    Raises
    ------
    LearnabilityError
        When the seal is broken, or the text is not a layout.
    """
    if not isinstance(text, str) or not isinstance(keys, str) or len(text) > _LARGEST_LAYOUT:
        raise LearnabilityError("A layout has the wrong type or size.")
    about = json.loads(text)
    seal = about.pop("seal", None)
    if seal is not None and seal != _checksum(keys, json.dumps(about).encode()).hex():
        raise LearnabilityError("The seal of a layout is broken.")
    layout = Layout(**about, keys=tuple(keys.split()))
    plain = (str, int, float, bool, type(None))
    fine = (
        isinstance(layout.axes, dict)
        and isinstance(layout.scalars, dict)
        and isinstance(layout.learner, str)
        and isinstance(layout.target, str)
        and len(layout.axes) <= _MOST_AXES
        and all(isinstance(labels, list) for labels in layout.axes.values())
        and all(isinstance(one, plain) for labels in layout.axes.values() for one in labels)
        and all(isinstance(one, plain) for one in layout.scalars.values())
        and math.prod(len(labels) for labels in layout.axes.values()) == len(layout.keys)
    )
    if not fine:
        raise LearnabilityError("A layout does not match its keys.")
    return layout
