"""What the figures on structured data share."""

from __future__ import annotations

import pytest

from learnability import Link
from learnability.figures._structured import LINKS, SpikeSize


@pytest.mark.parametrize("name", LINKS)
def test_links_have_unit_variance_and_one_degree(name: str) -> None:
    c = [float(Link(LINKS[name]).hermite(k, "orthonormal")) for k in range(5)]
    degree = int(name[2:])
    assert c == pytest.approx([float(k == degree) for k in range(5)])


def test_sizes_are_records() -> None:
    size = SpikeSize((60,), 1, (0.0, 0.7), 2)
    assert size == SpikeSize((60,), 1, (0.0, 0.7), 2) and hash(size)
