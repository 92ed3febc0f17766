"""Several functions side by side: their exponents, thresholds and staircases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnability.errors import LearnabilityError
from learnability.markup import card
from learnability.reports.multi_index import Hardness
from learnability.reports.registry import hardness
from learnability.reports.tables import Table, kind_text, number_text, or_unknown, scaling_text
from learnability.targets import Target, TargetLike, as_target

if TYPE_CHECKING:
    import xarray

    from learnability.drawing.picture import Picture

__all__ = ["Comparison", "compare"]

_MOST = 7
"""The largest number of staircases that can be distinguished in one picture."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Reports on several functions, in the order in which they were given.

    Attributes
    ----------
    reports : tuple of Hardness
        The reports.
    """

    reports: tuple[Hardness, ...]

    @property
    def table(self) -> Table:
        """One row per function."""
        head = ("link", "kind", "alpha_c", "IE", "GE", "leap", "one-pass SGD", "message passing")
        rows = []
        for report in self.reports:
            costs = {cost.algorithm: scaling_text(cost) for cost in report.costs}
            rows.append((
                _name(report), kind_text(report),
                number_text(report.alpha_c, report.alpha_c_error),
                or_unknown(report.information_exponent), or_unknown(report.generative_exponent),
                or_unknown(report.leap), costs.get("one-pass SGD", "-"),
                costs.get("message passing", "-"),
            ))  # fmt: skip
        return Table("", head, tuple(rows))

    def to_text(self, width: int = 80) -> str:
        """Return the table as text.

        Parameters
        ----------
        width : int
            Characters of a line.
        """
        legend = "IE: information exponent; GE: generative exponent"
        return f"{self.table.to_text(width)}\n\n{legend}"

    def __str__(self) -> str:
        return self.to_text()

    def to_latex(self) -> str:
        """Return the table as LaTeX, for the package booktabs."""
        return self.table.to_latex()

    def _repr_html_(self) -> str:
        """Return the table, for notebooks."""
        return card("Comparison", self.table.to_html())

    def to_dataset(self) -> xarray.Dataset:
        """Return the thresholds and exponents as an `xarray.Dataset`."""
        import xarray

        names = ("alpha_c", "information_exponent", "generative_exponent", "leap")
        values = {
            name: ("link", [_float(getattr(report, name)) for report in self.reports])
            for name in names
        }
        return xarray.Dataset(values, coords={"link": [_name(one) for one in self.reports]})

    def plot(self, file: str | Path | None = None, *, show: bool = False) -> Picture:
        """Draw the staircases: the share of the directions that is open, against alpha.

        Parameters
        ----------
        file : str or Path, optional
            Save the picture (.png, .pdf, .svg) and beside it the numbers (.nc, .csv).
        show : bool
            Open a window, or display the picture below the cell of a notebook at once.

        Returns
        -------
        Picture
            A Matplotlib figure.

        Raises
        ------
        LearnabilityError
            When there are more than seven functions, or the file or the window cannot be made.
        """
        from learnability.drawing.picture import checked_picture, finish
        from learnability.reports.pictures import draw_staircases

        if len(self.reports) > _MOST:
            raise LearnabilityError(
                f"{len(self.reports)} functions were to be drawn, but {_MOST} can be told apart."
            )
        path = checked_picture(file)
        named = {_name(report): report for report in self.reports}
        return finish(draw_staircases(named), self.to_dataset(), path, show)


def compare(*targets: TargetLike) -> Comparison:
    """Report on several functions and put the reports side by side.

    Parameters
    ----------
    *targets : MultiIndex, Link, str
        Two or more; those with other than isotropic inputs or with a hierarchy have reports of
        their own, which are not put side by side.

    Raises
    ------
    LearnabilityError
        When fewer than two were given, or one has another kind of report.

    Examples
    --------
    >>> found = compare("z**2", "z**3 - 3*z")
    >>> [report.kind for report in found.reports]
    ['easy', 'trivial']
    """
    if len(targets) < 2:
        raise LearnabilityError(
            f"Functions to compare: {len(targets)} given, but two or more are accepted."
        )
    read: list[Target] = [as_target(target) for target in targets]
    for target in read:
        if target.kind != "multi-index":
            raise LearnabilityError(
                f"A {target.kind} target was given to compare, but multi-index ones are accepted."
            )
    found: list[Any] = [hardness(target) for target in read]
    return Comparison(tuple(found))


def _name(report: Hardness) -> str:
    link, noise = report.target.link, report.target.noise
    return (link.text or repr(link)) + (f" (noise {noise:g})" if noise else "")


def _float(value: float | None) -> float:
    return math.nan if value is None else float(value)
