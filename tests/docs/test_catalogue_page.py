"""The generated pages against the library, which `docs/make_tables.py` writes them from."""

import importlib.util
import math
import re
from functools import lru_cache
from pathlib import Path

import pytest

from learnability.labels import CATALOGUE, catalogue
from learnability.reports import hardness

DOCS = Path(__file__).resolve().parents[2] / "docs"

spec = importlib.util.spec_from_file_location("make_tables", DOCS / "make_tables.py")
make_tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_tables)

# Computed by level sets or by cells: no sampling, so every digit of the page is reproduced.
EXACT = [entry.name for entry in CATALOGUE if entry.link.r == 1 or entry.link.values is not None]
SAMPLED = ["product-2", "product-3", "grand-staircase"]
EXPONENTS = ("IE", "GE", "leap", "kind")


def table_of(page):
    """The rows of the only table of a page, as dicts by the heads of the columns."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


@lru_cache
def report_of(name):
    entry = catalogue(name)
    return hardness(entry.link, noise=entry.noise)


@pytest.fixture(scope="module")
def page():
    return {row["name"].strip("`"): row for row in table_of("catalogue.md")}


def number(text):
    """Value and error of a threshold such as 0.59375(3)."""
    digits, last = re.fullmatch(r"(\d+\.\d+)(?:\((\d)\))?", text).groups()
    unit = 10.0 ** -len(digits.partition(".")[2])
    return float(digits), (int(last) if last else 0.5) * unit


def test_the_page_lists_the_catalogue_in_order(page):
    assert list(page) == [entry.name for entry in CATALOGUE]
    for entry in CATALOGUE:
        row = page[entry.name]
        assert row["formula"].replace(make_tables.BAR, "|") == f"${entry.link.latex}$"
        assert row["$r$"] == str(entry.link.r)
        assert float(row["$\\Delta$"]) == entry.noise
        assert row["use"] == entry.about


def test_every_row_is_consistent(page):
    for row in page.values():
        information, generative, leap = (int(row[name]) for name in EXPONENTS[:3])
        assert 1 <= generative <= information <= leap
        assert row["kind"] == {1: "trivial", 2: "easy"}.get(generative, "hard")
        if row["kind"] == "easy":
            assert number(row["$\\alpha_c$"])[0] > 0
        else:
            assert row["$\\alpha_c$"] == {"trivial": "0", "hard": "$\\infty$"}[row["kind"]]


@pytest.mark.parametrize("name", EXACT)
def test_the_numbers_of_an_exact_entry_are_reproduced(name, page):
    assert make_tables.row_of(catalogue(name), report_of(name)) == list(page[name].values())


@pytest.mark.parametrize("name", SAMPLED)
def test_the_numbers_of_a_sampled_entry_are_within_their_errors(name, page):
    report, row = report_of(name), page[name]
    exponents = (report.information_exponent, report.generative_exponent, report.leap)
    assert [row[name] for name in EXPONENTS] == [*map(str, exponents), report.kind]
    printed, error = number(row["$\\alpha_c$"])
    assert 0 < error < 1e-3 * printed
    assert abs(printed - report.alpha_c) <= error + report.alpha_c_error
    assert make_tables.later_steps(report) == row["later steps"]


@pytest.mark.parametrize("name", [name for name in make_tables.EXAMPLES if name in EXACT])
def test_an_example_of_the_map_is_reproduced(name):
    cells = make_tables.example_row(catalogue(name), report_of(name))
    rows = (DOCS / "map-of-exponents.md").read_text(encoding="utf-8").splitlines()
    assert "| " + " | ".join(cells) + " |" in rows


@pytest.mark.parametrize(
    ("alpha", "error", "text"),
    [
        (0.59375045, 2.8e-5, "0.59375(3)"),
        (2.5651194, 3.008e-4, "2.5651(4)"),
        (1.2345678, 9.6e-3, "1.23(1)"),
        (math.pi**2 / 4, 1e-12, "2.4674011"),
        (0.0, 0.0, "0"),
        (math.inf, None, "$\\infty$"),
    ],
)
def test_a_threshold_shows_the_digits_that_its_error_leaves(alpha, error, text):
    assert make_tables.threshold(alpha, error) == text


def test_check_says_which_page_is_out_of_date(monkeypatch, capsys):
    path = DOCS / "catalogue.md"
    text = path.read_text(encoding="utf-8")
    monkeypatch.setattr(make_tables, "pages", lambda: {path: text})
    assert make_tables.main(["--check"]) == 0
    monkeypatch.setattr(make_tables, "pages", lambda: {path: text + "x"})
    assert make_tables.main(["--check"]) == 1
    assert "docs/catalogue.md is out of date" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8") == text
