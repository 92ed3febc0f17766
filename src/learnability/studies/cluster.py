"""Workers: processes of our own, or those of a Dask scheduler that is already running.

Our own are started as new programs (never forked, since JAX may be loaded; and they do not import
the user's script, which therefore needs no guard). One that dies is replaced; they end when
this process does.
"""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import learnability
from learnability.errors import LearnabilityError
from learnability.results import own_folder
from learnability.studies.certificates import security, write_certificate
from learnability.studies.threads import ENVIRONMENT
from learnability.studies.worker import MORE_PATHS
from learnability.targets.base import free_memory

__all__ = ["connected", "cores"]

_TIMEOUT = 10.0
_MOST_DEATHS = 20
"""This many workers in a row may die before any group ends, well or badly."""
_SHARE = 0.9
"""The share of the free memory that all workers together may use."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@contextmanager
def connected(scheduler: str | None, workers: int) -> Iterator[tuple[Any, LocalWorkers | None]]:
    """Yield a Dask client, and our own workers where no scheduler is given.

    Parameters
    ----------
    scheduler : str, optional
        Address such as ``tcp://host:8786``, or the path of a scheduler file.
    workers : int
        Number of workers of our own.
    """
    import dask
    from distributed import Client, Scheduler
    from distributed.deploy.spec import SpecCluster

    with ExitStack() as stack:
        stack.enter_context(_quiet())
        if scheduler is not None:
            client = stack.enter_context(_reached(scheduler))
            yield client, None
            return
        folder = stack.enter_context(own_folder(Path(tempfile.gettempdir()).resolve() / "workers"))
        stack.enter_context(dask.config.set({"temporary-directory": str(folder)}))
        write_certificate(folder)
        known = security(folder)
        options = {
            "host": "tls://127.0.0.1", "protocol": "tls", "security": known, "dashboard": False,
            "dashboard_address": "127.0.0.1:0", "allowed_failures": 0,
        }  # fmt: skip
        cluster = stack.enter_context(
            SpecCluster(
                scheduler={"cls": Scheduler, "options": options}, security=known, silence_logs=False
            )
        )
        own = stack.enter_context(LocalWorkers(cluster.scheduler_address, workers, str(folder)))
        client = stack.enter_context(
            Client(cluster, timeout=_TIMEOUT, set_as_default=False, security=known)
        )
        yield client, own


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's log of lost connections off the user's screen: we report what matters."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _reached(scheduler: str) -> Any:
    """Return a client of a running scheduler, or refuse with a sentence."""
    from distributed import Client

    place = Path(scheduler)
    try:
        if "://" not in scheduler and place.suffix == ".json":
            if not place.exists():
                raise OSError("there is no such file")
            return Client(scheduler_file=str(place), timeout=_TIMEOUT, set_as_default=False)
        if ":" not in scheduler:
            raise ValueError("an address needs a port")
        return Client(scheduler, timeout=_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
    # A client that failed closes itself when it is collected, which must not happen while another
    # one is being made: Dask would wait for its own lock for ever.
    gc.collect()
    raise LearnabilityError(
        f"No Dask scheduler was reached at {scheduler!r} ({why}): give the address that `dask "
        "scheduler` prints, such as tcp://127.0.0.1:8786, or leave out `scheduler`."
    )


class LocalWorkers:
    """Worker processes on this machine, kept at their number.

    Parameters
    ----------
    address : str
        The address of the scheduler.
    count : int
        Number of workers.
    folder : str
        The folder of their files and of what JAX compiles, which they share.
    """

    def __init__(self, address: str, count: int, folder: str) -> None:
        self.limit = _SHARE * free_memory() / count
        self._command = [
            sys.executable, "-P", "-m", "learnability.studies.worker", address, folder,
            str(os.getpid()), str(self.limit),
        ]  # fmt: skip
        self._environment = {
            "JAX_COMPILATION_CACHE_DIR": str(Path(folder) / "jax"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.2",
            **os.environ,
            **ENVIRONMENT,
            # It holds learnability alone; other folders come after what is installed, so that a
            # module in the current folder does not take the place of an installed one.
            "PYTHONPATH": str(Path(learnability.__file__).parents[1]),
            MORE_PATHS: os.pathsep.join(path or os.getcwd() for path in sys.path),
        }
        self._log = open(Path(folder) / "workers.log", "w+b")  # noqa: SIM115
        self._ended = threading.Event()
        self.deaths = 0
        self._processes = [self._start() for _ in range(count)]
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def __enter__(self) -> LocalWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._keeper.join()
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
        self._log.close()

    def __len__(self) -> int:
        return len(self._processes)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,  # Ctrl-C is for this process, which ends the others.
        )

    def _keep(self) -> None:
        """Start a new worker for each that has died."""
        while not self._ended.wait(0.1):
            for place, process in enumerate(self._processes):
                if process.poll() is not None:
                    self.deaths += 1
                    if self.deaths <= _MOST_DEATHS:
                        self._processes[place] = self._start()

    def check(self) -> None:
        """Refuse to go on when workers die again and again."""
        if self.deaths > _MOST_DEATHS:
            self._log.seek(0)
            last = self._log.read().decode(errors="replace").strip().splitlines()[-1:]
            why = f" The last line of their log: {last[0]}" if last else ""
            raise LearnabilityError(
                "Workers die again and again before a point is finished. What was finished is "
                f"kept: try `workers=1`, which shows the error.{why}"
            )
