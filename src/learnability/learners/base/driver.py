"""The one driver: checks, asks a learner, stacks, labels and writes down where a result is from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError, within_numerics
from learnability.learners.base.labelling import Labels
from learnability.learners.base.learner import Found
from learnability.learners.base.questions import GRIDS, Question, checked_arguments
from learnability.learners.base.sizes import check_size
from learnability.learners.base.support import check_support
from learnability.progress import tracked
from learnability.randomness import checked_seeds
from learnability.results.labelled import Labelled
from learnability.results.schema import row_of
from learnability.targets import as_target

if TYPE_CHECKING:
    from learnability.learners.base.learner import Learner

__all__ = [
    "Runs",
    "alpha_by_alpha",
    "form",
    "predicted",
    "seed_by_seed",
    "simulated",
    "the_question",
]


def the_question(learner: Learner, name: str | None) -> Question:
    """Return the question with a name; None stands for the first of the learner.

    Raises
    ------
    LearnabilityError
        When the learner does not know the question.
    """
    if name is None:
        return learner.questions[0]
    for question in learner.questions:
        if question.name == name:
            return question
    known = ", ".join(question.name for question in learner.questions)
    raise LearnabilityError(
        f"The question {name!r} was asked of {learner.name}, which answers {known}."
    )


class Runs:
    """Runs of a learner at one point of a grid, checked once and then asked for any seeds.

    Parameters
    ----------
    learner, target, name, given
        As in `Learner.simulate`.

    Raises
    ------
    LearnabilityError
        When the learner does not support the target, or an argument is not accepted.
    """

    def __init__(
        self, learner: Learner, target: Any, name: str | None, given: Mapping[str, Any]
    ) -> None:
        self._learner = learner
        self._question, self._target, self._at = _prepared(learner, "simulate", target, name, given)
        self._who = _who(learner, "simulate", self._question)
        check_size(self._who, learner, self._target, self._at)
        self._labels = Labels(learner, self._question, "simulate", self._target, self._at, given)

    def of(self, seeds: Sequence[int]) -> Labelled:
        """Return the result of some seeds, along `seed`.

        Parameters
        ----------
        seeds : sequence of int
            The seeds of the runs.
        """
        return self.labelled(self.found(seeds), seeds)

    def found(self, seeds: Sequence[int]) -> Found:
        """Return what the learner answers for some seeds.

        Parameters
        ----------
        seeds : sequence of int
            The seeds of the runs.
        """
        with within_numerics(self._who):
            return self._learner.run(self._question.name, self._target, self._at, seeds)

    def labelled(self, found: Found, seeds: Sequence[int]) -> Labelled:
        """Return an answer with its labels.

        Parameters
        ----------
        found : Found
            What the learner answered for the seeds.
        seeds : sequence of int
            The seeds of the runs.
        """
        return self._labels.on(found, self._lead(found), seeds)

    def joined(self, found: Sequence[Found]) -> Found:
        """Return answers of one `form` as one, along `seed`.

        Parameters
        ----------
        found : sequence of Found
            Each for one seed or more.
        """
        first = found[0]
        if len(found) == 1:
            return first
        along = self._lead(first).index("seed")
        values = {
            name: np.concatenate([one.values[name] for one in found], axis=along)
            for name in first.values
        }
        return Found(values, lead=first.lead)

    def _lead(self, found: Found) -> tuple[str, ...]:
        return (*self._question.axes, "seed") if found.lead is None else found.lead


def form(found: Found) -> object:
    """Return a key that is equal for two answers if they can be joined without changing a bit.

    Parameters
    ----------
    found : Found
        What a learner answered; with coordinates or attributes of its own it is never joined.
    """
    if found.coords or found.attrs:
        return object()
    arrays = [(name, np.asarray(one)) for name, one in found.values.items()]
    return [(name, one.dtype, one.shape) for name, one in arrays], found.lead


def simulated(
    learner: Learner, target: Any, name: str | None, seeds: Any, given: dict[str, Any]
) -> Labelled:
    """Ask the runs of a learner; see `Learner.simulate`."""
    return Runs(learner, target, name, given).of(checked_seeds(seeds))


def predicted(
    learner: Learner, target: Any, name: str | None, seeds: Any, given: dict[str, Any]
) -> Labelled:
    """Ask the theory of a learner; see `Learner.predict`."""
    question, target, at = _prepared(learner, "predict", target, name, given)
    side = question.predict
    assert side is not None
    if seeds is not None and not side.seeds:
        raise LearnabilityError(
            f"`seeds` was given, but {_who(learner, 'predict', question)} does not depend on seeds."
        )
    chosen = None if seeds is None else checked_seeds(seeds)
    with within_numerics(_who(learner, "predict", question)):
        found = learner.theory(question.name, target, at, chosen)
    lead = question.axes if found.lead is None else found.lead
    if "seed" in lead and chosen is None:
        chosen = [0]
    labels = Labels(learner, question, "predict", target, at, given)
    return labels.on(found, lead, chosen)


def sketched(
    learner: Learner, target: Any, name: str | None, given: dict[str, Any], most_steps: int
) -> Labelled | None:
    """Ask the sketch of a learner, as `predicted` asks its theory; None where it has none."""
    question, target, at = _prepared(learner, "predict", target, name, given)
    with within_numerics(_who(learner, "predict", question)):
        found = learner.sketch(question.name, target, at, most_steps)
    if found is None:
        return None
    labels = Labels(learner, question, "predict", target, at, given)
    return labels.on(found, question.axes, None)


def _prepared(
    learner: Learner, verb: str, target: Any, name: str | None, given: Mapping[str, Any]
) -> tuple[Question, Any, dict[str, Any]]:
    """Return the question, the target and the arguments, all of them checked."""
    question = the_question(learner, name)
    target = as_target(target).simplified()
    who = _who(learner, verb, question)
    side = question.side(verb)
    if side is None:
        raise LearnabilityError(f"{who} has no answer: {question.reason}")
    check_support(learner, side, who, target)
    finite = verb == "predict" and target.depends_on_dimension and not side.limit
    more = ("d",) if finite else ()
    at = checked_arguments(who, side, given, more)
    if "d" in at:
        target.check_dimension(at["d"])
    for grid in GRIDS:
        if grid in at:
            at[grid] = np.atleast_1d(at[grid])
    with within_numerics(who):
        learner.check_target(question.name, verb, target, at)
    return question, target, at


def _who(learner: Learner, verb: str, question: Question) -> str:
    asked = "" if question is learner.questions[0] else f" ({question.name})"
    return f"{verb} {learner.name}{asked}"


# ---- loops


def seed_by_seed(
    learner: Learner, name: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int]
) -> Found:
    """Return one seed after the other, stacked behind the axes of the question."""
    found = [
        learner.run_seed(name, target, at, seed) for seed in tracked(list(seeds), learner.name)
    ]
    return _stacked(found, len(the_question(learner, name).axes))


def alpha_by_alpha(
    learner: Learner, name: str, target: Any, at: Mapping[str, Any], seed: int
) -> Found:
    """Return one alpha after the other, stacked in front."""
    if "alpha" not in the_question(learner, name).axes:
        return learner.run_one(name, target, at, seed)
    alphas = [float(alpha) for alpha in at["alpha"]]
    found = [learner.run_one(name, target, {**at, "alpha": alpha}, seed) for alpha in alphas]
    return _stacked(found, 0)


def _stacked(found: Sequence[Found], axis: int) -> Found:
    """Join results of equal names along a new axis; shorter paths repeat their last value."""
    first = found[0]
    if len(found) == 1:
        alone = {name: _lifted(one, axis) for name, one in first.values.items()}
        return Found(alone, first.coords, first.attrs, first.lead)
    names = list(dict.fromkeys(name for one in found for name in one.values))
    values = {}
    for name in names:
        arrays = [np.asarray(one.values[name]) for one in found]
        if "time" in row_of(name).dims:
            place = arrays[0].ndim - len(row_of(name).dims)
            longest = max(array.shape[place] for array in arrays)
            arrays = [_held(array, place, longest) for array in arrays]
        values[name] = np.stack(arrays, axis=axis)
    coords = dict(first.coords)
    for name, held in coords.items():
        longest_one = max((one.coords[name] for one in found), key=len)
        coords[name] = longest_one if len(longest_one) > len(held) else held
    shared = {
        key: value
        for key, value in first.attrs.items()
        if all(_same(one.attrs.get(key), value) for one in found)
    }
    return dataclasses.replace(first, values=values, coords=coords, attrs=shared)


def _lifted(values: Any, axis: int) -> NDArray[Any]:
    """Return values with a new axis of length one; `numpy.expand_dims` costs ten times as much."""
    array = np.asarray(values)
    return array.reshape(*array.shape[:axis], 1, *array.shape[axis:])


def _held(path: NDArray[Any], axis: int, length: int) -> NDArray[Any]:
    """Return a path kept at its last value up to a common length."""
    missing = length - path.shape[axis]
    last = np.take(path, [-1], axis=axis)
    return np.concatenate([path, np.repeat(last, missing, axis=axis)], axis=axis)


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or (one != one and other != other)
