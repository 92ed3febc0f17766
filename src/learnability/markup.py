"""Small pieces of HTML: formulas as MathML, tables, folded details; what rich forms are made of.

Everything is readable without network and without scripts, in a notebook and in a page of its own.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["card", "folded", "formula", "html_table", "picture_tag"]

_STYLE = (
    "<style>.lb{max-width:60rem;line-height:1.4}.lb table{border-collapse:collapse;margin:.5em 0}"
    ".lb th,.lb td{text-align:left;vertical-align:top;padding:.2em .9em .2em 0;"
    "border-bottom:1px solid rgba(128,128,128,.35)}.lb td.n{font-variant-numeric:tabular-nums}"
    ".lb details{margin:.4em 0}.lb summary{cursor:pointer}.lb math{font-size:1.05em}"
    ".lb img{max-width:100%;height:auto;background:#fff}.lb .wide{overflow-x:auto}"
    ".lb h4{margin:.2em 0}.lb p{margin:.4em 0}</style>"
)


def formula(latex: str, display: bool = False) -> str:
    """Return a formula as MathML, which browsers show without network.

    Parameters
    ----------
    latex : str
        LaTeX of the formula, without dollar signs.
    display : bool
        Whether it stands on a line of its own.

    Examples
    --------
    >>> "<msub>" in formula("z_1")
    True
    """
    from latex2mathml.converter import convert

    made: str = convert(latex, display="block" if display else "inline")
    return made


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table; cells are HTML already.

    Parameters
    ----------
    head : sequence of str
        Titles of the columns; empty for a table without them.
    rows : iterable of sequence of str
        The cells.
    caption : str
        What the table shows.
    """
    title = f"<h4>{escape(caption)}</h4>" if caption else ""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    top = f"<thead><tr>{top}</tr></thead>" if head else ""
    body = "".join(
        "<tr>" + "".join(f'<td class="n">{cell}</td>' for cell in row) + "</tr>" for row in rows
    )
    table = f"<table>{top}<tbody>{body}</tbody></table>"
    return f'{title}<div class="wide" role="group" tabindex="0">{table}</div>'


def folded(summary: str, body: str, shown: bool = False) -> str:
    """Return details that open on a click.

    Parameters
    ----------
    summary : str
        The line that is always there.
    body : str
        HTML of the details.
    shown : bool
        Whether they are open at first.
    """
    state = " open" if shown else ""
    return f"<details{state}><summary>{escape(summary)}</summary>{body}</details>"


def picture_tag(png: bytes, description: str) -> str:
    """Return a picture inside the page itself.

    Parameters
    ----------
    png : bytes
        The picture.
    description : str
        A sentence for readers who do not see the picture.
    """
    data = base64.b64encode(png).decode("ascii")
    return f'<img alt="{escape(description)}" src="data:image/png;base64,{data}">'


def card(title: str, *parts: str) -> str:
    """Return the rich form of an object: its title, and what is to be said of it.

    Parameters
    ----------
    title : str
        HTML of the first line.
    *parts : str
        HTML of what follows.
    """
    return f'{_STYLE}<div class="lb"><p><strong>{title}</strong></p>{"".join(parts)}</div>'
