"""Figures on depth, at small sizes."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from learnability.figures import FIGURES, draw

TINY = {
    "first-layer": ((16,), 2),
    "rank-collapse": (16, 400, 30, 8, 2),
    "kernel-spectrum": (16, 200, 300),
    "compositional-exponents": ((64, 256, 1024),),
    "ideal-stages": ((8,), (2.0, 2.4), 2, 4, 1000),
    "function-staircase": (400, 150, 1),
    "depth-four": ((8, 2), (200, 400), 2, 60),
    "plain-steps": (4, 300, (1, 64), 2, 80),
    "overlaps": (16, (1.6, 2.0), 2, 60, 4),
    "depth-scenarios": ((16,), (1.4, 2.0), 2, (2.0,), 1, 4, 300, 30),
}


@pytest.mark.parametrize("name", TINY)
def test_a_figure_is_drawn(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = import_module(f"learnability.figures.{name.replace('-', '_')}")
    monkeypatch.setattr(recipe, "QUICK", recipe.Size(*TINY[name]))
    paths = draw(name, tmp_path, quick=True)
    assert [p.suffix for p in paths] == [".pdf", ".png", ".nc", ".csv"]
    assert name in FIGURES and all(p.stat().st_size > 500 for p in paths)
    data = recipe.compute(recipe.QUICK)
    figure = recipe.picture(data)
    assert all(axes.lines or axes.patches for axes in figure.axes)
    if name == "compositional-exponents":
        np.testing.assert_array_equal(data["exponent"], [2, 4, 4, 3])
    if name == "plain-steps":
        assert (data["runs_plain_error"].mean("seed").diff("steps") < 0).all()
    if name == "depth-scenarios":
        assert (data["theory_kernel_error"].diff("theory_kappa") < 0).all()
