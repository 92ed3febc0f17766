"""Workers of our own, and schedulers that are not there."""

from __future__ import annotations

import gc
import logging
import socket
from pathlib import Path

import pytest
from distributed import Client

from learnability import LearnabilityError
from learnability.studies import cluster
from learnability.studies.cluster import LocalWorkers, connected, cores


def test_cores() -> None:
    assert cores() >= 1


@pytest.mark.parametrize(
    "address", ["nowhere", "tcp://", "http://127.0.0.1:1", "none.json", "tcp://127.0.0.1:port"]
)
def test_an_address_that_is_none(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_TIMEOUT", 0.3)
    reached = pytest.raises(LearnabilityError, match="No Dask scheduler was reached")
    with reached as caught, connected(address, 2):
        pass
    assert repr(address) in str(caught.value) and "\n" not in str(caught.value)


def clients() -> set[int]:
    return {id(thing) for thing in gc.get_objects() if isinstance(thing, Client)}


def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_TIMEOUT", 0.3)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    level, before = logging.getLogger("distributed").level, clients()
    reached = pytest.raises(LearnabilityError, match="No Dask scheduler was reached")
    with reached, connected(f"tcp://127.0.0.1:{port}", 2):
        pass
    assert logging.getLogger("distributed").level == level
    # Left to the collector, it could be closed while another is made, and both would hang.
    assert clients() <= before


def test_workers_that_cannot_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_MOST_DEATHS", 2)
    with LocalWorkers("tcp://127.0.0.1:1", 1, str(tmp_path)) as workers:
        workers._command = [workers._command[0], "-c", "raise SystemExit('no such luck')"]
        workers._processes[0].kill()
        for _ in range(200):
            if workers.deaths > 2:
                break
            workers._ended.wait(0.05)
        with pytest.raises(LearnabilityError, match=r"again and again.*no such luck"):
            workers.check()
