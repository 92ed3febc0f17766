"""The house style."""

from __future__ import annotations

import re

import matplotlib as mpl
import pytest

from learnability.drawing.style import COLOURS, WIDTHS, house_style


def luminance(colour: str) -> float:
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_colours_are_distinct() -> None:
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in COLOURS)
    assert len(set(COLOURS)) == len(COLOURS) >= 7
    assert max(map(luminance, COLOURS)) < 0.75  # each can be seen on white


def test_widths_are_those_of_a_journal() -> None:
    assert 3 < WIDTHS["column"] < 3.6 and 6 < WIDTHS["text"] < 7.5


def test_the_style_holds_inside_the_block_only() -> None:
    before = dict(mpl.rcParams)
    with house_style():
        assert mpl.rcParams["axes.prop_cycle"].by_key()["color"] == list(COLOURS)
        assert mpl.rcParams["axes.spines.top"] is False
        assert mpl.rcParams["text.usetex"] == before["text.usetex"]
    assert dict(mpl.rcParams) == before


def test_the_settings_come_back_after_an_error() -> None:
    before = dict(mpl.rcParams)
    with pytest.raises(RuntimeError), house_style():
        raise RuntimeError
    assert dict(mpl.rcParams) == before
