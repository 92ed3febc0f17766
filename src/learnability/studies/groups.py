"""How the points of a study are cut into groups, the unit that is computed and committed.

A learner that runs seeds side by side gets those of one cell of the grid together, at most 128 of
them, in parts of equal size, since it compiles its loops for each number of seeds. Runs of other
learners go in groups of about a third of a second: long enough for the cost of a task (2 to 3 ms)
not to count, short enough for little to be lost with a worker.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Sequence

from learnability.learners.base import Learner
from learnability.studies.points import Point

__all__ = ["Groups", "side_by_side"]

_SECONDS = 0.35
_LARGEST = 256
_MOST_SEEDS = 128


def side_by_side(learner: Learner) -> bool:
    """Return whether a learner computes several seeds at once, faster than one after the other."""
    return type(learner).run is not Learner.run


class Groups:
    """The points that wait, handed out in groups.

    Parameters
    ----------
    points : sequence of Point
        Points in the order of their cells.
    workers : int
        The number of processes among which they are shared.

    Attributes
    ----------
    seconds : float
        The time that a point took recently.
    """

    def __init__(self, points: Sequence[Point], workers: int) -> None:
        self.seconds = _SECONDS
        self._waiting = deque(points)
        self._together: deque[list[Point]] = deque()
        if points and side_by_side(points[0].learner):
            most = min(_MOST_SEEDS, math.ceil(len(points) / workers))
            for _, cell in itertools.groupby(points, lambda point: point.cell):
                self._together += _equal_parts(list(cell), most)

    def __len__(self) -> int:
        return len(self._waiting)

    def rest(self) -> list[Point]:
        """Return the points that were not handed out."""
        return list(self._waiting)

    def take(self, room: int) -> list[Point]:
        """Return the next group: single points until their time is known, and at the end.

        Parameters
        ----------
        room : int
            Number of groups that can wait for workers at a time.
        """
        if self._together:
            size = len(self._together.popleft())
        else:
            fitting = _SECONDS / max(self.seconds, 1e-6)
            size = max(int(min(fitting, _LARGEST, len(self._waiting) / room)), 1)
        return [self._waiting.popleft() for _ in range(size)]

    def took(self, seconds: float, points: int) -> None:
        """Record how long a group took."""
        self.seconds = 0.5 * (self.seconds + seconds / points)


def _equal_parts(points: list[Point], most: int) -> list[list[Point]]:
    """Return parts whose sizes differ by at most one."""
    count = math.ceil(len(points) / most)
    edges = [len(points) * k // count for k in range(count + 1)]
    return [points[start:end] for start, end in itertools.pairwise(edges)]
