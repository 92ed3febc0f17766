"""Running the command line in this process."""

from __future__ import annotations

import sys
from typing import NamedTuple

import pytest

from learnability.cli import main


class Done(NamedTuple):
    """How a command ended: its exit code and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")  # Tests keep nothing in the user's cache.

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["learnability", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        captured = capsys.readouterr()
        code = caught.value.code
        assert isinstance(code, int)
        return Done(code, captured.out, captured.err)

    return call
