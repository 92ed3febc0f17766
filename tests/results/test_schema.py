"""The schema of results: every row is complete and speaks of names that exist."""

from __future__ import annotations

import re

import pytest

from learnability.errors import LearnabilityError
from learnability.learners.base.questions import ARGUMENTS, GRIDS
from learnability.results.schema import (
    COORDINATES,
    OBSERVABLES,
    STDERR,
    THRESHOLDS,
    Row,
    row_of,
)

ROWS = [*COORDINATES.items(), *OBSERVABLES.items()]


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[name for name, _ in ROWS])
def test_a_row_is_complete(name: str, row: Row) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name) and not name.endswith(STDERR)
    assert row.meaning[0].isupper() and row.meaning.endswith(".") and row.label
    assert row.label.count("$") % 2 == 0
    assert set(row.dims) <= set(COORDINATES) and len(set(row.dims)) == len(row.dims)


def test_a_name_has_one_meaning() -> None:
    for name in set(COORDINATES) & set(OBSERVABLES):
        assert COORDINATES[name] is OBSERVABLES[name], name
    assert not set(THRESHOLDS) & (set(COORDINATES) | set(OBSERVABLES))


def test_grids_are_coordinates_and_arguments() -> None:
    assert set(GRIDS) <= set(COORDINATES) and set(GRIDS) <= set(ARGUMENTS)


def test_a_trace_has_the_dimensions_of_its_value_along_the_run() -> None:
    traces = [name for name in OBSERVABLES if name.endswith("_trace")]
    assert "overlap_trace" in traces
    for name in traces:
        value = OBSERVABLES.get(name.removesuffix("_trace"))
        assert OBSERVABLES[name].dims[0] in ("time", "look")
        if value is not None:
            assert OBSERVABLES[name].dims[1:] == value.dims, name


def test_a_threshold_has_one_name() -> None:
    assert "alpha_c" in THRESHOLDS and "alpha_weak" not in THRESHOLDS
    assert all(
        name.startswith("alpha_") and text.endswith(".") for name, text in THRESHOLDS.items()
    )


def test_a_standard_error_has_the_row_of_its_value() -> None:
    row = row_of("overlap_stderr")
    assert row.dims == row_of("overlap").dims and row.meaning == "Standard error of overlap."
    assert row_of("overlap") is OBSERVABLES["overlap"]


@pytest.mark.parametrize("name", ["overlap_error", "overlap_std", "alpha", "speed", "_stderr"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(LearnabilityError, match=f"no observable '{name}'"):
        row_of(name)
