"""Learners without mathematics, for tests of what all learners share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from learnability.fields import number, numbers, record
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.statuses import Status

VALUES = Question(
    "values",
    "What the toy reaches.",
    ("overlap", "error", "status"),
    simulate=Side(needs=("d", "alpha"), observables=("overlap_trace",)),
    predict=Side(needs=("alpha",), takes=("steps",)),
)
PATH = Question(
    "path",
    "The overlap along the time.",
    ("overlap",),
    simulate=Side(needs=("d", "time"), fixed={"shift": "it does not move a path"}),
    predict=Side(needs=("time",), seeds=True, limit=True),
    axes=("time",),
)
RUNS = Question("runs", "Runs alone.", ("error",), simulate=Side(needs=("d",)), axes=(),
                reason="Nobody knows the theory.")  # fmt: skip


@record
class Toy(Learner):
    """A learner whose values say what was asked: overlap = seed + alpha / 10."""

    name: ClassVar[str] = "toy"
    supports: ClassVar[Support] = Support(inputs=("isotropic", "spiked"), most_directions=2)
    questions: ClassVar[tuple[Question, ...]] = (VALUES, PATH, RUNS)

    shift: float = number(0.0, help="It is added to all values.")
    spikiness: float = number(1.0, inputs=("spiked",), help="It acts on spikes.")
    ridge: Any = numbers(1.0, at_least=0, help="Ridge of the fit.")

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Values that name their seed and their alpha; paths as long as 2 + the seed."""
        r = target.r
        if question == "path":
            times = np.asarray(at["time"])
            return Found({"overlap": seed + times[:, None, None] * np.eye(r)})
        if question == "runs":
            return Found({"error": self._by_ridge(seed)})
        value = seed + at["alpha"] / 10 + self.shift
        steps = 2 + seed
        return Found(
            {
                "overlap": value * np.eye(r),
                "error": self._by_ridge(value),
                "status": np.full(np.shape(self._by_ridge(value)), Status.FINISHED),
                "overlap_trace": np.arange(steps)[:, None, None] + np.zeros((steps, r, r)),
            },
            {"time": np.arange(steps)},
            {"shared": "yes", "alpha_c": 0.5 if seed < 2 else 0.6, "nothing": None},
        )

    def _by_ridge(self, value: float) -> Any:
        return value * np.array(self.ridges) if isinstance(self.ridge, tuple) else value

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """The same without seeds, or with them where they were given."""
        if question == "path":
            times = np.asarray(at["time"])[:, None, None] * np.eye(target.r)
            if seeds is None:
                return Found({"overlap": times, "overlap_stderr": 0 * times})
            values = np.stack([seed + times for seed in seeds], axis=1)
            return Found({"overlap": values}, lead=("time", "seed"))
        values = np.asarray(at["alpha"])[:, None, None] * np.eye(target.r)
        return Found({"overlap": values}, attrs={"alpha_c": 0.5, "note": "Exact."})


@record
class Wide(Toy):
    """The same, computed for all seeds at once."""

    name: ClassVar[str] = "wide"

    def run(self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int]) -> Found:
        """All seeds and alphas by one expression."""
        values = np.asarray(seeds)[None, :] + at["alpha"][:, None] / 10
        return Found({"overlap": values[..., None, None] * np.eye(target.r)})


@record
class Broken(Toy):
    """A learner that returns what a test asks for."""

    name: ClassVar[str] = "broken"

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """What the test has put into `wrong`."""
        return type(self).wrong

    wrong: ClassVar[Found] = Found({})
