"""Processes that compute: warm before they are asked, watched, and stopped at any moment.

A crew keeps one process more than may compute at a time, so that the next answer does not wait for
imports when a process had to be stopped. Stopping kills the process and all that it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict
from typing import Any

from learnability.errors import LearnabilityError
from learnability.explorer.frames import LONGEST_LINE, Message, packed, receive
from learnability.explorer.limits import LIMITS, Limits

__all__ = ["Crew", "Worker"]

_PATIENCE = {"OPENBLAS_THREAD_TIMEOUT": "4"}
"""Threads of OpenBLAS that have nothing to do wait asleep and not in a loop, which would take the
processors from each other beside other work: a report took six times as long. Their number, on
which the last digits depend, stays that of a script."""


class Worker:
    """One process, with a folder of its own for what it reads, which is deleted with it.

    Parameters
    ----------
    process : asyncio.subprocess.Process
        The process.
    folder : str
        Its folder.
    """

    def __init__(self, process: asyncio.subprocess.Process, folder: str) -> None:
        self.process, self.folder = process, folder

    @classmethod
    async def started(cls, role: str, limits: Limits) -> Worker:
        """Start a process and wait until it is warm.

        Parameters
        ----------
        role : str
            What it imports beforehand: "reader" reads formulas, "solver" computes.
        limits : Limits
            Its memory and processor time.

        Raises
        ------
        LearnabilityError
            When it ends before it is ready.
        """
        folder = tempfile.mkdtemp(prefix="learnability-explorer-")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "learnability.explorer.worker", role, folder),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_LINE,
            env={**_PATIENCE, **os.environ},
            start_new_session=True,
        )
        worker = cls(process, folder)
        try:
            await worker.send(asdict(limits))
            await worker.next()
        except BaseException as error:
            await worker.stop()
            if isinstance(error, EOFError | OSError):
                raise LearnabilityError("A process of the explorer could not be started.") from None
            raise
        return worker

    async def send(self, message: Mapping[str, Any], blob: bytes = b"") -> None:
        """Give the process something to do.

        Parameters
        ----------
        message, blob
            As in `packed`.
        """
        assert self.process.stdin is not None
        self.process.stdin.write(packed(message, blob))
        await self.process.stdin.drain()

    async def next(self) -> Message:
        """The next message of the process."""
        assert self.process.stdout is not None
        return await receive(self.process.stdout)

    async def stop(self) -> None:
        """Kill the process and what it started; nothing is left when this returns."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        await self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Crew:
    """Warm processes of one role, of which some compute and one is spare.

    Parameters
    ----------
    role : str
        As in `Worker.started`.
    running : int
        How many compute at a time.
    limits : Limits
        The limits of every job.
    """

    def __init__(self, role: str, running: int, limits: Limits = LIMITS) -> None:
        self.role, self.limits = role, limits
        self._free = asyncio.Semaphore(running)
        self._count = running + limits.spare
        self._waiting = 0
        self._idle: list[asyncio.Task[Worker]] = []
        self._workers: set[Worker] = set()
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def processes(self) -> list[int]:
        """The process ids of the crew."""
        return [worker.process.pid for worker in self._workers]

    @property
    def folders(self) -> list[str]:
        """The folders of its processes."""
        return [worker.folder for worker in self._workers]

    def start(self) -> None:
        """Start the processes, one after the other, so that the first is warm early."""
        for _ in range(self._count):
            before = self._idle[-1] if self._idle else None
            self._idle.append(asyncio.ensure_future(self._new(before)))

    async def _new(self, before: asyncio.Task[Worker] | None = None) -> Worker:
        if before is not None:
            await asyncio.wait([before])
        worker = await Worker.started(self.role, self.limits)
        self._workers.add(worker)
        return worker

    async def close(self) -> None:
        """Stop all processes."""
        for task in self._idle:
            task.cancel()
        await asyncio.gather(*self._idle, *self._closing, return_exceptions=True)
        await asyncio.gather(*(worker.stop() for worker in self._workers))
        self._workers.clear()

    async def ask(
        self, request: Mapping[str, Any], blob: bytes = b""
    ) -> AsyncGenerator[Message, None]:
        """Messages of a job as they come; closing the iterator stops the job.

        Parameters
        ----------
        request : mapping
            The request, as the worker reads it.
        blob : bytes
            The bytes of a table.

        Raises
        ------
        LearnabilityError
            When too many wait, or the job went beyond its limits.
        """
        if self._waiting >= self.limits.waiting:
            raise LearnabilityError(
                f"{self._waiting} requests are waiting already: stop some, or try again later."
            )
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        worker, done = None, False
        try:
            worker = await self._idle.pop(0)
            async with asyncio.timeout(self.limits.seconds):
                await worker.send(request, blob)
                while not done:
                    message, found = await worker.next()
                    done = message["event"] == "end"
                    yield message, found
        except TimeoutError:
            raise LearnabilityError(
                f"This took more than {self.limits.seconds} seconds and was stopped: use smaller "
                "sizes, or the command line."
            ) from None
        except (EOFError, OSError):
            raise LearnabilityError(
                f"This took more than {self.limits.cpu_seconds} seconds of processor time or "
                f"{self.limits.memory / 2**30:.0f} GB of memory and was stopped: use smaller "
                "sizes, or the command line."
            ) from None
        finally:
            self._give_back(worker if done else None, worker)
            self._free.release()

    async def one(self, request: Mapping[str, Any], blob: bytes = b"") -> Message:
        """The result of a job that has one, or the message that refuses it.

        Parameters
        ----------
        request, blob
            As in `ask`.
        """
        async with contextlib.aclosing(self.ask(request, blob)) as messages:
            told = {message["event"]: (message, found) async for message, found in messages}
        return told.get("error") or told["result"]

    def _give_back(self, sound: Worker | None, worker: Worker | None) -> None:
        """Keep a process that finished its job; stop any other, and start one in its place."""
        if sound is not None:
            ready: asyncio.Task[Worker] = asyncio.ensure_future(_itself(sound))
            self._idle.insert(0, ready)
            return
        if worker is not None:
            self._workers.discard(worker)
            task = asyncio.ensure_future(worker.stop())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        self._idle.append(asyncio.ensure_future(self._new()))


async def _itself(worker: Worker) -> Worker:
    return worker
