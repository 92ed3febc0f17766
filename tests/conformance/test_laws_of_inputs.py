"""One algorithm on every law of inputs: a spike of strength 0 changes nothing.

On the old code red for GiantSteps (error 0.174(3) against 0.105(4) on the same law of data) and for
OnlineSGD, which began elsewhere than it was told to, refused other starts, and kept quiet about
recoveries that diverged.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import xarray

from learnability.errors import LearnabilityError
from learnability.fields import Number, declared
from learnability.inputs import INPUTS, Isotropic, Spiked
from learnability.learners import LEARNERS
from learnability.learners.base import Learner, Question
from learnability.results.schema import Status
from learnability.targets import MultiIndex

from tests.conformance.cases import (
    LINKS,
    VERBS,
    D,
    accepts,
    answered_on,
    ask,
    named,
    same_bits,
    small,
)

SEEDS = range(32)
LIMIT = 4.0
"""Standard errors."""
NO_SPIKE = Spiked(strength=0.0, alignment=0.3)
PAIRS = [(MultiIndex(link), MultiIndex(link, inputs=NO_SPIKE)) for link in LINKS]
QUESTIONS = [
    (learner, question, verb)
    for learner in LEARNERS.values()
    for question in learner.questions
    for verb in VERBS
    if all(any(accepts(learner, question, verb, pair[i]) for pair in PAIRS) for i in (0, 1))
]
ASKED = pytest.mark.parametrize(("learner", "question", "verb"), QUESTIONS, ids=named)


def shared(plain: xarray.Dataset, spiked: xarray.Dataset) -> list[str]:
    """Names of both; those of marked axes only spiked inputs have."""
    extra = {n for n in spiked.data_vars if "marked" in spiked[n].dims} - set(plain.data_vars)
    assert set(plain.data_vars) == set(spiked.data_vars) - extra
    return [str(name) for name in plain.data_vars]


def in_law(plain: xarray.Dataset, spiked: xarray.Dataset) -> list[str]:
    """Observables whose means over seeds are further apart than their standard errors allow."""
    far = []
    for name in shared(plain, spiked):
        one, other = plain[name], spiked[name]
        if one.dtype.kind not in "fiub" or "marked" in one.dims:
            continue
        a, b = (values.astype(float).transpose("seed", ...).values for values in (one, other))
        if a.shape[1:] != b.shape[1:]:  # A path may take longer.
            assert "time" in one.dims
            continue
        with np.errstate(invalid="ignore"):
            width = np.sqrt((a.var(axis=0, ddof=1) + b.var(axis=0, ddof=1)) / len(a))
            away = np.abs(a.mean(axis=0) - b.mean(axis=0))
            size = np.abs(a).mean(axis=0)
        if (away > LIMIT * width + 1e-5 * size).any():
            worst = np.nanmax(away / np.maximum(width, 1e-300))
            far.append(f"{name} is {worst:.1f} standard errors away")
    return far


@ASKED
def test_a_spike_of_strength_zero_changes_nothing(
    learner: type[Learner], question: Question, verb: str
) -> None:
    compared = 0
    for plain, spiked in PAIRS:
        for asked in answered_on(learner, question, verb, spiked):
            more = dict(asked.more)
            side = question.side(verb)
            assert side is not None
            if "d" in {*side.needs, *side.takes}:
                more.setdefault("d", D)
            one = ask(asked.learner, plain, question, verb, more=more)
            other = ask(asked.learner, spiked, question, verb, more=more)
            assert (one.result is None) == (other.result is None), one.sentence + other.sentence
            if one.result is None or other.result is None:
                continue
            compared += 1
            if verb == "predict":
                _same_theory(one.result, other.result)
            elif not same_bits(*_shared_parts(one.result, other.result)):
                many = [
                    ask(asked.learner, target, question, verb, tuple(SEEDS), more).given
                    for target in (plain, spiked)
                ]
                assert in_law(*many) == []
    assert compared


def _shared_parts(plain: xarray.Dataset, spiked: xarray.Dataset) -> list[xarray.Dataset]:
    names = shared(plain, spiked)
    return [plain[names], spiked[names]]


def _same_theory(plain: xarray.Dataset, spiked: xarray.Dataset) -> None:
    """Up to the tolerance of integrators, whose steps differ by how many overlaps they follow."""
    for name in shared(plain, spiked):
        if plain[name].dtype.kind == "f" and plain[name].shape == spiked[name].shape:
            np.testing.assert_allclose(plain[name], spiked[name], rtol=1e-4, atol=1e-5)


def _with_long_steps(learner: type[Learner]) -> Learner | None:
    """A learner whose steps are so long that its weights grow without bound; None without steps."""
    for field, about in declared(learner):
        if field.name == "step" and isinstance(about.kind, Number):
            most = about.kind.at_most or math.inf
            return dataclasses.replace(small(learner), step=min(1e6, most))  # type: ignore[type-var]
    return None


@ASKED
def test_what_diverges_is_told_on_every_law_of_inputs(
    learner: type[Learner], question: Question, verb: str
) -> None:
    long = _with_long_steps(learner)
    if long is None or verb == "predict":
        pytest.skip("nothing can diverge here")
    words = []
    for target in (target for pair in PAIRS for target in pair):
        if accepts(learner, question, verb, target):
            with np.errstate(all="ignore"):
                found = ask(long, target, question, verb).result
            words.append(_words(found))
    assert words[::2] == words[1::2]


def _words(found: xarray.Dataset | None) -> tuple[set[str], bool] | None:
    """Statuses, and whether a note speaks of them."""
    if found is None or "status" not in found:
        return None
    told = {str(word) for word in found.status.values.ravel()}
    for name in found.data_vars:
        if found[name].dtype.kind == "f" and np.isnan(found[name]).any():
            assert told & {str(Status.DIVERGED), str(Status.MISSING)}, name
    return told, bool(found.attrs.get("note"))


# ---- starts


def starts() -> list[tuple[type[Learner], Question, str]]:
    return [
        (learner, question, verb)
        for learner in LEARNERS.values()
        for question in learner.questions
        for verb in VERBS
        if (side := question.side(verb)) is not None
        if "start" in {*side.needs, *side.takes} and "time" in {*side.needs, *side.takes}
    ]


@pytest.mark.parametrize("law", INPUTS)
@pytest.mark.parametrize(("learner", "question", "verb"), starts(), ids=named)
def test_a_run_begins_where_it_is_told_to(
    learner: type[Learner], question: Question, verb: str, law: str
) -> None:
    """With the overlap M that was asked for, wherever the spike and the hidden direction are."""
    laws: list[Any] = [Isotropic()] if law == "isotropic" else []
    if law == "spiked":
        laws = [Spiked(strength=4.0, alignment=a) for a in (1.0, 0.6)]
    for inputs in laws:
        target = MultiIndex("z", inputs=inputs)
        if not accepts(learner, question, verb, target):
            continue
        spikes = inputs.frame(1, D).spikes
        for M, S in ((0.9, 0.9), (0.5, 0.3), (0.9, 0.1)):
            given = (1.0, M, S)[: 2 + spikes]
            at = {"start": given, "time": 0.0}
            found = ask(small(learner, question, verb), target, question, verb, more=at).result
            if found is None:  # No weights have these overlaps.
                assert spikes
                continue
            name = next((n for n in ("overlap", "overlap_trace") if n in found), None)
            if name is None:  # The question asks for something else, such as a time.
                continue
            np.testing.assert_allclose(np.ravel(found[name])[0], M, atol=1e-5)


@pytest.mark.parametrize(("learner", "question", "verb"), starts(), ids=named)
def test_order_parameters_that_no_weights_have_are_refused_everywhere(
    learner: type[Learner], question: Question, verb: str
) -> None:
    """An asymmetric Q, one with a negative eigenvalue, an overlap longer than the weights."""
    try:
        two = dataclasses.replace(small(learner), width=2)  # type: ignore[type-var]
    except (TypeError, LearnabilityError):
        pytest.skip("one neuron only")
    wrong = [
        ([[1.0, 0.5], [0.0, 1.0]], [[0.1], [0.1]]),
        ([[1.0, 2.0], [2.0, 1.0]], [[0.1], [0.1]]),
        ([[1.0, 0.0], [0.0, 1.0]], [[1.5], [0.1]]),
    ]
    for inputs in (Isotropic(), NO_SPIKE, Spiked(strength=4.0, alignment=0.6)):
        target = MultiIndex("z", inputs=inputs)
        if not accepts(learner, question, verb, target):
            continue
        for Q, M in wrong:
            given = (Q, M, [[0.1], [0.1]])[: 2 + inputs.frame(1, D).spikes]
            answer = ask(two, target, question, verb, more={"start": given, "time": 0.0})
            assert answer.result is None and "`start`" in answer.sentence
