"""Messages between the server and its workers: one line of JSON, and bytes behind it.

Neither side unpickles anything. A line is ``{"event": ..., ..., "bytes": n}``, and n raw bytes
follow it: a table that was dropped on the page, or a result as NetCDF.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

__all__ = ["LONGEST_LINE", "Message", "as_line", "packed", "plain", "receive", "receive_now"]

LONGEST_LINE = 64 * 2**20
"""The largest number of bytes of a line of JSON."""

Message = tuple[dict[str, Any], bytes]


def plain(value: Any) -> Any:
    """A value as JSON has it: arrays are lists, and what is not finite is None.

    Parameters
    ----------
    value : object
        Numbers, texts, arrays, and mappings and sequences of them.
    """
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def as_line(message: Mapping[str, Any]) -> bytes:
    """The JSON of a message, without line breaks.

    Parameters
    ----------
    message : mapping
        Plain values.
    """
    return json.dumps(message, allow_nan=False).encode()


def packed(message: Mapping[str, Any], blob: bytes = b"") -> bytes:
    """A message as it goes through a pipe.

    Parameters
    ----------
    message : mapping
        Plain values.
    blob : bytes
        The bytes that follow the line.
    """
    return as_line({**message, "bytes": len(blob)}) + b"\n" + blob


async def receive(stream: asyncio.StreamReader) -> Message:
    """The next message of a worker.

    Parameters
    ----------
    stream : asyncio.StreamReader
        The output of the worker.

    Raises
    ------
    EOFError
        When the worker has ended.
    """
    line = await stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    message = json.loads(line)
    return message, await stream.readexactly(message.pop("bytes"))


def receive_now(file: BinaryIO) -> Message:
    """The next message of the server, in the worker.

    Parameters
    ----------
    file : file object
        The input of the worker.

    Raises
    ------
    EOFError
        When the server has ended.
    """
    line = file.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    message = json.loads(line)
    blob = file.read(message.pop("bytes"))
    return message, blob
