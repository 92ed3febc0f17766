"""The hardness report as tables (text, HTML, LaTeX) and as labelled data."""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from learnability.markup import html_table
from learnability.reports.costs import Cost
from learnability.theory.csq import HIGHEST_KAPPA
from learnability.theory.steps import Step

if TYPE_CHECKING:
    import xarray

    from learnability.reports.multi_index import Hardness

__all__ = [
    "Table",
    "cost_table",
    "dataset",
    "directions_text",
    "equation",
    "kind_text",
    "number_text",
    "or_unknown",
    "scaling_text",
    "table",
    "tables",
    "wrapped",
]


class Table(NamedTuple):
    """A table of a report, from which its text, HTML and LaTeX are made.

    Attributes
    ----------
    caption : str
        What it shows; empty for the facts that stand first.
    head : tuple of str
        Titles of the columns; empty where there are none.
    rows : tuple of tuple of str
        The cells, as text.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_text(self, width: int = 80) -> str:
        """Return lines of at most `width` characters; long cells continue on the next line.

        Parameters
        ----------
        width : int
            Characters of a line.
        """
        lines = [self.head, *self.rows] if self.head else list(self.rows)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        while sum(widths) + 2 * len(widths) > width and max(widths) > 12:
            widths[widths.index(max(widths))] -= 1
        found = [wrapped(self.caption, width)] if self.caption else []
        for row in lines:
            cells = [textwrap.wrap(c, w) or [""] for c, w in zip(row, widths, strict=True)]
            for parts in itertools.zip_longest(*cells, fillvalue=""):
                padded = "".join(f"  {part:<{w}}" for part, w in zip(parts, widths, strict=True))
                found.append(padded.rstrip())
        return "\n".join(found)

    def to_html(self) -> str:
        """Return the table as HTML."""
        rows = ([escape(cell) for cell in row] for row in self.rows)
        return html_table([escape(word) for word in self.head], rows, self.caption)

    def to_latex(self) -> str:
        """Return the table as LaTeX, for the package booktabs."""
        lines = [f"% {self.caption}"] if self.caption else []
        lines += [rf"\begin{{tabular}}{{{'l' * len(self.rows[0])}}}", r"\toprule"]
        lines += [" & ".join(map(_escaped, self.head)) + r" \\", r"\midrule"] if self.head else []
        lines += [" & ".join(map(_escaped, row)) + r" \\" for row in self.rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _escaped(text: str) -> str:
    """Return a cell for LaTeX."""
    for letter in "\\&%$#_{}":
        text = text.replace(letter, r"\textbackslash " if letter == "\\" else f"\\{letter}")
    return re.sub(r"d\^([\d.]+)", r"$d^{\1}$", text).replace("+-", r"$\pm$")


def equation(report: Hardness) -> str:
    """Return the equation of the labels as text."""
    target = report.target
    name = target.link.text if target.link.text is not None else repr(target.link)
    return f"y = {name}" + (f" + sqrt({target.noise:g}) xi" if target.noise else "")


def tables(report: Hardness) -> list[Table]:
    """Return the tables of a report: facts, the two staircases, the cost of each algorithm."""
    facts = (
        ("kind", kind_text(report)),
        ("alpha_c", number_text(report.alpha_c, report.alpha_c_error)),
        ("information exponent", or_unknown(report.information_exponent)),
        ("generative exponent", or_unknown(report.generative_exponent)),
        ("leap", or_unknown(report.leap)),
    )
    found = [Table("", (), facts)]
    if report.staircase:
        rows: list[tuple[str, ...]] = [
            (
                or_unknown(s.kind),
                _true_alpha(s),
                number_text(s.alpha, s.alpha_error),
                or_unknown(s.order),
                directions_text(s),
            )
            for s in report.staircase
        ]
        columns = ("kind", "alpha", "earlier ones known", "order", "new directions")
        found.append(Table("Grand staircase (what the best algorithms see)", columns, tuple(rows)))
    if report.floors:
        steps = (None, *report.csq_staircase)
        rows = [
            (
                str(t),
                "-" if step is None else or_unknown(step.order),
                *(f"{value:.4g}" for value in floors[:3]),
                "none yet" if step is None else directions_text(step),
            )
            for t, (floors, step) in enumerate(zip(report.floors, steps, strict=False))
        ]
        caption = "CSQ staircase (what gradient steps on fresh data see) and risk floors"
        head = ("step", "order", "kappa=0", "kappa=1", "kappa=2", "new directions")
        found.append(Table(caption, head, tuple(rows)))
    return found + ([cost_table(report.costs)] if report.costs else [])


def cost_table(costs: Iterable[Cost]) -> Table:
    """Return how many samples each algorithm needs, and for what."""
    rows = ((c.algorithm, scaling_text(c), c.learns, c.reference) for c in costs)
    return Table("Samples needed", ("algorithm", "n", "to learn", "reference"), tuple(rows))


def table(report: Hardness, width: int = 80) -> str:
    """Return the report as text.

    Parameters
    ----------
    report : Hardness
        The report.
    width : int
        Characters of a line.
    """
    parts = [equation(report), *(one.to_text(width) for one in tables(report))]
    notes = [f"Note: {note}" for note in report.notes]
    notes += [f"Undecided: {item}" for item in report.undecided]
    parts += ["\n".join(wrapped(line, width) for line in notes)] if notes else []
    return "\n\n".join(parts)


def wrapped(line: str, width: int = 80) -> str:
    """Return a sentence in lines of at most `width` characters, indented after the first."""
    return textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False)


def kind_text(report: Hardness) -> str:
    """Return the kind of a report in a word, or a question mark when it is undecided."""
    return report.kind or ("?" if report.staircase or report.undecided else "constant")


def number_text(value: float | None, error: float | None) -> str:
    """Return a threshold with the digits that its error allows."""
    if value is None:
        return "?"
    if not math.isfinite(value):
        return "infinite"
    if not error or error < 1e-9:
        return f"{value:.9g}"
    digits = max(int(-math.floor(math.log10(error))) + 1, 1)
    return f"{value:.{digits}f} +- {error:.1g}"


def _true_alpha(step: Step) -> str:
    """Return where a step opens when earlier directions are only as well known as they can be."""
    if step.alpha is None or not math.isfinite(step.alpha):
        return number_text(step.alpha, None)
    if step.alpha_self_consistent is None:
        return f"at least {step.alpha:.4g}"
    if step.alpha_self_consistent == step.alpha:
        return number_text(step.alpha, step.alpha_error)
    return f"{step.alpha_self_consistent:.4g}"


def or_unknown(value: int | str | None) -> str:
    """Return an exponent or a kind, or a question mark."""
    return "?" if value is None else str(value)


def directions_text(step: Step, letter: str = "z") -> str:
    """Return directions as combinations of z, such as 'z1, 0.71 z2 + 0.71 z3'."""
    r = step.directions.shape[1]
    names = [letter] if r == 1 else [f"{letter}{i + 1}" for i in range(r)]
    texts = []
    for row in step.directions:
        parts = [
            (
                "-" if x < 0 else "+",
                f"{abs(x):.3g} {names[i]}" if abs(abs(x) - 1) > 1e-6 else names[i],
            )
            for i, x in enumerate(row)
            if abs(x) > 5e-4
        ]
        text = " ".join(f"{sign} {body}" for sign, body in parts)
        texts.append(text.removeprefix("+ "))
    return ", ".join(texts)


def scaling_text(cost: Cost) -> str:
    """Return how the number of samples grows with d."""
    if cost.exponent is None:
        return "not known"
    constant = cost.constant
    factor = f"{constant:.4g} " if constant is not None and math.isfinite(constant) else ""
    body = "d" if cost.exponent == 1 else f"d^{cost.exponent:g}"
    return factor + body + (" log d" if cost.log_power else "")


def dataset(report: Hardness) -> xarray.Dataset:
    """Return the numbers of the report as labelled arrays."""
    import xarray

    steps, csq = report.staircase, report.csq_staircase
    r = report.target.r
    return xarray.Dataset(
        {
            "alpha": (
                "step",
                np.array([np.nan if s.alpha is None else s.alpha for s in steps], float),
            ),
            "alpha_error": ("step", np.array([s.alpha_error or 0.0 for s in steps], float)),
            "projector": (("step", "index", "other"), _projectors(steps, r)),
            "csq_order": ("csq_step", np.array([s.order or -1 for s in csq], int)),
            "csq_projector": (("csq_step", "index", "other"), _projectors(csq, r)),
            "floor": (
                ("known_steps", "kappa"),
                np.array(report.floors, float).reshape(-1, HIGHEST_KAPPA + 1),
            ),
            "exponent": (
                "algorithm",
                np.array(
                    [np.nan if c.exponent is None else c.exponent for c in report.costs], float
                ),
            ),
            "log_power": ("algorithm", np.array([c.log_power for c in report.costs], int)),
        },
        coords={
            "step": np.arange(1, len(steps) + 1),
            "csq_step": np.arange(1, len(csq) + 1),
            "known_steps": np.arange(len(report.floors)),
            "kappa": np.arange(HIGHEST_KAPPA + 1),
            "index": np.arange(1, r + 1),
            "other": np.arange(1, r + 1),
            "algorithm": [c.algorithm for c in report.costs],
        },
        attrs={
            "link": report.target.link.text or repr(report.target.link),
            "noise": report.target.noise,
            "kind": kind_text(report),
            "alpha_c": np.nan if report.alpha_c is None else report.alpha_c,
            "alpha_c_error": np.nan if report.alpha_c_error is None else report.alpha_c_error,
        },
    )


def _projectors(steps: tuple[Step, ...], r: int) -> Any:
    return np.array([s.directions.T @ s.directions for s in steps]).reshape(-1, r, r)
