"""Studies that are killed thirty times, workers and the coordinating process, at random times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studies.kills import Victim

pytestmark = pytest.mark.agreement


@pytest.mark.parametrize("seed", [11, 12])
def test_killed_fifteen_times(seed: int, tmp_path: Path) -> None:
    victim = Victim(tmp_path, seed)
    for number in range(9):
        victim.kill_coordinator(workers=2 if number % 3 == 1 else 1)
    assert victim.kill_workers(6) == 6
    victim.finish(workers=1)
    victim.check()
