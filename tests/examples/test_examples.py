"""Every example runs to its end, in a process and a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("plot_*.py")), ids=lambda path: path.stem)
def test_the_example_runs(script: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(script)],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())  # An example leaves nothing behind.


def test_there_are_examples() -> None:
    assert len(list(EXAMPLES.glob("plot_*.py"))) >= 5
