"""The forms that every report has: a picture, a rich form for notebooks, a page, LaTeX.

A report says what it consists of (`formula`, `tables`, `draw`, `to_dataset`, `cite`, `notes`); how
that looks is written here once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnability.errors import LearnabilityError
from learnability.markup import card, folded, formula, picture_tag

if TYPE_CHECKING:
    from learnability.drawing.picture import Picture
    from learnability.reports.tables import Table

__all__ = ["Forms", "labels_latex"]


def labels_latex(link: str, noise: float) -> str:
    """Return the formula of the labels as LaTeX.

    Parameters
    ----------
    link : str
        The LaTeX of the link.
    noise : float
        Variance of the label noise.
    """
    return f"y = {link}" + (rf" + \sqrt{{{noise:g}}}\,\xi" if noise else "")


class Forms(ABC):
    """What a report inherits: `plot`, `to_html`, `to_latex` and its rich form in a notebook."""

    notes: tuple[str, ...]
    undecided: tuple[str, ...] = ()

    @property
    @abstractmethod
    def formula(self) -> str:
        """What the labels are, in LaTeX."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return the tables of the report."""

    @abstractmethod
    def to_text(self, width: int = 80) -> str:
        """Return the report as text.

        Parameters
        ----------
        width : int
            Characters of a line.
        """

    def __str__(self) -> str:
        return self.to_text()

    @abstractmethod
    def draw(self) -> Picture:
        """Draw the picture of the report."""

    @abstractmethod
    def to_dataset(self) -> Any:
        """Return the numbers of the picture as an `xarray.Dataset`."""

    @abstractmethod
    def cite(self) -> str:
        """Return the BibTeX of the results behind the numbers."""

    def plot(self, file: str | Path | None = None, *, show: bool = False) -> Picture:
        """Draw the report.

        Parameters
        ----------
        file : str or Path, optional
            Save the picture (.png, .pdf, .svg) and beside it the numbers (.nc, .csv).
        show : bool
            Open a window, or display the picture below the cell of a notebook at once. A notebook
            also displays the picture when it is the last value of a cell.

        Returns
        -------
        Picture
            A Matplotlib figure.

        Raises
        ------
        LearnabilityError
            When the ending of `file` is not known, or no window can be opened.
        """
        from learnability.drawing.picture import checked_picture, finish

        path = checked_picture(file)
        return finish(self.draw(), self.to_dataset(), path, show)

    def to_latex(self) -> str:
        """Return the formula and the tables as LaTeX, for the package booktabs."""
        parts = [rf"\[ {self.formula} \]", *(table.to_latex() for table in self.tables())]
        return "\n\n".join(parts)

    def to_html(
        self, file: str | Path | None = None, *, pictures: Mapping[str, Picture] | None = None
    ) -> str:
        """Return the report as one page that needs no network, and write it to a file.

        Parameters
        ----------
        file : str or Path, optional
            Where the page goes (.html); its folder is made.
        pictures : mapping, optional
            Title -> picture, such as those of `learnability.plot`: learning curves and spectra that
            are to stand on the page.

        Raises
        ------
        LearnabilityError
            When the ending of `file` is not .html.

        Examples
        --------
        >>> import learnability as lb
        >>> page = lb.hardness("z**2").to_html()
        >>> page.startswith("<!doctype html>"), "http" in page.replace("http://www.w3.org", "")
        (True, False)
        """
        from learnability.reports.page import page
        from learnability.results import whole_file

        if file is not None and Path(file).suffix.lower() != ".html":
            raise LearnabilityError(
                f"`file` was given as {str(file)!r}, but a name ending in .html is accepted."
            )
        text = page(self, pictures or {})
        if file is not None:
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            with whole_file(file) as part:
                part.write_text(text, encoding="utf-8")
        return text

    def remarks(self) -> str:
        """Return the notes and what is undecided, as HTML."""
        found = [f"<p>{escape(note)}</p>" for note in self.notes]
        found += [f"<p>Undecided: {escape(item)}</p>" for item in self.undecided]
        return "".join(found)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return the table, the formula, the picture and folded details, for notebooks."""
        del include, exclude
        picture = self.draw().png()
        facts, *others = (table.to_html() for table in self.tables())
        rich = card(
            formula(self.formula),
            facts,
            picture_tag(picture, "The picture of the report; its numbers are in the tables below."),
            folded("Staircases and samples needed", "".join(others)),
            folded("Notes", self.remarks()) if self.notes or self.undecided else "",
            folded("References (BibTeX)", f"<pre>{escape(self.cite())}</pre>"),
        )
        return {"text/plain": str(self), "text/html": rich, "image/png": picture}
