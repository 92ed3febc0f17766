"""The points of a study: which parameters vary, which learner runs where, and the key of each run.

A name in the grid is an argument of the question, else a field of the learner, else of the target,
else of its inputs. Several values make it a dimension of the result, and one value makes it a
coordinate. Times, and order parameters as a start, belong to one run and are handed over whole.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.learners.base import ARGUMENTS, Learner, Question, Side
from learnability.learners.base.questions import Anything
from learnability.studies.identity import described, identity
from learnability.targets import Target

__all__ = ["Layout", "Point", "plan"]


class Point(NamedTuple):
    """One run: a learner on a target with one seed.

    Attributes
    ----------
    key : str
        Hash of the parameters and the seed.
    cell : int
        Place in the grid; the points of a cell differ in the seed alone.
    learner, target : object
        Records with the values of this point.
    question : str
        What is asked of the learner.
    arguments : dict
        The arguments of the question.
    seed : int
        The one seed.
    parameters : str
        Learner, target, question and arguments as JSON.
    """

    key: str
    cell: int
    learner: Learner
    target: Target
    question: str
    arguments: dict[str, Any]
    seed: int
    parameters: str


@dataclass(frozen=True)
class Layout:
    """How the points of a study make one result.

    Attributes
    ----------
    axes : dict
        Name of a dimension -> its labels, "seed" last.
    scalars : dict
        Name -> the one label.
    keys : tuple of str
        The keys of the points, with the last axis fastest.
    learner, target : str
        Texts to read, with the fields that do not vary.
    """

    axes: dict[str, list[Any]]
    scalars: dict[str, Any]
    keys: tuple[str, ...]
    learner: str
    target: str

    def to_json(self) -> str:
        """Return the layout as text, without the keys."""
        return json.dumps({k: v for k, v in vars(self).items() if k != "keys"})


def plan(
    learner: Learner,
    target: Target,
    question: Question,
    seeds: Sequence[int],
    grid: Mapping[str, Any],
    *,
    stored: bool,
) -> tuple[list[Point], Layout]:
    """Return the points of a study and how they are laid out.

    Parameters
    ----------
    learner, target : Learner, Target
        Records; the grid changes some of their fields.
    question : Question
        What is asked of the learner.
    seeds : sequence of int
        Seeds.
    grid : mapping
        Name -> a value or several.
    stored : bool
        Whether the keys have to be recognised by later processes.

    Raises
    ------
    LearnabilityError
        When a name is unknown or missing, or a value is not accepted.
    """
    side = question.simulate
    if side is None:
        raise LearnabilityError(
            f"{learner.name} does not answer {question.name!r} by runs: {question.reason}"
        )
    homes = _homes(learner, target, side)
    for name in grid:
        if name not in homes:
            raise LearnabilityError(_unknown(name, learner, target, homes))
    for name in side.needs:
        if grid.get(name) is None:
            raise LearnabilityError(
                f"simulate {learner.name} needs `{name}`, which was not given: "
                f"{ARGUMENTS[name].help}"
            )
    values = {name: _values(name, homes[name], value) for name, value in grid.items()}
    axes = {name: several for name, several in values.items() if isinstance(several, list)}
    labels = {name: [described(v) for v in several] for name, several in axes.items()}
    for name, found in labels.items():
        if len(set(map(str, found))) < len(found):
            raise LearnabilityError(f"`{name}` was given as {found!r}, but with a value twice.")
    points: list[Point] = []
    for cell, chosen in enumerate(itertools.product(*axes.values())):
        here = {**values, **dict(zip(axes, chosen, strict=True))}
        points += _cell(cell, learner, target, question.name, homes, here, seeds, stored)
    single = {n: v for n, v in values.items() if n not in axes and not isinstance(v, tuple)}
    scalars = {n: described(v) for n, v in single.items() if np.ndim(v) == 0}
    layout = Layout(
        {**labels, "seed": list(seeds)}, scalars, tuple(p.key for p in points),
        _title(points[0].learner, axes),
        _title(points[0].target, axes),
    )  # fmt: skip
    return points, layout


def _cell(
    cell: int,
    learner: Learner,
    target: Target,
    question: str,
    homes: Mapping[str, str],
    here: Mapping[str, Any],
    seeds: Sequence[int],
    stored: bool,
) -> list[Point]:
    """Return the points of one combination of values, one for each seed."""

    def of(home: str) -> dict[str, Any]:
        return {name: value for name, value in here.items() if homes[name] == home}

    def changed(record: Any, fields: dict[str, Any]) -> Any:
        return dataclasses.replace(record, **fields) if fields else record

    arguments = of("question")
    learner = changed(learner, of("learner"))
    inputs = {"inputs": changed(target.inputs, of("inputs"))} if of("inputs") else {}
    target = changed(target, {**of("target"), **inputs})
    parameters = ""
    if stored:
        found = {
            "learner": identity(learner),
            "target": identity(target),
            "question": question,
            "arguments": {n: identity(v) for n, v in arguments.items() if v is not None},
        }
        parameters = json.dumps(found, sort_keys=True, allow_nan=False, ensure_ascii=False)

    def key(seed: int) -> str:
        if not stored:
            return f"{cell}|{seed}"
        return hashlib.blake2b(f"{parameters}|{seed}".encode(), digest_size=16).hexdigest()

    return [
        Point(key(seed), cell, learner, target, question, arguments, seed, parameters)
        for seed in seeds
    ]


def _homes(learner: Learner, target: Target, side: Side) -> dict[str, str]:
    """Name -> to what it belongs: "question", "learner", "target" or "inputs"."""
    homes = dict.fromkeys([*side.needs, *side.takes], "question")
    for home, record in (("learner", learner), ("target", target), ("inputs", target.inputs)):
        for field in dataclasses.fields(record):  # type: ignore[arg-type]
            homes.setdefault(field.name, home)
    return homes


def _unknown(name: str, learner: Learner, target: Target, homes: Mapping[str, str]) -> str:
    parts = [
        ("arguments of the question", "question"),
        (f"fields of {type(learner).__name__}", "learner"),
        (f"fields of {type(target).__name__}", "target"),
        (f"fields of {type(target.inputs).__name__}", "inputs"),
    ]
    known = "; ".join(
        f"{title}: {', '.join(n for n, home in homes.items() if home == which) or 'none'}"
        for title, which in parts
    )
    return f"`{name}` was given, but it is unknown here. Accepted are {known}."


def _values(name: str, home: str, value: Any) -> Any:
    """Return a list for an axis; anything else, such as a tuple, is one value."""
    if home == "question" and name == "time":
        return np.asarray(value)
    if home == "question" and isinstance(ARGUMENTS[name].kind, Anything):
        return value
    if isinstance(value, str | bytes | Link) or callable(value):
        return value
    if isinstance(value, np.ndarray):
        if value.ndim > 1:
            raise LearnabilityError(
                f"`{name}` was given as an array of shape {value.shape}, but one value or a list "
                "is accepted."
            )
        value = value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple | range):
        if not len(value):
            raise LearnabilityError(f"`{name}` was given as an empty list: give values.")
        return [v.item() if isinstance(v, np.generic) else v for v in value]
    return value


def _title(record: Any, axes: Mapping[str, Any]) -> str:
    """Return the text of a record with the fields that do not vary."""

    def shown(value: Any) -> str:
        if isinstance(value, Link):
            return value.text or repr(value)
        return _title(value, axes) if dataclasses.is_dataclass(value) else repr(value)

    names = [field.name for field in dataclasses.fields(record) if field.name not in axes]
    fields = ", ".join(f"{name}={shown(getattr(record, name))}" for name in names)
    return f"{type(record).__name__}({fields})"
