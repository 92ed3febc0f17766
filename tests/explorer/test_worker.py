"""The process that computes: what it does while nobody asks it."""

from __future__ import annotations

import queue

import pytest

from learnability.explorer import worker
from learnability.explorer.frames import Message

REQUEST: Message = ({"verb": "parse"}, b"")


def test_a_process_that_is_asked_at_once_does_nothing_else() -> None:
    waiting: queue.Queue[Message] = queue.Queue()
    waiting.put(REQUEST)
    assert worker._next(waiting, lambda: pytest.fail("it loads more")) is REQUEST


def test_a_process_that_nobody_asks_loads_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_PATIENCE", 0.01)
    waiting: queue.Queue[Message] = queue.Queue()
    assert worker._next(waiting, lambda: waiting.put(REQUEST)) is REQUEST
    waiting.put(REQUEST)
    assert worker._next(waiting, None) is REQUEST
