"""The bibliography."""

from __future__ import annotations

import re

import pytest

from learnability.reports.references import BIBTEX


@pytest.mark.parametrize("key", BIBTEX)
def test_an_entry_is_bibtex(key: str) -> None:
    entry = BIBTEX[key]
    assert re.match(rf"@(article|inproceedings){{{key},\n", entry)
    assert entry.count("{") == entry.count("}") and entry.endswith("\n}")
    for field in ("author", "title", "year"):
        assert re.search(rf"\b{field}\s*= {{.+}}", entry)
    assert re.search(r"\b(journal|booktitle)\s*= {", entry)
    year = re.search(r"year = {(\d{4})}", entry)
    assert year and year[1] in key


def test_no_entry_comes_twice() -> None:
    titles = [re.search(r"title\s*= {(.*)}", entry)[1] for entry in BIBTEX.values()]  # type: ignore[index]
    assert len(set(titles)) == len(titles)
