"""Errors of `regimes` after steps against runs; `python -m tests.audit.powers` has many more."""

from __future__ import annotations

import pytest

from tests.audit.powers import judged


@pytest.mark.parametrize("k", range(6))
def test_random_problems(k: int) -> None:
    found = judged(k, stream=25)
    assert found["verdict"] != "wrong", found
