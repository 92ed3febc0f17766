"""Labels: arrays that a learner returned get their dimensions, coordinates and provenance."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import learnability
from learnability.errors import LearnabilityError
from learnability.learners.base.questions import GRIDS, Question
from learnability.results.labelled import Labelled
from learnability.results.schema import COORDINATES, row_of
from learnability.statuses import status_words

if TYPE_CHECKING:
    from learnability.learners.base.learner import Found, Learner

__all__ = ["Labels"]


class Labels:
    """The labels of arrays by the schema; an argument that was given as one number has no axis.

    Parameters
    ----------
    learner, question, verb
        The learner that is asked, the question, and "simulate" or "predict".
    target : Target
        Where the samples come from.
    at, given : mapping
        The arguments in their final form, and as they were given.
    """

    def __init__(
        self,
        learner: Learner,
        question: Question,
        verb: str,
        target: Any,
        at: Mapping[str, Any],
        given: Mapping[str, Any],
    ) -> None:
        self._learner, self._question = learner, question
        self._declared = question.names(verb)
        self._single = [grid for grid in GRIDS if grid in at and np.ndim(given[grid]) == 0]
        self._by_ridge = isinstance(getattr(learner, "ridge", None), tuple)
        self._coords: dict[str, Any] = {
            grid: float(at[grid][0]) if grid in self._single else (grid, at[grid])
            for grid in GRIDS
            if grid in at
        }
        if self._by_ridge:
            self._coords["ridge"] = ("ridge", list(learner.ridges))
        self._origin = _provenance(learner, question, verb, target, at)

    def on(self, found: Found, lead: tuple[str, ...], seeds: Sequence[int] | None) -> Labelled:
        """Return what was found, labelled.

        Parameters
        ----------
        found : Found
            What the learner answered.
        lead : tuple of str
            The first dimensions of its arrays.
        seeds : sequence of int or None
            Values along `seed`, where there is one.

        Raises
        ------
        LearnabilityError
            When an array is not declared, or has other dimensions.
        """
        variables: dict[str, Any] = {}
        for name, values in found.values.items():
            dims = self._dims(name, lead)
            array = status_words(values) if name == "status" else np.asarray(values)
            if array.ndim != len(dims):
                raise LearnabilityError(
                    f"{self._learner.name} returned `{name}` of shape {array.shape}, but its "
                    f"dimensions are {', '.join(dims) or 'none'}."
                )
            for axis in self._single:
                if axis in dims:
                    array = array[(slice(None),) * dims.index(axis) + (0,)]
                    dims = tuple(dim for dim in dims if dim != axis)
            variables[name] = (dims, array)
        coords: dict[str, Any] = {}
        for name, values in found.coords.items():
            if name not in COORDINATES:
                raise LearnabilityError(f"The schema of results has no coordinate {name!r}.")
            coords[name] = (name, np.asarray(values))
        coords.update(self._coords)
        if seeds is not None and "seed" in lead:
            coords["seed"] = ("seed", list(seeds))
        used = {dim for dims, _ in variables.values() for dim in dims}
        kept = {k: v for k, v in coords.items() if not isinstance(v, tuple) or k in used}
        more = {key: value for key, value in found.attrs.items() if value is not None}
        return Labelled(variables, kept, {**self._origin, **more})

    def _dims(self, name: str, lead: tuple[str, ...]) -> tuple[str, ...]:
        row = row_of(name)
        if name.removesuffix("_stderr") not in self._declared:
            raise LearnabilityError(
                f"{self._learner.name} returned `{name}`, which the question "
                f"{self._question.name} does not declare."
            )
        return (*lead, *row.dims, *(("ridge",) if row.by_ridge and self._by_ridge else ()))


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
