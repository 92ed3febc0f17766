"""Progress on a terminal, and quiet elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from learnability.progress import bar, tracked, working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_quiet_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("study", 10) as advance:
        advance(10)
    assert list(tracked([1, 2, 3], "work")) == [1, 2, 3]
    assert capsys.readouterr() == ("", "")


def test_a_bar_with_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with bar("study", 100, 40) as advance:
        for _ in range(5):
            advance(2)
            time.sleep(0.05)
        advance(20)
        time.sleep(0.2)
    shown = terminal.getvalue()
    assert "study" in shown and "/100" in shown and "70/100" in shown
    assert "/s" in shown and "0:00:0" in shown


def test_one_step_is_a_line_without_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with bar("study", 5, 5) as advance:
        advance(0)
    assert terminal.getvalue() == ""
    with bar("study", 5, 4) as advance, working("inner"):
        advance(1)
    assert "study ..." in terminal.getvalue()
    assert "/5" not in terminal.getvalue() and "inner" not in terminal.getvalue()


def test_a_line_while_one_step_works(monkeypatch: pytest.MonkeyPatch) -> None:
    with working("quiet in a pipe"):
        pass
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with working("hardness"):
        pass
    assert "hardness ..." in terminal.getvalue()


def test_a_bar_within_a_bar_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with bar("outer", 3) as advance:
        for _ in tracked(range(3), "inner"):
            advance(1)
    assert "outer" in terminal.getvalue() and "inner" not in terminal.getvalue()
    assert list(tracked(range(3), "later")) == [0, 1, 2] and "later" in terminal.getvalue()
