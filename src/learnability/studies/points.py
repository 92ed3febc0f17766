"""The points of a study: which parameters vary, which learner runs where, and the key of each run.

A name in the grid is an argument of `simulate`, else a field of the learner, else of the target.
Several values make it a dimension of the result, one value a coordinate. Times, and
matrices of order parameters as a start, belong to one run and are handed over whole.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.studies.identity import described, identity

__all__ = ["Layout", "Point", "plan"]

_OF_ONE_RUN = ("time",)
"""Arguments whose values are all computed by one run."""


class Point(NamedTuple):
    """One run: a learner on a target with one seed.

    Attributes
    ----------
    key : str
        Hash of all the rest.
    learner, target : object
        Records with the values of this point.
    arguments : dict
        Of `simulate`.
    seed : int
        The one seed.
    parameters : str
        Learner, target and arguments as JSON.
    """

    key: str
    learner: Any
    target: Any
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
        Of the points, the last axis fastest.
    learner, target : str
        To read, with the fields that do not vary.
    """

    axes: dict[str, list[Any]]
    scalars: dict[str, Any]
    keys: tuple[str, ...]
    learner: str
    target: str

    def to_json(self) -> str:
        """As text, without the keys."""
        return json.dumps({k: v for k, v in vars(self).items() if k != "keys"})


def plan(
    learner: Any, target: Any, seeds: Sequence[int], grid: Mapping[str, Any], *, stored: bool
) -> tuple[list[Point], Layout]:
    """The points of a study and how they are laid out.

    Parameters
    ----------
    learner, target : object
        Records; the grid changes some of their fields.
    seeds : sequence of int
        Seeds.
    grid : mapping
        Name -> a value or several.
    stored : bool
        Whether the keys have to be recognised by later processes.
    """
    homes = _homes(learner, target)
    for name in grid:
        if name not in homes:
            raise LearnabilityError(_unknown(name, learner, target, homes))
    _all_there(learner, homes, grid)
    values = {name: _values(name, value) for name, value in grid.items()}
    axes = {name: several for name, several in values.items() if isinstance(several, list)}
    labels = {name: [described(v) for v in several] for name, several in axes.items()}
    for name, found in labels.items():
        if len(set(map(str, found))) < len(found):
            raise LearnabilityError(f"`{name}` was given as {found!r}, but one of them twice.")
    points: list[Point] = []
    for chosen in itertools.product(*axes.values()):
        here = {**values, **dict(zip(axes, chosen, strict=True))}
        points += _runs(learner, target, homes, here, seeds, len(points), stored)
    single = {n: v for n, v in values.items() if n not in axes and not _is_start(n, v)}
    scalars = {n: described(v) for n, v in single.items() if np.ndim(v) == 0}
    layout = Layout(
        {**labels, "seed": list(seeds)}, scalars, tuple(p.key for p in points),
        _title(points[0].learner, axes),
        _title(points[0].target, axes),
    )  # fmt: skip
    return points, layout


def _runs(
    learner: Any,
    target: Any,
    homes: Mapping[str, str],
    here: Mapping[str, Any],
    seeds: Sequence[int],
    count: int,
    stored: bool,
) -> list[Point]:
    """The points of one combination of values, one a seed."""

    def of(home: str) -> dict[str, Any]:
        return {name: value for name, value in here.items() if homes[name] == home}

    own, arguments = of("learner"), of("simulate")
    learner = dataclasses.replace(learner, **own) if own else learner
    target = dataclasses.replace(target, **of("target")) if of("target") else target
    parameters = ""
    if stored:
        found = {
            "learner": identity(learner),
            "target": identity(target),
            "arguments": {n: identity(v) for n, v in _resolved(learner, arguments).items()},
        }
        parameters = json.dumps(found, sort_keys=True, allow_nan=False, ensure_ascii=False)

    def key(position: int, seed: int) -> str:
        if not stored:
            return str(count + position)
        return hashlib.blake2b(f"{parameters}|{seed}".encode(), digest_size=16).hexdigest()

    return [
        Point(key(k, seed), learner, target, arguments, seed, parameters)
        for k, seed in enumerate(seeds)
    ]


def _homes(learner: Any, target: Any) -> dict[str, str]:
    """Name -> whose it is: "simulate", "learner" or "target"."""
    if not dataclasses.is_dataclass(learner) or not callable(getattr(learner, "simulate", None)):
        raise LearnabilityError(
            f"The learner was given as {learner!r}, but a learner such as BayesAMP() is accepted."
        )
    if not dataclasses.is_dataclass(target):
        raise LearnabilityError(
            f"The target was given as {type(target).__name__}, but a target such as MultiIndex or "
            "a link is accepted."
        )
    arguments = [name for name in _arguments(learner) if name != "seeds"]
    homes = dict.fromkeys(arguments, "simulate")
    for home, record in (("learner", learner), ("target", target)):
        for field in dataclasses.fields(record):
            homes.setdefault(field.name, home)
    return homes


def _arguments(learner: Any) -> dict[str, inspect.Parameter]:
    """Named arguments of `simulate`, without the target, which is the first."""
    found = list(inspect.signature(learner.simulate).parameters.items())[1:]
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name: parameter for name, parameter in found if parameter.kind in named}


def _resolved(learner: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments of `simulate` but the seeds, with their defaults."""
    known = {name: p.default for name, p in _arguments(learner).items() if name != "seeds"}
    known = {name: d for name, d in known.items() if d is not inspect.Parameter.empty}
    return {**known, **arguments}


def _all_there(learner: Any, homes: Mapping[str, str], grid: Mapping[str, Any]) -> None:
    for name, parameter in _arguments(learner).items():
        needed = parameter.default is inspect.Parameter.empty
        if needed and name != "seeds" and homes[name] == "simulate" and name not in grid:
            raise LearnabilityError(
                f"{type(learner).__name__} needs `{name}`, which was not given: write `{name}=...`."
            )


def _unknown(name: str, learner: Any, target: Any, homes: Mapping[str, str]) -> str:
    parts = [
        (f"arguments of {type(learner).__name__}.simulate", "simulate"),
        (f"fields of {type(learner).__name__}", "learner"),
        (f"fields of {type(target).__name__}", "target"),
    ]
    known = "; ".join(
        f"{title}: {', '.join(n for n, home in homes.items() if home == which) or 'none'}"
        for title, which in parts
    )
    return f"`{name}` was given, but it is unknown here. Accepted are {known}."


def _is_start(name: str, value: Any) -> bool:
    """Whether a value is one start given by matrices, and not a list of the names of starts."""
    several = isinstance(value, list | tuple)
    return name == "start" and several and not all(isinstance(part, str) for part in value)


def _values(name: str, value: Any) -> Any:
    """A list for an axis; anything else is one value."""
    if _is_start(name, value):
        return value
    if name in _OF_ONE_RUN or isinstance(value, str | bytes | Link) or callable(value):
        return np.asarray(value) if isinstance(value, list | tuple | range) else value
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
    """A record with the fields that do not vary."""
    names = [field.name for field in dataclasses.fields(record) if field.name not in axes]
    fields = ((name, getattr(record, name)) for name in names)
    shown = (f"{k}={v.text or v if isinstance(v, Link) else repr(v)}" for k, v in fields)
    return f"{type(record).__name__}({', '.join(shown)})"
