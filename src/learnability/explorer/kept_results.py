"""Answers that were given before: the same request is answered at once, and files are made of them.

They live in the server's memory, are bounded, and are gone when it ends.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import NamedTuple

from learnability.explorer.frames import as_line
from learnability.explorer.limits import Request

__all__ = ["KEPT", "Kept", "KeptResults"]

KEPT = ("hardness", "predict", "simulate", "catalogue")
"""Verbs whose answers depend on the request alone."""
_MOST = 64 * 2**20


class Kept(NamedTuple):
    """The whole answer to a request.

    Attributes
    ----------
    events : tuple of bytes
        Lines of JSON, in their order.
    blob : bytes
        The result as NetCDF, where there is one.
    """

    events: tuple[bytes, ...]
    blob: bytes

    @property
    def size(self) -> int:
        """The number of bytes that it takes."""
        return len(self.blob) + sum(map(len, self.events))


class KeptResults:
    """The answers that were used last, up to a number of bytes.

    Parameters
    ----------
    most : int
        The largest number of bytes of all answers together.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._size = 0

    @staticmethod
    def key(request: Request) -> str:
        """The name of an answer, the same for the same request.

        Parameters
        ----------
        request : Request
            What was asked.
        """
        values = dict(sorted(request.values.items()))
        line = as_line({**request.to_dict(), "values": values})
        return hashlib.sha256(line).hexdigest()[:32]

    def get(self, key: str) -> Kept | None:
        """The answer under a name; None if it is not kept.

        Parameters
        ----------
        key : str
            The name, from `key`.
        """
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def keep(self, key: str, answer: Kept) -> None:
        """Keep an answer, and drop those that were not used for the longest time.

        Parameters
        ----------
        key : str
            The name, from `key`.
        answer : Kept
            The whole answer.
        """
        if key in self._kept or answer.size > self._most:
            return
        self._kept[key] = answer
        self._size += answer.size
        while self._size > self._most:
            _, old = self._kept.popitem(last=False)
            self._size -= old.size
