"""Points are run in this process or on workers, and are handed over as they end.

Points go to workers in groups. A worker's death costs the groups that it was computing, which are
computed again, in the end point by point and alone; a point that takes every worker down with it
has failed.
"""

from __future__ import annotations

import contextlib
import queue
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any

import learnability
from learnability.errors import LearnabilityError
from learnability.studies.cluster import LocalWorkers, connected, cores
from learnability.studies.compute import compute, compute_on_worker
from learnability.studies.groups import Groups
from learnability.studies.points import Point
from learnability.studies.store import Outcome
from learnability.studies.threads import one_thread

__all__ = ["run"]

Commit = Callable[[list[tuple[Point, Outcome]]], None]

_COMPILATION = 10.0
"""Seconds of the first group that are taken for compilation and not expected again."""
_WORTH_WORKERS = 20.0
"""Seconds of remaining work above which workers are started when their number is left open."""

_TOLD_AFTER = 20  # The unit is half a second.
_LOST = (
    "The Dask scheduler is gone. What was finished is kept: start it again, and repeat the call."
)
_KILLED = (
    "The process of the run died each time it was tried, as it does when memory runs out: try it "
    "alone with `workers=1`, or make it smaller"
)


def run(
    points: Sequence[Point], commit: Commit, scheduler: str | None, workers: int | None
) -> None:
    """Compute points; `commit` is called with those that ended, in this process.

    Parameters
    ----------
    points : sequence of Point
        What is to be done.
    commit : callable
        It takes the points that ended with their outcomes, as soon as they have.
    scheduler : str, optional
        Address of a running Dask scheduler.
    workers : int, optional
        Number of processes; 1 is this one. None takes as many as cores when that is worthwhile.
    """
    rest = list(points)
    if scheduler is None and workers in (None, 1):
        rest = _in_process(rest, commit, stay=workers == 1 or cores() == 1)
    if rest:
        with connected(scheduler, workers or cores()) as (client, own):
            try:
                _Coordinator(client, own, commit).run(rest)
            except (OSError, TimeoutError) as error:  # A connection closed during a call.
                raise LearnabilityError(_LOST) from error


def _in_process(points: list[Point], commit: Commit, *, stay: bool) -> list[Point]:
    """Run points here; unless it is to `stay`, return those that are worth workers."""
    groups, spared = Groups(points, 1), _COMPILATION
    with one_thread():
        while groups:
            group = groups.take(1)
            outcomes = compute(group)
            commit(list(zip(group, outcomes, strict=True)))
            seconds = sum(outcome.seconds for outcome in outcomes)
            groups.took(seconds, len(group))
            each, spared = max(seconds - spared, 0.0) / len(group), 0.0
            if not stay and each * len(groups) > _WORTH_WORKERS:
                return groups.rest()
    return []


class _Coordinator:
    """It feeds the workers of a scheduler.

    Parameters
    ----------
    client : distributed.Client
        A client of the scheduler.
    own : LocalWorkers or None
        Our own workers, if there are any.
    commit : callable
        As in `run`.
    """

    def __init__(self, client: Any, own: LocalWorkers | None, commit: Commit) -> None:
        self._client, self._own, self._commit = client, own, commit
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._active: dict[str, tuple[Any, list[Point], bool]] = {}
        self._name = f"learnability-{uuid.uuid4().hex}"  # Others may use the same scheduler.
        self._submitted = 0
        self._idle = 0  # This counts half seconds without a worker.

    def run(self, points: list[Point]) -> None:
        """Run points until every one has ended."""
        groups = Groups(points, max(len(self._own or self._client.nthreads()), 1))
        suspects: deque[Point] = deque()  # They were running when workers died.
        try:
            while groups or suspects or self._active:
                room = 2 * max(len(self._client.nthreads()), 1) + 1
                while groups and len(self._active) < room:
                    self._submit(groups.take(room))
                if suspects and not self._active:  # Each runs alone, so that no other is blamed.
                    self._submit([suspects.popleft()], suspect=True)
                self._take(groups, suspects)
        finally:
            if self._client.status == "running":
                self._client.cancel([future for future, *_ in self._active.values()], force=True)

    def _limit(self) -> str:
        if self._own is None:
            return "."
        return f" (a worker may take {self._own.limit / 2**30:.1f} GiB here)."

    def _submit(self, points: list[Point], *, suspect: bool = False) -> None:
        name = f"{self._name}-{self._submitted}"
        self._submitted += 1
        future = self._client.submit(
            compute_on_worker, points, learnability.__version__, name, key=name, pure=False
        )
        self._active[name] = (future, points, suspect)
        future.add_done_callback(self._ended.put)

    def _take(self, groups: Groups, suspects: deque[Point]) -> None:
        """Wait a moment for groups that ended, and hand them over."""
        try:
            ended = [self._ended.get(timeout=0.5)]
        except queue.Empty:
            if self._own is not None:
                self._own.check()
            if self._client.status != "running":
                raise LearnabilityError(_LOST) from None
            self._idle += not self._client.nthreads()
            if self._own is None and self._idle == _TOLD_AFTER:
                warnings.warn("The scheduler has no workers: waiting for some.", stacklevel=6)
            return
        while not self._ended.empty():
            ended.append(self._ended.get())
        for future in ended:
            _, points, suspect = self._active.pop(future.key)
            outcomes = self._outcomes(future, points, suspect)
            # When a worker dies, the scheduler repeats what a client still holds: so release it.
            with contextlib.suppress(OSError, TimeoutError):
                self._client.cancel([future], force=True)
            if outcomes is None:
                suspects.extend(points)
            else:
                self._commit(list(zip(points, outcomes, strict=True)))
                groups.took(sum(outcome.seconds for outcome in outcomes), len(points))
            if self._own is not None:
                self._own.deaths = 0  # A group that ended, well or badly, is progress.

    def _outcomes(self, future: Any, points: list[Point], suspect: bool) -> list[Outcome] | None:
        """Return the outcomes of a group; None when its workers died and the cause is not sure."""
        from distributed import KilledWorker

        try:
            return list(future.result())
        except KilledWorker as error:
            if not suspect:
                return None
            told = _KILLED + self._limit()
            return [Outcome(point.key, None, 0.0, told, str(error)) for point in points]
        except CancelledError:
            raise LearnabilityError(_LOST) from None
        except OSError:  # The connection to the scheduler, or to a worker that died, closed.
            if self._client.status != "running":
                raise LearnabilityError(_LOST) from None
            return None
        except Exception as error:
            raise LearnabilityError(
                f"The workers cannot compute the points ({_reason(error)}): they need the same "
                "learnability, and the modules of the learner and the link. What was finished is "
                "kept."
            ) from error


def _reason(error: BaseException) -> str:
    """Return the first cause of an error in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
