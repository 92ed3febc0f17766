"""A result obeys the schema, whoever returned it, and both sides of a question speak of the same.

On the old code red for: three spellings of a standard error, `alpha_weak` beside `alpha_c`, two
names of the second neuron axis, free-text statuses.
"""

from __future__ import annotations

import numpy as np
import pytest
import xarray

import learnability
from learnability.learners import LEARNERS
from learnability.learners.base import Learner, Question
from learnability.learners.base.questions import ARGUMENTS, At
from learnability.results.schema import COORDINATES, OBSERVABLES, STDERR, THRESHOLDS, Status, row_of

from tests.conformance.cases import (
    VERBS,
    accepts,
    answered,
    argument,
    ask,
    cases,
    named,
    small,
    targets_of,
)

# What a run is judged by; of other observables a part may not exist, such as the eigenvalue of a
# direction that is found without one.
OUTCOMES = ("overlap", "cosine", "error", "subspace_overlap", "correlation", "recovery_time")
LENGTHS = ("time", "rank")
"""Dims that a run may leave early, and of which theory knows the first places only."""
WORDS = {str(status) for status in Status}
CASES = pytest.mark.parametrize(("learner", "question", "verb", "kind", "law"), cases(), ids=named)
BOTH = [
    (learner, question, kind, law)
    for learner, question, verb, kind, law in cases("predict")
    if any(accepts(learner, question, "simulate", target) for target in targets_of(kind, law))
]


@CASES
def test_what_is_declared_as_supported_has_an_answer(
    learner: type[Learner], question: Question, verb: str, kind: str, law: str
) -> None:
    assert answered(learner, question, verb, kind, law), [
        ask(small(learner, question, verb), target, question, verb).sentence
        for target in targets_of(kind, law)
    ]


@CASES
def test_a_result_obeys_the_schema(
    learner: type[Learner], question: Question, verb: str, kind: str, law: str
) -> None:
    for asked in answered(learner, question, verb, kind, law):
        found = asked.result
        assert found.data_vars
        _check_names(found, question, verb)
        _check_dims(found, asked.learner, question, verb)
        _check_words(found)
        _check_origin(found, asked.learner, question, verb, kind)


def _check_names(found: xarray.Dataset, question: Question, verb: str) -> None:
    declared = question.names(verb)
    for name in map(str, found.data_vars):
        base = name.removesuffix(STDERR)
        assert base in declared
        assert base in found.data_vars, f"{name} is the error of nothing"
        if base != name:
            assert found[name].dims == found[base].dims
            assert not (found[name] < 0).any()
    assert set(found.coords) <= set(COORDINATES)
    assert "overlap" not in found or {"estimate", "index"} <= set(found.overlap.dims)


def _check_dims(found: xarray.Dataset, learner: Learner, question: Question, verb: str) -> None:
    lead = (*question.axes, "seed")
    several = isinstance(getattr(learner, "ridge", None), tuple)
    for name in map(str, found.data_vars):
        row, dims = row_of(name), found[name].dims
        inner = (*row.dims, *(("ridge",) if row.by_ridge and several else ()))
        assert dims[len(dims) - len(inner) :] == inner
        outer = dims[: len(dims) - len(inner)]
        assert outer == tuple(dim for dim in lead if dim in outer)
        if verb == "simulate":
            assert "seed" in outer
    for grid in question.axes:
        if grid in found.dims:
            assert found[grid].dtype.kind == "f"


def _check_words(found: xarray.Dataset) -> None:
    for name, values in found.data_vars.items():
        if values.dtype.kind in "OUS":
            assert name == "status"
            assert {str(word) for word in values.values.ravel()} <= WORDS
        else:
            assert values.dtype.kind in "fiub"
    for name, value in found.attrs.items():
        assert not str(name).startswith("alpha_") or str(name).removesuffix(STDERR) in THRESHOLDS
        several = isinstance(value, list | tuple | np.ndarray)
        for one in value if several else [value]:
            assert isinstance(one, int | float | str | bool | np.number), name


def _check_origin(
    found: xarray.Dataset, learner: Learner, question: Question, verb: str, kind: str
) -> None:
    attrs = found.attrs
    assert attrs["learner"].startswith(f"{type(learner).__name__}(")
    assert (attrs["verb"], attrs["question"], attrs["target"]) == (verb, question.name, kind)
    assert attrs["version"] == learnability.__version__
    assert attrs["numerics_version"] == learner.numerics_version
    assert {"link", "r", "noise", "inputs"} <= set(attrs)


@pytest.mark.parametrize(("learner", "question", "kind", "law"), BOTH, ids=named)
def test_both_sides_share_names_and_dims(
    learner: type[Learner], question: Question, kind: str, law: str
) -> None:
    for asked in answered(learner, question, "predict", kind, law):
        other = asked.result
        runs = ask(asked.learner, asked.target, question, "simulate")
        if runs.result is None:
            continue
        found = runs.result
        shared = [name for name in question.observables if name in found or name in other]
        for name in shared:
            assert name in found, f"only predict returns {name}"
            assert name in other, f"only simulate returns {name}"
            without = tuple(dim for dim in found[name].dims if dim != "seed")
            assert without == tuple(dim for dim in other[name].dims if dim != "seed")
            for dim in without:
                if dim not in LENGTHS:
                    assert found.sizes[dim] == other.sizes[dim], (name, dim)


@CASES
def test_numbers_that_are_missing_are_told(
    learner: type[Learner], question: Question, verb: str, kind: str, law: str
) -> None:
    """On the old code red for a recovery on spiked inputs that diverged without a word."""
    told = {str(Status.DIVERGED), str(Status.UNDECIDED), str(Status.MISSING)}
    for asked in answered(learner, question, verb, kind, law):
        found = asked.result
        missing = [name for name in OUTCOMES if name in found and _has_nan(found[name])]
        if missing:
            words = set(np.ravel(found.status.values)) if "status" in found else set()
            assert words & told or found.attrs.get("note"), missing


def _has_nan(values: xarray.DataArray) -> bool:
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


# ---- the vocabulary itself


def test_the_schema_has_one_spelling_for_everything() -> None:
    for name, row in OBSERVABLES.items():
        assert not name.endswith(STDERR)
        assert not name.endswith("_error") or name.removesuffix("_error") not in OBSERVABLES
        assert set(row.dims) <= set(COORDINATES)
        assert row.meaning.endswith(".") and row.label
    for rows in (COORDINATES, OBSERVABLES):
        assert all(name.isidentifier() for name in rows)
    assert all(status.sentence.endswith(".") for status in Status)


def test_every_observable_belongs_to_a_question() -> None:
    used = {
        name
        for learner in LEARNERS.values()
        for question in learner.questions
        for verb in VERBS
        for name in question.names(verb)
    }
    assert used <= set(OBSERVABLES)
    assert set(OBSERVABLES) - used == set()


def test_arguments_are_declared_once_for_checks_and_for_types() -> None:
    assert set(ARGUMENTS) == set(At.__annotations__)
    taken = set()
    for learner in LEARNERS.values():
        for question in learner.questions:
            for side in filter(None, (question.simulate, question.predict)):
                taken |= {*side.needs, *side.takes}
    assert taken == set(ARGUMENTS)
    for name in ARGUMENTS:
        argument(name)


def test_a_learner_has_a_name_a_version_and_questions() -> None:
    for name, learner in LEARNERS.items():
        assert learner.name == name
        assert learner.numerics_version >= 1
        asked = [question.name for question in learner.questions]
        assert asked and len(set(asked)) == len(asked)
        for question in learner.questions:
            assert question.help.endswith(".")
            assert question.simulate or question.predict
            assert (question.simulate and question.predict) or question.reason.endswith(".")
