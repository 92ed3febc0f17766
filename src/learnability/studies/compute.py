"""The work of a worker: it runs the points of a group and encodes their results, run by run.

The numbers of a run do not depend on its group, on the worker or on the other seeds. A group has
many points because learners that run seeds side by side share the loop, and because the process
keeps what was compiled for the first of them.
"""

from __future__ import annotations

import itertools
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError

import learnability
from learnability.errors import LearnabilityError
from learnability.learners.base.driver import Runs, form
from learnability.learners.base.learner import Found
from learnability.studies.encoding import encode
from learnability.studies.groups import side_by_side
from learnability.studies.points import Point
from learnability.studies.store import Outcome
from learnability.studies.threads import one_thread_for_good

__all__ = ["compute", "compute_on_worker"]


def compute(points: Sequence[Point], go_on: Callable[[], None] = lambda: None) -> list[Outcome]:
    """Run points, the seeds of a cell together where the learner does; an error is an outcome.

    Parameters
    ----------
    points : sequence of Point
        The group.
    go_on : callable
        It is called before each run, and raises where nobody waits for the group any more.
    """
    outcomes: list[Outcome] = []
    for _, same in itertools.groupby(points, lambda point: point.cell):
        outcomes += _cell(list(same), go_on)
    return outcomes


def compute_on_worker(points: Sequence[Point], version: str, key: str) -> list[Outcome]:
    """Run points on a worker.

    Parameters
    ----------
    points : sequence of Point
        The group.
    version : str
        The version of the coordinating process: results of other versions are not mixed in.
    key : str
        The name of the group among the tasks of the worker, which ends early when it is cancelled.

    Raises
    ------
    LearnabilityError
        When the worker has another version.
    CancelledError
        When nobody waits for the group any more.
    """
    if version != learnability.__version__:
        raise LearnabilityError(
            f"a worker has learnability {learnability.__version__}, but this process has {version}"
        )
    one_thread_for_good()
    from distributed import get_worker

    tasks = get_worker().state.tasks

    def go_on() -> None:
        if key not in tasks or tasks[key].state == "cancelled":
            raise CancelledError

    return compute(points, go_on)


def _cell(points: Sequence[Point], go_on: Callable[[], None]) -> list[Outcome]:
    """Run the seeds of a cell, whose arguments are checked once."""
    first = points[0]
    try:
        runs = Runs(first.learner, first.target, first.question, first.arguments)
    except Exception as error:
        return [_failed(point, error, 0.0) for point in points]
    if side_by_side(first.learner):
        return _together(runs, points, go_on)
    return _in_turn(runs, points, go_on)


def _together(runs: Runs, points: Sequence[Point], go_on: Callable[[], None]) -> list[Outcome]:
    """Run the seeds of one cell at once; if that fails, in turn, so that only bad ones fail."""
    go_on()
    start = time.perf_counter()
    try:
        results = encode(runs.of([point.seed for point in points]))
    except Exception:
        return _in_turn(runs, points, go_on)
    seconds = (time.perf_counter() - start) / len(points)
    return [
        Outcome(point.key, result, seconds) for point, result in zip(points, results, strict=True)
    ]


def _in_turn(runs: Runs, points: Sequence[Point], go_on: Callable[[], None]) -> list[Outcome]:
    """Run the seeds of one cell in turn; results of the same form are encoded together."""
    outcomes: dict[str, Outcome] = {}
    ran: list[tuple[Point, Found, float]] = []
    for point in points:
        go_on()
        start = time.perf_counter()
        try:
            found = runs.found([point.seed])
        except Exception as error:
            outcomes[point.key] = _failed(point, error, time.perf_counter() - start)
        else:
            ran.append((point, found, time.perf_counter() - start))
    for _, group in itertools.groupby(ran, lambda run: form(run[1])):
        alike = list(group)
        try:
            found = runs.joined([found for _, found, _ in alike])
            results = encode(runs.labelled(found, [point.seed for point, _, _ in alike]))
        except Exception as error:
            outcomes |= {point.key: _failed(point, error, took) for point, _, took in alike}
            continue
        for (point, _, took), result in zip(alike, results, strict=True):
            outcomes[point.key] = Outcome(point.key, result, took)
    return [outcomes[point.key] for point in points]


def _failed(point: Point, error: Exception, seconds: float) -> Outcome:
    sentence = str(error) if isinstance(error, LearnabilityError) else _told(error)
    details = "".join(traceback.format_exception(error))
    return Outcome(point.key, None, seconds, sentence, details)


def _told(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
