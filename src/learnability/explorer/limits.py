"""What one request may cost: letters, points, seeds, seconds, memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from learnability.errors import LearnabilityError

__all__ = ["LIMITS", "Limits", "Request", "read_request"]


@dataclass(frozen=True)
class Limits:
    """Limits of one request.

    Attributes
    ----------
    letters : int
        Most letters of the text of a link, or of any other value.
    values : int
        Most values of one request.
    points, seeds : int
        Most points of a grid, and most runs at one point.
    upload : int
        Most bytes of a table.
    cpu_seconds, seconds : int
        Processor time and elapsed time that one job may take.
    memory : int
        Bytes that a worker may hold.
    running, spare, waiting : int
        Jobs at a time, warm processes in reserve, and jobs in the queue.
    """

    letters: int = 2000
    values: int = 64
    points: int = 400
    seeds: int = 100
    upload: int = 32 * 2**20
    cpu_seconds: int = 600
    seconds: int = 900
    memory: int = 6 * 2**30
    running: int = 2
    spare: int = 1
    waiting: int = 256


LIMITS = Limits()


@dataclass(frozen=True)
class Request:
    """What a page asks of a worker.

    Attributes
    ----------
    verb : str
        What is to be done.
    learner : str
        Its name on the command line; empty where there is none.
    values : dict
        Option of the command line, without dashes in front -> its text.
    """

    verb: str
    learner: str
    values: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        return {"verb": self.verb, "learner": self.learner, "values": self.values}


def read_request(given: Any, limits: Limits = LIMITS) -> Request:
    """A request of a page, after its types and lengths have been checked.

    Parameters
    ----------
    given : object
        The value of its JSON.
    limits : Limits
        The limits of the server.

    Raises
    ------
    LearnabilityError
        When it is not a request, or is too long.
    """
    if not isinstance(given, Mapping) or set(given) - {"verb", "learner", "values"}:
        raise LearnabilityError("A request is one object with `verb`, `learner` and `values`.")
    verb, learner = given.get("verb"), given.get("learner", "")
    values = given.get("values", {})
    texts = isinstance(values, Mapping) and all(isinstance(v, str) for v in values.values())
    if not isinstance(verb, str) or not isinstance(learner, str) or not texts:
        raise LearnabilityError("`verb`, `learner` and all `values` of a request are texts.")
    if len(values) > limits.values:
        raise LearnabilityError(
            f"{len(values)} values were given, but at most {limits.values} are accepted."
        )
    for name, text in {"verb": verb, "learner": learner, **values}.items():
        if len(text) > limits.letters or len(name) > limits.letters:
            raise LearnabilityError(
                f"`{name[:40]}` was given as a text of {len(text)} letters, but at most "
                f"{limits.letters} are accepted."
            )
    found = {name: text.strip() for name, text in values.items() if text.strip()}
    return Request(verb, learner, found)
