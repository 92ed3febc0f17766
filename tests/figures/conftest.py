"""Figures that the tests of this folder draw are searched for faults of their layout."""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from importlib import import_module
from typing import Any

import pytest

from learnability.figures import FIGURES

from tests.tools.overlaps import faults


@pytest.fixture(scope="session", autouse=True)
def readable_figures() -> Iterator[None]:
    """The first picture of each figure is searched for texts that cross and covered curves."""
    looked_at: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        for name in FIGURES:
            module = import_module(f"learnability.figures.{name.replace('-', '_')}")
            patch.setattr(module, "picture", _looked_at(module.picture, name, looked_at))
        yield


def _looked_at(picture: Any, name: str, looked_at: set[str]) -> Any:
    @wraps(picture)
    def drawn(data: Any) -> Any:
        figure = picture(data)
        if name not in looked_at:
            looked_at.add(name)
            assert faults(figure) == [], name
        return figure

    return drawn
