"""A store that is being filled, as the page watches it; the store is only read."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from learnability.errors import LearnabilityError
from learnability.explorer.curves import curves_of
from learnability.studies import Store, export, info

__all__ = ["watched"]

_PAUSE = 1.0
"""Seconds between two looks."""
_LONGEST = 600.0
"""Seconds after which the page asks again."""


def watched(values: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What a store holds, whenever that changes, until all its runs have ended.

    Parameters
    ----------
    values : mapping
        `store`, the path of the store.

    Raises
    ------
    LearnabilityError
        When there is no such store.
    """
    path = Path(values.get("store", "")).expanduser()
    if "store" not in values or not path.is_file():
        raise LearnabilityError(
            f"`store` was given as {values.get('store', '')!r}, but the path of a study's file on "
            "this machine is accepted."
        )
    before, end = None, time.monotonic() + _LONGEST
    while time.monotonic() < end:
        state = _state(path)
        if state != before:
            yield {**state, "text": info(path), "curves": _curves(path, state)}
            before = state
        if all(study["done"] + study["failed"] >= study["runs"] for study in state["studies"]):
            return
        time.sleep(_PAUSE)


def _state(path: Path) -> dict[str, Any]:
    """Count the runs of each study of a store: all, finished and failed."""
    with Store(path, write=False) as store:
        studies = [
            {"number": number, "learner": layout.learner, "target": layout.target,
             "runs": len(layout.keys), "done": len(store.finished(layout.keys)),
             "failed": len(store.failures(layout.keys))}
            for number, layout in store.studies().items()
        ]  # fmt: skip
    return {"name": path.name, "studies": studies}


def _curves(path: Path, state: Mapping[str, Any]) -> dict[str, Any]:
    """The curves of the finished runs of the last study."""
    if not state["studies"] or not state["studies"][-1]["done"]:
        return {}
    return curves_of(export(path))
