"""The notebooks for teaching and the tutorial run, and what they show is rich.

They are executed by IPython in this process, which formats values as a notebook does.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = [*sorted((DOCS / "notebooks").glob("*.md")), DOCS / "tutorial.md"]
NOTEBOOKS = [path for path in NOTEBOOKS if path.name != "index.md"]


class Shown(DisplayHook):
    """Keeps what a cell shows instead of printing it."""

    def __call__(self, result: Any = None) -> None:
        if result is not None:
            shown, _ = self.shell.display_formatter.format(result)
            self.shell.shown.append(shown)


class Shell(InteractiveShell):
    """A shell that notes what would be displayed."""

    displayhook_class = Shown
    shown: list[dict[str, Any]]


def execute(cells: list[str]) -> list[dict[str, Any]]:
    """What the cells of a notebook show, by the kind of data."""
    shell = Shell()
    shell.shown = []
    for cell in cells:
        done = shell.run_cell(cell, silent=False, store_history=False)
        done.raise_error()
    return shell.shown


def cells_of(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("---\nfile_format: mystnb\n")
    return re.findall(r"^```\{code-cell\} ipython3\n(.*?)^```$", text, flags=re.M | re.S)


def test_there_are_six_notebooks_with_exercises() -> None:
    assert len(NOTEBOOKS) == 7
    index = (DOCS / "notebooks" / "index.md").read_text(encoding="utf-8")
    for path in NOTEBOOKS[:-1]:
        assert f"({path.name})" in index
        assert "## Exercises\n\n1." in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_pictures(path: Path) -> None:
    shown = execute(cells_of(path))
    assert any("image/png" in one for one in shown)


EVERYTHING = [
    "import numpy as np, learnability as lb",
    "report = lb.hardness('abs(z)')\nreport",
    "lb.hardness(lb.Hierarchical('tanh(z)'))",
    "report.plot()",
    "lb.plot(lb.Spectral().predict('abs(z)', alpha=[0.6, 1.0, 2.0]))",
    "lb.Link('z1*z2')",
    "lb.MultiIndex('z1*z2', noise=0.1)",
    "lb.Hierarchical('tanh(z)')",
    "lb.BayesAMP()",
    "lb.Spiked(2.0)",
    "lb.compare('z', 'z**2')",
    "lb.study(lb.Spectral(), 'abs(z)', d=20, alpha=[1.0, 2.0], seeds=2)",
    "from learnability.estimators import IndexSubspace, SummaryDisplay\n"
    "X = np.random.default_rng(0).standard_normal((300, 4)); y = X[:, 0] ** 3\n"
    "found = IndexSubspace(1, candidates=('sir',), random_state=0).fit(X, y)",
    "found",
    "found.report_",
    "SummaryDisplay.from_estimator(found, X, y)",
]
PICTURES = (1, 2, 3, 4, 15)
"""Cells that show a picture; all other values have a rich form."""


def test_everything_a_user_holds_has_a_rich_form() -> None:
    cells = [(k, cell) for k, cell in enumerate(EVERYTHING)]
    numbers = [k for k, cell in cells if "import" not in cell]
    shown = dict(zip(numbers, execute(EVERYTHING), strict=True))
    for k, one in shown.items():
        assert ("image/png" in one) == (k in PICTURES), EVERYTHING[k]
        assert "text/html" in one or k in PICTURES, EVERYTHING[k]
    for k in (1, 2):
        assert "text/html" in shown[k]
