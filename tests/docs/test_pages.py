"""The pages as text: pictures with descriptions, formulas that need no network, a full gallery."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from learnability.figures import FIGURES

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for folder in (".", "guide", "gallery", "notebooks")
               for path in (DOCS / folder).glob("*.md"))  # fmt: skip

spec = importlib.util.spec_from_file_location("mathml", DOCS / "_ext" / "mathml.py")
assert spec is not None and spec.loader is not None
mathml = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mathml)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((DOCS / "guide").glob("*.md")), ids=lambda path: path.stem)
def test_every_page_of_the_guide_has_a_picture_that_exists(path: Path) -> None:
    pictures = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", text_of(path))
    assert pictures
    for description, file in pictures:
        assert len(description) > 20 and (path.parent / file).is_file()


# What the other pages print needs a cluster, or is no Python.
PRINTED = ("batch-reuse", "best-learner", "data-sets", "depth", "first-steps", "giant-steps",
           "laws-of-labels", "lazy-learning", "online-sgd", "structured-data")  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_what_the_code_of_a_page_prints_is_shown(name: str) -> None:
    for piece in text_of(DOCS / "guide" / f"{name}.md").split("```python\n")[1:]:
        code, _, rest = piece.partition("\n```\n")
        if "print(" in code:
            assert re.search(r"^```(output|text)$", rest, flags=re.MULTILINE), code


def test_every_formula_is_mathml() -> None:
    count = 0
    for path in PAGES:
        prose = re.sub(r"```.*?```", "", text_of(path), flags=re.S)
        prose = re.sub(r"`[^`]*`", "", prose)
        for block, inline in re.findall(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$]+?)\$", prose, flags=re.S):
            made = mathml.mathml(block or inline, bool(block))
            assert made.startswith("<math") and ">&</mi>" not in made, (path.name, block or inline)
            count += 1
    assert count > 1500


def test_a_formula_that_cannot_be_shown_stops_the_build() -> None:
    from sphinx.errors import ExtensionError

    with pytest.raises(ExtensionError, match="not known to MathML"):
        mathml.mathml(r"\unknowncommand x", False)


def test_no_page_loads_anything_from_elsewhere() -> None:
    settings = text_of(DOCS / "conf.py")
    assert 'html_math_renderer = "mathml"' in settings and "mathjax" not in settings


def test_the_gallery_shows_every_figure_and_every_page_is_listed() -> None:
    gallery = text_of(DOCS / "gallery" / "index.md")
    for name in FIGURES:
        assert f"thumbnails/{name}.png" in gallery and f"]({name}.md)" in gallery
        assert (DOCS / "_static" / f"{name}.png").is_file()
    listed = text_of(DOCS / "index.md") + gallery + text_of(DOCS / "notebooks" / "index.md")
    for path in PAGES:
        assert path.stem in listed or path.stem == "index", path.name


def test_the_glossary_defines_the_words_of_the_report() -> None:
    terms = re.findall(r"^(\S.*)\n: ", text_of(DOCS / "glossary.md"), flags=re.MULTILINE)
    words = " ".join(terms)
    assert len(terms) > 20
    for word in ("overlap", "staircase", "leap", "kind", "information exponent",
                 "generative exponent", "alpha_c", "floor", "CSQ"):  # fmt: skip
        assert word in words
