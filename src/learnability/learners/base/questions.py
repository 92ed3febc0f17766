"""Questions that are asked of learners: their arguments and observables, declared once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.fields import Choice, Declared, Flag, Kind, Number, Whole, within_range

__all__ = ["ARGUMENTS", "At", "Question", "Side", "checked_arguments"]


class At(TypedDict, total=False):
    """The arguments of questions, with their types for editors and type checkers."""

    d: int
    alpha: ArrayLike
    time: ArrayLike
    start: Any
    overlap: float
    degree: int
    parameters: Sequence[float]
    bulk: str
    points: int
    steps: int
    third: bool
    samples: int
    control: str


SMALLEST_RATIO, LARGEST_ARGUMENT = 1e-9, 1e15
"""The smallest ratio, and the largest ratio or time, that is accepted."""


class Grid(Kind):
    """One number or a list of numbers, as an array of shape () or (k,)."""

    def __init__(self, accepted: str, least: float, *, strict: bool, ordered: bool) -> None:
        self._accepted = accepted
        self._least, self._strict, self._ordered = least, strict, ordered

    @property
    def accepted(self) -> str:
        """What is accepted, with its article, for sentences and docs."""
        return self._accepted

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        return "float or sequence of float"

    def read(self, value: Any) -> NDArray[np.float64]:
        """Return the array.

        Raises
        ------
        ValueError
            When a number is out of range or out of order.
        """
        if isinstance(value, str | bytes | bool):
            raise ValueError
        array = np.asarray(value, dtype=float)
        flat = array.ravel()
        inside = flat > self._least if self._strict else flat >= self._least
        if array.ndim > 1 or not flat.size or not (inside & np.isfinite(flat)).all():
            raise ValueError
        if self._ordered and (np.diff(flat) < 0).any():
            raise ValueError
        for number in flat:
            within_range(number, SMALLEST_RATIO if self._strict else 0.0, LARGEST_ARGUMENT)
        return array


class Anything(Kind):
    """A value that the learner itself reads."""

    def __init__(self, accepted: str) -> None:
        self._accepted = accepted

    @property
    def accepted(self) -> str:
        """What is accepted, with its article, for sentences and docs."""
        return self._accepted

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        return "tuple"

    def read(self, value: Any) -> Any:
        """Return the value as it is."""
        return value

    def parse(self, text: str) -> Any:
        """Return finite numbers between commas."""
        return tuple(Number().read(float(part)) for part in text.split(","))


ARGUMENTS: dict[str, Declared] = {
    "d": Declared(Whole(at_least=1), "Dimension of the inputs."),
    "alpha": Declared(
        Grid("a finite number above 0, or a list of them,", 0.0, strict=True, ordered=False),
        "Samples per dimension, n / d.",
    ),
    "time": Declared(
        Grid(
            "a finite time from 0 on, or a list of times that do not decrease,",
            0.0,
            strict=False,
            ordered=True,
        ),
        "Times of observation, in steps per dimension.",
    ),
    "start": Declared(
        Anything("a tuple of order parameters"),
        "Order parameters at time 0, such as (Q, M) = (W W^T, W W*^T).",
    ),
    "overlap": Declared(Number(above=0, below=1), "The overlap that has to be reached."),
    "degree": Declared(
        Whole(at_least=1, at_most=6),
        "The degree l that is partly learned; samples and width are then per d^l / l!.",
    ),
    "parameters": Declared(
        Anything("a tuple (spike, alignment, bulk) or (spike, alignment, bulk, spread)"),
        "Parameters of a first layer, instead of those of the limit.",
    ),
    "bulk": Declared(
        Choice(("independent", "batch")),
        "Law of the neurons beyond the spike: independent, or with what they share of the batch.",
    ),
    "points": Declared(Whole(at_least=2, at_most=100_000), "Points of a density."),
    "steps": Declared(Whole(at_least=1, at_most=1_000_000), "Number of iterations."),
    "third": Declared(
        Flag(), "Whether the error of three layers is estimated; by default where there are three."
    ),
    "control": Declared(
        Choice(("labels", "permuted")), "The labels as they are, or permuted among the samples."
    ),
    "samples": Declared(Whole(at_least=1), "Points drawn for the expectations of the theory."),
}
"""Every argument of a question: what it accepts and what it means."""

GRIDS = ("alpha", "time")
"""Arguments that may be lists; a single number removes the axis of that name."""


@dataclass(frozen=True)
class Side:
    """How one side, runs or theory, answers a question.

    Attributes
    ----------
    needs, takes : tuple of str
        Names of arguments that must, and that may, be given.
    observables : tuple of str
        What only this side returns.
    seeds : bool
        Whether the theory takes seeds, of random starts or of samples; runs always do.
    inputs, targets, laws : tuple of str or None
        Kinds that this side accepts where it accepts others than the learner does.
    fixed : mapping
        Field of the learner -> why this side accepts its default only: it does not act here, or
        nothing is known for other values.
    limit : bool
        Whether the theory is a limit that needs no `d` even of a target whose law changes with d.
    """

    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    observables: tuple[str, ...] = ()
    seeds: bool = False
    inputs: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    laws: tuple[str, ...] | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)
    limit: bool = False


@dataclass(frozen=True)
class Question:
    """What can be asked of a learner.

    Attributes
    ----------
    name : str
        "values", "path", "recovery", "spectrum", ...
    help : str
        One sentence.
    observables : tuple of str
        Names of the schema that both sides return where they apply to the target.
    simulate, predict : Side or None
        How runs and theory answer; None where they do not.
    axes : tuple of str
        Arguments that are leading dimensions of every observable.
    reason : str
        Why a side is missing.
    """

    name: str
    help: str
    observables: tuple[str, ...] = ()
    simulate: Side | None = None
    predict: Side | None = None
    axes: tuple[str, ...] = ("alpha",)
    reason: str = ""

    def side(self, verb: str) -> Side | None:
        """Return the side of a verb, "simulate" or "predict"."""
        return self.simulate if verb == "simulate" else self.predict

    def names(self, verb: str) -> tuple[str, ...]:
        """Return all observables that a side may return."""
        side = self.side(verb)
        return self.observables + (side.observables if side else ())


def checked_arguments(
    who: str, side: Side, given: Mapping[str, Any], more: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the arguments of a question in their final form.

    Parameters
    ----------
    who : str
        Learner, verb and question, for sentences.
    side : Side
        What is needed and taken.
    given : mapping
        Name -> value; None counts as not given.
    more : iterable of str
        Further arguments that this target needs.

    Raises
    ------
    LearnabilityError
        When an argument is missing, unknown, or out of range.
    """
    needs = dict.fromkeys([*side.needs, *more])
    known = {**needs, **dict.fromkeys(side.takes)}
    found = {name: value for name, value in given.items() if value is not None}
    for name in found:
        if name not in known:
            accepted = ", ".join(f"`{one}`" for one in known) or "no arguments"
            raise LearnabilityError(f"`{name}` was given, but {who} takes {accepted}.")
    for name in needs:
        if name not in found:
            raise LearnabilityError(
                f"{who} needs `{name}`, which was not given: {ARGUMENTS[name].help}"
            )
    return {name: ARGUMENTS[name].read(name, value) for name, value in found.items()}
