"""A study that is killed fifteen times, workers and the coordinating process, at random times.

`tests/fuzz/kills.py` kills a thousand times.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studies.kills import Victim

pytestmark = pytest.mark.agreement


def test_killed_fifteen_times(tmp_path: Path) -> None:
    victim = Victim(tmp_path, 11)
    for number in range(9):
        victim.kill_coordinator(workers=2 if number % 3 == 1 else 1)
    assert victim.kill_workers(6) == 6
    victim.finish(workers=1)
    victim.check()
