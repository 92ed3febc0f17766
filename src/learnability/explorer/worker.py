"""The process that computes: it reads requests from its input and writes events to its output.

It holds itself to its limits, ends when the server ends, and turns every refusal of the library
into one sentence.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from learnability.errors import LearnabilityError
from learnability.explorer.frames import Message, packed, plain, receive_now

__all__ = ["main"]

_PATIENCE = 0.5
"""Seconds after which a warm process that nobody has asked loads more."""


def main() -> None:
    """Work until the server ends."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What a library prints must not stand among the answers.
    role, tempfile.tempdir = sys.argv[1:]  # The server empties the folder when this process ends.
    limits, _ = receive_now(requests)
    _bound_memory(limits["memory"])
    waiting: queue.Queue[Message] = queue.Queue()
    jobs = _warm(role)
    more = jobs.start_jax if role == "solver" else None

    def say(message: dict[str, Any], blob: bytes = b"") -> None:
        answers.write(packed(plain(message), blob))
        answers.flush()

    say({"event": "ready"})
    threading.Thread(target=_listen, args=(requests, waiting), daemon=True).start()
    while True:
        request, blob = _next(waiting, more)
        more = None
        _bound_time(limits["cpu_seconds"])
        try:
            for message, found in jobs.answer(request, blob):
                say(message, found)
        except LearnabilityError as error:
            say({"event": "error", "sentence": str(error)})
        except MemoryError:
            say({"event": "error", "sentence": "There is not enough memory: use smaller sizes."})
        except Exception as error:
            told = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            sentence = f"This is a fault of the library, not of the request ({told})."
            say({"event": "error", "sentence": sentence, "fault": True})
        say({"event": "end"})


def _next(waiting: queue.Queue[Message], meanwhile: Callable[[], None] | None) -> Message:
    """The next request; a process that nobody asks at once has something to do meanwhile."""
    if meanwhile is not None:
        try:
            return waiting.get(timeout=_PATIENCE)
        except queue.Empty:
            meanwhile()
    return waiting.get()


def _listen(requests: Any, waiting: queue.Queue[Message]) -> None:
    """Hand requests over; end the process when the server has ended."""
    with contextlib.suppress(EOFError, ValueError, OSError):
        while True:
            waiting.put(receive_now(requests))
    shutil.rmtree(tempfile.gettempdir(), ignore_errors=True)
    os._exit(0)


def _warm(role: str) -> Any:
    """Import what the first request will need."""
    if hasattr(os, "nice"):
        os.nice(1 if role == "reader" else 10)  # The page stays quick while numbers are made.
    from learnability.explorer import jobs

    jobs.warm(role)
    return jobs


def _bound_memory(most: int) -> None:
    """Let allocations beyond the limit fail."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _bound_time(seconds: int) -> None:
    """Let the system stop this process when one job takes too long."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        end = int(used.ru_utime + used.ru_stime) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (end, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    main()
