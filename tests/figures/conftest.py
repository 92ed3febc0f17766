"""Figures that the tests of this folder draw are searched for texts that cross or leave them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from importlib import import_module
from typing import Any

import pytest

from tests.tools.overlaps import crossing_texts

SEARCHED = (
    "compositional-exponents", "first-layer", "flows", "kernel-spectrum", "lazy-polynomial",
    "rank-collapse", "scaling-laws", "spiked-alignment", "spiked-one-step", "spiked-spectrum",
)  # fmt: skip
"""Figures whose texts have room at the small size of their test too."""


@pytest.fixture(scope="session", autouse=True)
def readable_figures() -> Iterator[None]:
    """The first picture of each figure is searched for texts that cross."""
    looked_at: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        for name in SEARCHED:
            module = import_module(f"learnability.figures.{name.replace('-', '_')}")
            patch.setattr(module, "picture", _looked_at(module.picture, name, looked_at))
        yield


def _looked_at(picture: Any, name: str, looked_at: set[str]) -> Any:
    @wraps(picture)
    def drawn(data: Any) -> Any:
        figure = picture(data)
        if name not in looked_at:
            looked_at.add(name)
            assert crossing_texts(figure) == [], name
        return figure

    return drawn
