"""The work of a worker: run the points of a group and encode what they give, run by run.

The numbers of a run do not depend on its group, on the worker or on the other seeds. A group has
many points because learners that run seeds side by side share the loop, and because the process
keeps what was compiled for the first of them.
"""

from __future__ import annotations

import itertools
import time
import traceback
from collections.abc import Sequence

import learnability
from learnability.errors import LearnabilityError
from learnability.learners.base.driver import Runs
from learnability.studies.encoding import encode
from learnability.studies.groups import side_by_side
from learnability.studies.points import Point
from learnability.studies.store import Outcome
from learnability.studies.threads import one_thread_for_good

__all__ = ["compute", "compute_on_worker"]


def compute(points: Sequence[Point]) -> list[Outcome]:
    """Run points, the seeds of a cell together where the learner does; an error is an outcome."""
    outcomes: list[Outcome] = []
    for _, same in itertools.groupby(points, lambda point: point.cell):
        outcomes += _cell(list(same))
    return outcomes


def compute_on_worker(points: Sequence[Point], version: str) -> list[Outcome]:
    """Run points on a worker.

    Parameters
    ----------
    points : sequence of Point
        The group.
    version : str
        The version of the coordinating process: results of another version are not mixed in.

    Raises
    ------
    LearnabilityError
        When the worker has another version.
    """
    if version != learnability.__version__:
        raise LearnabilityError(
            f"a worker has learnability {learnability.__version__}, this process {version}"
        )
    one_thread_for_good()
    return compute(points)


def _cell(points: Sequence[Point]) -> list[Outcome]:
    """Run the seeds of a cell, whose arguments are checked once."""
    first = points[0]
    try:
        runs = Runs(first.learner, first.target, first.question, first.arguments)
    except Exception as error:
        return [_failed(point, error, 0.0) for point in points]
    if side_by_side(first.learner):
        return _computed(runs, points)
    return [outcome for point in points for outcome in _computed(runs, [point])]


def _computed(runs: Runs, points: Sequence[Point]) -> list[Outcome]:
    """Run seeds of one cell at once; when that fails, one by one, so that only bad ones do."""
    start = time.perf_counter()
    try:
        results = encode(runs.of([point.seed for point in points]))
    except Exception as error:
        if len(points) > 1:
            return [outcome for point in points for outcome in _computed(runs, [point])]
        return [_failed(points[0], error, time.perf_counter() - start)]
    seconds = (time.perf_counter() - start) / len(points)
    return [
        Outcome(point.key, result, seconds) for point, result in zip(points, results, strict=True)
    ]


def _failed(point: Point, error: Exception, seconds: float) -> Outcome:
    sentence = str(error) if isinstance(error, LearnabilityError) else _told(error)
    details = "".join(traceback.format_exception(error))
    return Outcome(point.key, None, seconds, sentence, details)


def _told(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
