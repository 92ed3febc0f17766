"""The one driver: checks, asks a learner, stacks, labels and writes down where a result is from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import learnability
from learnability.errors import LearnabilityError, within_numerics
from learnability.learners.base.questions import GRIDS, Question, checked_arguments
from learnability.learners.base.sizes import check_size
from learnability.learners.base.support import check_support
from learnability.progress import tracked
from learnability.randomness import checked_seeds
from learnability.results.schema import COORDINATES, row_of
from learnability.statuses import status_words
from learnability.targets import as_target

if TYPE_CHECKING:
    import xarray

    from learnability.learners.base.learner import Found, Learner

__all__ = [
    "Labelled",
    "Runs",
    "alpha_by_alpha",
    "predicted",
    "seed_by_seed",
    "simulated",
    "the_question",
]


def the_question(learner: Learner, name: str | None) -> Question:
    """Return the question of a name; the first of the learner for None.

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


class Labelled(NamedTuple):
    """A result as the parts of an `xarray.Dataset`, which costs more to make than many runs.

    Attributes
    ----------
    variables : dict
        Name -> (dims, array).
    coords : dict
        Name -> (dims, array), or one number.
    attrs : dict
        Provenance.
    """

    variables: dict[str, tuple[tuple[str, ...], NDArray[Any]]]
    coords: dict[str, Any]
    attrs: dict[str, Any]


class Runs:
    """Runs of a learner at one place of a grid: checked once, then asked for as many seeds as come.

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
        self._learner, self._given = learner, given
        self._question, self._target, self._at = _prepared(learner, "simulate", target, name, given)
        self._who = _who(learner, "simulate", self._question)
        check_size(self._who, learner, self._target, self._at)
        self._origin = _provenance(learner, self._question, "simulate", self._target, self._at)

    def of(self, seeds: Sequence[int]) -> Labelled:
        """Return the result of some seeds, along `seed`.

        Parameters
        ----------
        seeds : sequence of int
            Of the runs.
        """
        question = self._question
        with within_numerics(self._who):
            found = self._learner.run(question.name, self._target, self._at, seeds)
        lead = (*question.axes, "seed") if found.lead is None else found.lead
        about = (self._learner, question, "simulate", self._at, self._given)
        return _labelled(*about, found, lead, seeds, self._origin)


def simulated(
    learner: Learner, target: Any, name: str | None, seeds: Any, given: dict[str, Any]
) -> xarray.Dataset:
    """Ask the runs of a learner; see `Learner.simulate`."""
    import xarray

    runs = Runs(learner, target, name, given)
    return xarray.Dataset(*runs.of(checked_seeds(seeds)))


def predicted(
    learner: Learner, target: Any, name: str | None, seeds: Any, given: dict[str, Any]
) -> xarray.Dataset:
    """Ask the theory of a learner; see `Learner.predict`."""
    import xarray

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
    origin = _provenance(learner, question, "predict", target, at)
    about = (learner, question, "predict", at, given)
    return xarray.Dataset(*_labelled(*about, found, lead, chosen, origin))


def sketched(
    learner: Learner, target: Any, name: str | None, given: dict[str, Any]
) -> xarray.Dataset | None:
    """Ask the sketch of a learner, as `predicted` asks its theory; None where it has none."""
    import xarray

    question, target, at = _prepared(learner, "predict", target, name, given)
    with within_numerics(_who(learner, "predict", question)):
        found = learner.sketch(question.name, target, at)
    if found is None:
        return None
    origin = _provenance(learner, question, "predict", target, at)
    about = (learner, question, "predict", at, given)
    return xarray.Dataset(*_labelled(*about, found, question.axes, None, origin))


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
    """Return results of the same names as one, along a new axis; paths hold their last value."""
    first = found[0]
    if len(found) == 1:
        alone = {name: np.expand_dims(one, axis) for name, one in first.values.items()}
        return dataclasses.replace(first, values=alone)
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


def _held(path: NDArray[Any], axis: int, length: int) -> NDArray[Any]:
    """Return a path kept at its last value up to a common length."""
    missing = length - path.shape[axis]
    last = np.take(path, [-1], axis=axis)
    return np.concatenate([path, np.repeat(last, missing, axis=axis)], axis=axis)


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or (one != one and other != other)


# ---- labels


def _labelled(
    learner: Learner,
    question: Question,
    verb: str,
    at: Mapping[str, Any],
    given: Mapping[str, Any],
    found: Found,
    lead: tuple[str, ...],
    seeds: Sequence[int] | None,
    origin: Mapping[str, Any],
) -> Labelled:
    """Label arrays by the schema; an argument that was one number takes its axis away."""
    declared = question.names(verb)
    single = [grid for grid in GRIDS if grid in at and np.ndim(given[grid]) == 0]
    ridges = isinstance(getattr(learner, "ridge", None), tuple)
    variables: dict[str, Any] = {}
    for name, values in found.values.items():
        row = row_of(name)
        if name.removesuffix("_stderr") not in declared:
            raise LearnabilityError(
                f"{learner.name} returned `{name}`, which the question {question.name} does not "
                "declare."
            )
        array = status_words(values) if name == "status" else np.asarray(values)
        dims = (*lead, *row.dims, *(("ridge",) if row.by_ridge and ridges else ()))
        if array.ndim != len(dims):
            raise LearnabilityError(
                f"{learner.name} returned `{name}` of shape {array.shape}, but its dimensions are "
                f"{', '.join(dims) or 'none'}."
            )
        for axis in single:
            if axis in dims:
                array = array[(slice(None),) * dims.index(axis) + (0,)]
                dims = tuple(dim for dim in dims if dim != axis)
        variables[name] = (dims, array)
    coords: dict[str, Any] = {}
    for name, values in found.coords.items():
        if name not in COORDINATES:
            raise LearnabilityError(f"The schema of results has no coordinate {name!r}.")
        coords[name] = (name, np.asarray(values))
    for grid in GRIDS:
        if grid in at:
            coords[grid] = float(at[grid][0]) if grid in single else (grid, at[grid])
    if seeds is not None and "seed" in lead:
        coords["seed"] = ("seed", list(seeds))
    if ridges:
        coords["ridge"] = ("ridge", list(learner.ridges))
    used = {dim for dims, _ in variables.values() for dim in dims}
    kept = {k: v for k, v in coords.items() if not isinstance(v, tuple) or k in used}
    more = {key: value for key, value in found.attrs.items() if value is not None}
    return Labelled(variables, kept, {**origin, **more})


def _provenance(
    learner: Learner,
    question: Question,
    verb: str,
    target: Any,
    at: Mapping[str, Any],
) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(learner)]  # type: ignore[arg-type]
    settings = ", ".join(f"{name}={getattr(learner, name)!r}" for name in names)
    scalars = {k: v for k, v in at.items() if isinstance(v, int | float | str | bool)}
    return {
        "learner": f"{type(learner).__name__}({settings})",
        "verb": verb,
        "question": question.name,
        **target.provenance(),
        "version": learnability.__version__,
        "numerics_version": learner.numerics_version,
        **scalars,
    }
