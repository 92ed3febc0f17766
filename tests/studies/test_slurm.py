"""The batch script, run on this machine with a stand-in for srun."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from learnability.studies.slurm import write_slurm_script
from learnability.studies.summary import export

COMMAND = [
    "simulate", "spectral", "abs(z)", "--d", "20", "--alpha", "1,4", "--seeds", "2",
    "--store", "my runs.study", "--out", "runs.nc",
]  # fmt: skip


def test_the_script_runs_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_slurm_script("job.sh", COMMAND, workers=3)
    text = (tmp_path / "job.sh").read_text()
    assert text.startswith("#!/bin/bash\n") and "#SBATCH --ntasks=3\n" in text
    srun = tmp_path / "bin" / "srun"
    srun.parent.mkdir()
    srun.write_text('#!/bin/bash\nexec "$@"\n')  # One task instead of three.
    srun.chmod(0o755)
    done = subprocess.run(
        ["bash", "job.sh"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{srun.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs.nc").exists()
    assert "missing" not in export(tmp_path / "my runs.study").attrs
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"bin", "job.sh", "my runs.study", "runs.nc"}
