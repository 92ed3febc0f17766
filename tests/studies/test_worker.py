"""When a worker ends by itself."""

from __future__ import annotations

import os

import numpy as np
import pytest

from learnability.studies import worker


def test_it_ends_above_its_memory_and_without_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(worker.os, "_exit", codes.append)
    monkeypatch.setattr(worker.time, "sleep", lambda _: pytest.fail("it went on"))
    worker._end_with(os.getppid(), 2.0**20)  # Less than an interpreter takes.
    worker._end_with(-1, np.inf)
    assert codes == [1, 1]


def test_it_goes_on_within_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slept(Exception):
        pass

    def slept(_: float) -> None:
        raise Slept

    monkeypatch.setattr(worker.time, "sleep", slept)
    with pytest.raises(Slept):
        worker._end_with(os.getppid(), 2.0**50)
