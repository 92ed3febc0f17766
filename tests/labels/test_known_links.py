"""The named target functions."""

from __future__ import annotations

import re

import pytest

import learnability
from learnability import Link, LinkError
from learnability.labels import CATALOGUE, Entry, catalogue


def test_names_are_unique_and_plain() -> None:
    names = [entry.name for entry in CATALOGUE]
    assert len(set(names)) == len(names) >= 25
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


def test_no_target_is_listed_twice() -> None:
    assert len({(entry.link, entry.noise) for entry in CATALOGUE}) == len(CATALOGUE)


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_every_text_parses(entry: Entry) -> None:
    assert entry.link == Link(entry.text)
    assert entry.about and not entry.about.endswith(".")
    assert entry.noise >= 0
    assert catalogue(entry.name) is entry


def test_an_unknown_name_ends_in_a_sentence_with_the_names() -> None:
    with pytest.raises(LinkError) as caught:
        catalogue("parity-9")
    message = str(caught.value)
    assert message.startswith("The catalogue has no entry 'parity-9'; it has linear, ")
    assert message.endswith(".") and "\n" not in message
    assert all(entry.name in message for entry in CATALOGUE)


def test_the_public_name() -> None:
    assert learnability.catalogue is catalogue
