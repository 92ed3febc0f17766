"""The same study wherever it is computed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import xarray
from distributed.comm import CommClosedError

import learnability as lb
from learnability import LearnabilityError
from learnability.studies import StudyWarning, cluster, engine, info
from learnability.studies.cluster import connected

from tests.studies.kills import ROOT, TOTAL, Victim, wait_for
from tests.studies.learners import Clock, Short

AMP = lb.BayesAMP(start="random", iterations=4)
GRID: dict[str, Any] = {"d": [16, 24], "alpha": [1.0, 3.0], "seeds": 2}
LINK = "sign(z1*z2)"


@pytest.fixture(scope="module")
def alone() -> xarray.Dataset:
    return lb.study(AMP, LINK, **GRID, workers=1)


@pytest.fixture
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A `dask scheduler` and two `dask worker` processes; the file they meet in."""
    folder = tmp_path_factory.mktemp("dask")
    meeting = str(folder / "scheduler.json")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", *arguments, "--scheduler-file", meeting, "--no-dashboard"],
            cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    running = [start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")]
    wait_for(lambda: os.path.exists(meeting) and os.path.getsize(meeting) > 0)
    running += [start("distributed.cli.dask_worker", "--nthreads", "1") for _ in range(2)]
    yield meeting
    for process in reversed(running):
        process.terminate()
    for process in running:
        process.wait(timeout=30)


def test_two_workers_give_the_same_bits(alone: xarray.Dataset) -> None:
    found = lb.study(AMP, LINK, **GRID, workers=2)
    xarray.testing.assert_identical(found, alone)


@pytest.mark.filterwarnings("default:The scheduler has no workers")  # On a busy machine.
def test_a_running_scheduler_gives_the_same_bits(
    alone: xarray.Dataset, scheduler: str, tmp_path: Path
) -> None:
    found = lb.study(AMP, LINK, **GRID, scheduler=scheduler)
    xarray.testing.assert_identical(found, alone)
    # Begun here, resumed there.
    path = tmp_path / "runs.study"
    lb.study(AMP, LINK, **{**GRID, "seeds": [1]}, workers=1, store=path)
    found = lb.study(AMP, LINK, **GRID, scheduler=scheduler, store=path)
    xarray.testing.assert_identical(found, alone)
    # A module that this process has and the workers of the scheduler do not.
    (tmp_path / "only_here.py").write_text((ROOT / "tests/studies/learners.py").read_text())
    sys.path.insert(0, str(tmp_path))
    try:
        from only_here import Short as Unknown  # type: ignore[import-not-found]

        with pytest.raises(LearnabilityError, match=r"The workers cannot compute.*only_here"):
            lb.study(Unknown(), "z", alpha=1.0, scheduler=scheduler)
    finally:
        sys.path.remove(str(tmp_path))


def test_the_learner_itself_gives_the_same_numbers(alone: xarray.Dataset) -> None:
    direct = AMP.simulate(LINK, d=24, alpha=[1.0, 3.0], seeds=2)
    for name in direct.data_vars:
        xarray.testing.assert_equal(alone[name].sel(d=24, drop=True), direct[name])


def test_a_group_that_kills_its_process_is_tried_one_by_one(tmp_path: Path) -> None:
    grid = {"d": 4, "time": [0.0, 1.0], "seeds": 6, "workers": 2, "store": tmp_path / "runs.study"}
    with pytest.warns(StudyWarning, match=r"1 of 6 runs failed:\n1 of them: The process"):
        found = lb.study(Clock(deadly_seed=1), "z", **grid)
    assert found["status"].values.tolist() == [
        "stopped", "missing", "stopped", "finished", "stopped", "finished",
    ]  # fmt: skip


def test_many_dying_runs_do_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the old code nothing was finished and nothing recorded: deaths were counted together."""
    monkeypatch.setattr(cluster, "_MOST_DEATHS", 3)
    store = tmp_path / "runs.study"
    grid = {"alpha": [1.0, 2.0], "seeds": 4, "workers": 2, "store": store}
    with pytest.warns(StudyWarning, match=r"4 of 8 runs failed:\n4 of them: The pr.* GiB here"):
        found = lb.study(Short(deadly_at=2.0), "z", **grid)
    assert (found["status"].values == [["converged"] * 4, ["missing"] * 4]).all()
    assert "4 of 8 runs finished, 4 failed" in info(store)


def test_a_connection_that_closes_under_a_result() -> None:
    """A kill found it: the sentence was about modules that workers do not have."""

    def closed() -> None:
        raise CommClosedError("in <TLS>: Stream is closed")

    future, client = SimpleNamespace(result=closed), SimpleNamespace(status="running")
    coordinator = engine._Coordinator(client, None, lambda _: None)
    assert coordinator._outcomes(future, [], suspect=True) is None  # It is tried again.
    client.status = "connecting"
    with pytest.raises(LearnabilityError, match="The Dask scheduler is gone"):
        coordinator._outcomes(future, [], suspect=True)


def test_modules_of_the_current_folder_are_not_run(tmp_path: Path) -> None:
    """Neither by workers of a command, nor by the command itself."""
    for name in ("dask", "numpy", "distributed", "asyncio", "learnability", "tblib"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'a').write(__name__)\nraise SystemExit\n")
    command = [
        sys.executable, "-P", "-m", "learnability", "simulate", "spectral", "abs(z)", "--d", "10",
        "--alpha", "1,2", "--workers", "2",
    ]  # fmt: skip
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_stranger_is_not_let_in(tmp_path: Path) -> None:
    """Whoever reaches the port without the certificate of the study is turned away."""
    from distributed import Client

    from learnability.studies.certificates import security, write_certificate

    write_certificate(tmp_path)
    with connected(None, 1) as (client, _):
        address = client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        for place, known in ((address.replace("tls", "tcp"), None), (address, security(tmp_path))):
            with pytest.raises(OSError):
                Client(place, timeout=1.0, set_as_default=False, security=known)
    assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600


def test_what_a_kill_leaves_goes_at_the_next_start(tmp_path: Path) -> None:
    place = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    code = """
import os, signal, sys
from learnability.studies.cluster import connected
with connected(None, 1):
    if sys.argv[1:]:
        os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", code]
    assert subprocess.run([*command, "die"], env=place).returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    assert subprocess.run(command, env=place).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_long_work_goes_to_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Stop(Exception):
        pass

    def stopped(scheduler: str | None, workers: int) -> None:
        asked.append((scheduler, workers))
        raise Stop

    monkeypatch.setattr(engine, "connected", stopped)
    monkeypatch.setattr(engine, "cores", lambda: 3)
    lb.study(Short(seconds=0.01), "z", alpha=[1.0, 2.0])
    monkeypatch.setattr(engine, "_WORTH_WORKERS", 0.005)
    with pytest.raises(Stop):
        lb.study(Short(seconds=0.01), "z", alpha=[1.0, 2.0, 3.0, 4.0])
    lb.study(Short(seconds=0.01), "z", alpha=[1.0, 2.0, 3.0, 4.0], workers=1)
    assert asked == [(None, 3)]


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_keeps_what_is_finished(workers: int, tmp_path: Path) -> None:
    victim = Victim(tmp_path, seed=1)  # One that waits for a commit.
    victim.kill_coordinator(workers, signal.SIGINT)  # Waits until its workers are gone, too.
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"killed.study", "log.txt"}  # Closed as it should be: no log, no lock.
    assert 0 < len(victim.committed()) < TOTAL


def test_killed_again_and_again(tmp_path: Path) -> None:
    """A thousand times, and schedulers too: `python -m tests.fuzz.kills`."""
    victim = Victim(tmp_path, seed=4)
    for workers in (1, 2):
        victim.kill_coordinator(workers)
    assert victim.kill_workers(2) == 2
    victim.finish(workers=1)
    victim.check()
