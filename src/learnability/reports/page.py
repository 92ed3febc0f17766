"""The report as one page of HTML: it opens without network and holds its pictures itself."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from learnability import __version__
from learnability.markup import card, formula, picture_tag

if TYPE_CHECKING:
    from learnability.drawing.picture import Picture
    from learnability.reports.forms import Forms

__all__ = ["page"]

_DPI = 130

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem }}
body {{ padding: 0 1rem }}
pre {{ overflow-x: auto; font-size: .8rem }}
figure {{ margin: 1rem 0 }}
footer {{ font-size: .85rem; margin-top: 2rem }}
</style>
</head>
<body>
<main>
<h1>How hard is this function to learn?</h1>
{body}
</main>
<footer><p>Made by learnability {version}. The input x is Gaussian in dimension d, z are its
projections on the hidden directions, n is the number of samples and alpha = n/d.</p></footer>
</body>
</html>
"""


def page(report: Forms, pictures: Mapping[str, Picture]) -> str:
    """Return the page of a report.

    Parameters
    ----------
    report : Forms
        The report.
    pictures : mapping
        Title -> picture: the pictures on the page besides that of the report itself.
    """
    facts, *others = (table.to_html() for table in report.tables())
    own = picture_tag(
        report.draw().png(_DPI), "Picture of the report; the tables hold its numbers."
    )
    parts = [facts, f"<figure>{own}</figure>", *others]
    for title, picture in pictures.items():
        tag = picture_tag(picture.png(_DPI), title)
        parts.append(f"<h2>{escape(title)}</h2><figure>{tag}</figure>")
    if remarks := report.remarks():
        parts.append(f"<h2>Notes</h2>{remarks}")
    parts.append(
        "<h2>Theorems behind the numbers</h2>"
        f'<pre tabindex="0" role="region" aria-label="BibTeX">{escape(report.cite())}</pre>'
    )
    body = card(formula(report.formula), *parts)
    title = "learnability: a report"
    return _FRAME.format(title=title, body=body, version=__version__)
