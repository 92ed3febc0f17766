"""Pieces of HTML."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

from learnability.markup import card, folded, formula, html_table, picture_tag


def test_a_formula_is_mathml_that_needs_no_script() -> None:
    found = ElementTree.fromstring(formula(r"\frac{z_1}{2} + \left|z_2\right|"))
    assert found.tag.endswith("math") and found.attrib["display"] == "inline"
    assert found.find(".//{*}mfrac") is not None
    assert ElementTree.fromstring(formula("z", display=True)).attrib["display"] == "block"


def test_a_table() -> None:
    text = html_table(("a", "b"), [("1", "2"), ("3", "4")], "A & B")
    assert "<h4>A &amp; B</h4>" in text
    assert re.findall(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", text) == ["a", "b", "1", "2", "3", "4"]
    assert "<thead>" not in html_table((), [("1",)])


def test_details_are_folded() -> None:
    assert folded("<more>", "x") == "<details><summary>&lt;more&gt;</summary>x</details>"
    assert folded("a", "x", shown=True).startswith("<details open>")


def test_a_picture_is_inside_the_page_and_described() -> None:
    tag = picture_tag(b"abc", 'a "b"')
    assert base64.b64encode(b"abc").decode() in tag and "&quot;b&quot;" in tag


def test_a_card() -> None:
    assert card("T", "<p>1</p>", "<p>2</p>").endswith(
        "<strong>T</strong></p><p>1</p><p>2</p></div>"
    )
