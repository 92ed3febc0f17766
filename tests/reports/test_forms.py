"""The forms that every report has: rich, a page, LaTeX."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import learnability as lb
from learnability import LearnabilityError
from learnability.reports.multi_index import Hardness

from tests.reports.shared import report_on

VOID = ("meta", "img", "br")


class Balanced(HTMLParser):
    """Notes the tags that are open at the end or closed in the wrong order, and the addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open += [] if tag in VOID else [tag]
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(text: str) -> Balanced:
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    return parser


@pytest.fixture(params=["isotropic", "spiked", "hierarchical"], scope="module")
def one(request: pytest.FixtureRequest) -> Any:
    """A report of each kind."""
    if request.param == "isotropic":
        return report_on("abs(z)")
    spiked = lb.MultiIndex("z**2", inputs=lb.Spiked(exponent=0.5, alignment=0.8))
    return lb.hardness(spiked if request.param == "spiked" else lb.Hierarchical("tanh(z)"))


def test_a_notebook_shows_every_report(one: Any) -> None:
    shown = one._repr_mimebundle_()
    assert shown["text/plain"] == str(one)
    assert shown["image/png"].startswith(b"\x89PNG")
    rich = parsed(shown["text/html"])
    assert rich.sources and all(source.startswith("data:image/png") for source in rich.sources)
    assert "<math" in shown["text/html"] and "<details>" in shown["text/html"]
    for cost in one.costs:
        assert cost.algorithm in shown["text/html"]


def test_the_page_is_one_file_that_needs_nothing_else(one: Any, tmp_path: Path) -> None:
    path = tmp_path / "pages" / "report.html"
    text = one.to_html(path, pictures={"Runs & theory": one.draw()})
    assert path.read_text(encoding="utf-8") == text
    assert len(text) < 2e6
    page = parsed(text)
    assert len(page.sources) == 2 and all(s.startswith("data:") for s in page.sources)
    assert "<script" not in text and 'alt="Runs &amp; theory"' in text
    assert all(key in text for key in re.findall(r"@\w+\{(\w+),", one.cite()))


def test_another_ending_of_a_page_is_refused() -> None:
    with pytest.raises(LearnabilityError, match=r"'a.pdf', but a name ending in \.html"):
        report_on("abs(z)").to_html("a.pdf")


def test_latex(report: Hardness) -> None:
    text = report.to_latex()
    assert text.startswith(r"\[ y = ")
    tables = text.count(r"\begin{tabular}")
    assert tables == text.count(r"\end{tabular}") == len(report.tables())
    for row in re.findall(r"^(.*) \\\\$", text, flags=re.MULTILINE):
        assert not re.search(r"(?<!\\)[_#%]", re.sub(r"\$.*?\$", "", row)), row
