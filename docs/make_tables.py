"""Writes the tables of the pages from the library: the catalogue, and the examples of the map.

`python docs/make_tables.py` writes docs/catalogue.md and the table between the two marks of
docs/map-of-exponents.md; with `--check` it writes nothing and exits with 1 when a page is out of
date.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

from learnability.labels import CATALOGUE, Entry
from learnability.reports import Cost, Hardness, hardness
from learnability.theory import Step

DOCS = Path(__file__).resolve().parent
DECIMALS = 7  # Of a threshold that is exact to more than that.
EXAMPLES = ("hermite-3", "hermite-4", "product-3", "parity-3", "grand-staircase-he4")
BAR = r"\vert "
BEGIN, END = "% begin: examples", "% end: examples"

CATALOGUE_HEAD = """\
# The catalogue

The target functions of the literature, by name: `lb.catalogue("parity-2")` gives an entry with its `link`, its `noise` and what it
is about. Every number below comes out of `lb.hardness`, which knows none of these names; `docs/make_tables.py` writes this page, and a
test holds it to the library.

$r$ is the number of variables and $\\Delta$ the variance of the label noise. [The map of exponents](map-of-exponents.md) defines the
information exponent (IE), the generative exponent (GE), the leap and the three kinds. $\\alpha_c$ is the ratio $n/d$ at which the
first directions open: 0 when they are trivial, $\\infty$ when they are hard. 0.59375(3) means $0.59375 \\pm 0.00003$: such a threshold comes
from samples of the label, and the last digit carries the error. A threshold without brackets comes from level sets or from the cells of
finitely many labels and is exact to the digits shown. Later steps are those of the grand staircase once the earlier directions are
known exactly; where these are known only in part at that $\\alpha$, the true threshold is larger
([the mathematics](mathematics.md#the-grand-staircase)).

"""  # noqa: E501


def report_of(entry: Entry) -> Hardness:
    """The hardness of an entry."""
    return hardness(entry.link, noise=entry.noise)


def threshold(alpha: float | None, error: float | None) -> str:
    """A threshold with the digits that its error leaves, such as 0.59375(3)."""
    if alpha is None:
        return "–"
    if not math.isfinite(alpha):
        return "$\\infty$"
    if alpha == 0:
        return "0"
    if not error or error < 0.5 * 10.0**-DECIMALS:
        return f"{alpha:.{DECIMALS}f}"
    digits = -math.floor(math.log10(error))
    last = math.ceil(error * 10**digits)
    if last == 10:
        digits, last = digits - 1, 1
    return f"{alpha:.{digits}f}({last})"


def directions(step: Step) -> str:
    """The new directions in LaTeX, or their number when they share variables."""
    if step.directions.shape[1] == 1:
        return "$z$"
    projector = step.directions.T @ step.directions
    rows = np.where(np.abs(step.directions) > 5e-4, step.directions, 0.0)
    if np.allclose(projector, np.diag(np.round(np.diag(projector))), atol=1e-6):
        rows = np.eye(len(projector))[np.round(np.diag(projector)) == 1]  # a span of axes
    if np.any((rows != 0).sum(axis=0) > 1):
        return f"{len(rows)} directions"
    return f"${', '.join(map(combination, rows))}$"


def combination(row: np.ndarray) -> str:
    """A direction in LaTeX, its largest entry scaled to one, such as 'z_1 - 0.5 z_2'."""
    row = row / row[np.argmax(np.abs(row) > (1 - 1e-6) * np.abs(row).max())]
    terms = [
        f"{'-' if x < 0 else '+'} {'' if abs(abs(x) - 1) < 1e-6 else f'{abs(x):.3g} '}z_{i + 1}"
        for i, x in enumerate(row)
        if x
    ]
    return " ".join(terms).removeprefix("+ ")


def formula(entry: Entry) -> str:
    """The formula in LaTeX; a bare bar would end the cell of a Markdown table."""
    return f"${entry.link.latex.replace('|', BAR)}$"


def later_steps(report: Hardness) -> str:
    """The steps after the first, such as '$z_2, z_3$ easy at 2.4674011'."""
    texts = [
        f"{directions(step)} {step.kind}"
        + (f" at {threshold(step.alpha, step.alpha_error)}" if step.kind == "easy" else "")
        for step in report.staircase[1:]
    ]
    return "; ".join(texts) or "–"


def number(value: float | None) -> str:
    """An exponent, or a question mark when it is undecided."""
    return "?" if value is None else f"{value:g}"


def row_of(entry: Entry, report: Hardness) -> list[str]:
    """The cells of one entry."""
    return [
        f"`{entry.name}`",
        formula(entry),
        str(entry.link.r),
        number(entry.noise),
        number(report.information_exponent),
        number(report.generative_exponent),
        number(report.leap),
        report.kind or "constant",
        threshold(report.alpha_c, report.alpha_c_error),
        directions(report.staircase[0]) if report.staircase else "–",
        later_steps(report),
        entry.about,
    ]


COLUMNS = (
    *("name", "formula", "$r$", "$\\Delta$", "IE", "GE", "leap", "kind", "$\\alpha_c$"),
    *("opens first", "later steps", "use"),
)


def markdown(columns: tuple[str, ...], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def scaling(cost: Cost) -> str:
    """The number of samples of one algorithm in LaTeX."""
    if cost.exponent is None:
        return "?"
    power = "d" if cost.exponent == 1 else f"d^{{{cost.exponent:g}}}"
    logarithm = r" \log d" if cost.log_power else ""
    return f"${power}{logarithm}$"


def example_row(entry: Entry, report: Hardness) -> list[str]:
    """The cells of one example of the map: exponents, then the cost of each algorithm."""
    exponents = (report.information_exponent, report.leap, report.generative_exponent)
    costs = {cost.algorithm: scaling(cost) for cost in report.costs}
    if report.kind == "easy":
        factor = threshold(report.alpha_c, report.alpha_c_error)
        costs["message passing"] = f"{factor} {costs['message passing']}"
    return [formula(entry), *map(number, exponents), *costs.values()]


def examples_table(reports: dict[str, Hardness]) -> str:
    """The table of the map page."""
    chosen = [entry for entry in CATALOGUE if entry.name in EXAMPLES]
    columns = tuple(cost.algorithm for cost in reports[EXAMPLES[0]].costs)
    rows = [example_row(entry, reports[entry.name]) for entry in chosen]
    return markdown(("$g$", "IE", "leap", "GE", *columns), rows)


def with_examples(page: str, table: str) -> str:
    """The map page with its examples replaced."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{table}\n{END}{after}"


def pages() -> dict[Path, str]:
    """Every generated page and the text it should have."""
    reports = {entry.name: report_of(entry) for entry in CATALOGUE}
    rows = [row_of(entry, reports[entry.name]) for entry in CATALOGUE]
    exponents = DOCS / "map-of-exponents.md"
    return {
        DOCS / "catalogue.md": CATALOGUE_HEAD + markdown(COLUMNS, rows),
        exponents: with_examples(exponents.read_text(encoding="utf-8"), examples_table(reports)),
    }


def main(arguments: list[str]) -> int:
    """Write the pages, or check them."""
    if arguments not in ([], ["--check"]):
        print(
            f"make_tables.py was given {' '.join(arguments)!r}, but nothing or --check is accepted."
        )
        return 2
    wanted = pages()
    old = [path for path, text in wanted.items() if path.read_text(encoding="utf-8") != text]
    if arguments:
        for path in old:
            print(f"docs/{path.name} is out of date: run `python docs/make_tables.py`.")
        return int(bool(old))
    for path in old:
        path.write_text(wanted[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
