"""The work of a worker: run the points of a group, one after another, and encode what they give.

Each point is a call of `simulate` with one seed and one value of everything, so that its numbers
do not depend on the group, the worker or the number of seeds. A group has many points because the
process keeps what was compiled for the first of them.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence

import learnability
from learnability.errors import LearnabilityError
from learnability.studies.encoding import encode
from learnability.studies.points import Point
from learnability.studies.store import Outcome
from learnability.studies.threads import one_thread_for_good

__all__ = ["compute", "compute_group"]


def compute(point: Point) -> Outcome:
    """Run one point; an error becomes part of the outcome."""
    start = time.perf_counter()
    try:
        found = point.learner.simulate(point.target, **point.arguments, seeds=[point.seed])
        result = encode(found)
    except Exception as error:
        sentence = str(error) if isinstance(error, LearnabilityError) else _told(error)
        seconds = time.perf_counter() - start
        return Outcome(point.key, None, seconds, sentence, traceback.format_exc())
    return Outcome(point.key, result, time.perf_counter() - start)


def compute_group(points: Sequence[Point], version: str) -> list[Outcome]:
    """Run points on a worker.

    Parameters
    ----------
    points : sequence of Point
        The group.
    version : str
        Of the coordinating process: results of another version are not mixed in.
    """
    if version != learnability.__version__:
        raise LearnabilityError(
            f"a worker has learnability {learnability.__version__}, this process {version}"
        )
    one_thread_for_good()
    return [compute(point) for point in points]


def _told(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
