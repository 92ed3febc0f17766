"""A SLURM batch script that runs a command of ours on as many workers as the job has tasks."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from learnability.results import whole_file
from learnability.studies.certificates import environment
from learnability.studies.threads import ENVIRONMENT

__all__ = ["write_slurm_script"]

_SCRIPT = """\
#!/bin/bash
# Submit with `sbatch {name}`; submit it again to go on after the time limit: what is finished is
# in the store. Change the numbers below to those of your cluster.
#SBATCH --job-name=learnability
#SBATCH --ntasks={workers}
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=4G
#SBATCH --time=04:00:00
#SBATCH --output={stem}-%j.log
set -euo pipefail
cd {folder}
export {environment}

# The scheduler runs on the first node, one worker with one thread in each task; they meet in a
# file, which has to be on a disk that all nodes see.
meeting=$(mktemp -d "$PWD/.learnability-XXXXXX")
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$meeting"' EXIT
# Every connection shows the certificate of this job, which only its user can read.
{python} -P -m learnability.studies.certificates "$meeting"
export {security}
{python} -P -m distributed.cli.dask_scheduler --port 0 --no-dashboard \\
    --scheduler-file "$meeting/scheduler.json" > "$meeting/scheduler.log" 2>&1 &
while [ ! -s "$meeting/scheduler.json" ]; do sleep 0.2; done
srun {python} -P -m distributed.cli.dask_worker --nthreads 1 --no-dashboard --death-timeout 60 \\
    --scheduler-file "$meeting/scheduler.json" --local-directory "$meeting" \\
    > "$meeting/workers.log" 2>&1 &

{python} -P -m learnability {command} --scheduler "$meeting/scheduler.json"
"""


def write_slurm_script(path: str | Path, arguments: Sequence[str], workers: int) -> None:
    """Write the script.

    Parameters
    ----------
    path : str or Path
        The path of the script.
    arguments : sequence of str
        The arguments of `learnability`, without `--scheduler` and `--workers`.
    workers : int
        Tasks to ask for.
    """
    path = Path(path)
    script = _SCRIPT.format(
        name=shlex.quote(path.name),
        stem=shlex.quote(path.stem),
        workers=workers,
        folder=shlex.quote(str(Path.cwd())),
        environment=" ".join(f"{name}={value}" for name, value in ENVIRONMENT.items()),
        security=" ".join(f'{name}="{value}"' for name, value in environment("$meeting").items()),
        python=shlex.quote(sys.executable),
        command=shlex.join(arguments),
    )
    with whole_file(path) as part:
        part.write_text(script, encoding="utf-8")
        part.chmod(0o755)
