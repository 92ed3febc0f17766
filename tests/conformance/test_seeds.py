"""The same seed gives the same numbers, whatever it is computed with."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from learnability.learners.base import Learner, Question
from learnability.studies import study

from tests.conformance.cases import SEEDS, answered, argument, cases, named, needed, same_bits

CASES = pytest.mark.parametrize(
    ("learner", "question", "verb", "kind", "law"), cases("simulate"), ids=named
)


def within(part: xarray.Dataset, whole: xarray.Dataset) -> bool:
    """Whether a part has the bits of the whole; a path may end earlier and then hold its value."""
    if "time" in part.sizes and part.sizes["time"] < whole.sizes["time"]:
        missing = whole.sizes["time"] - part.sizes["time"]
        part = part.pad(time=(0, missing), mode="edge")
    return same_bits(part, whole)


@CASES
def test_seeds_apart_have_the_bits_of_seeds_together(
    learner: type[Learner], question: Question, verb: str, kind: str, law: str
) -> None:
    for asked in answered(learner, question, verb, kind, law):
        together = asked.result
        for seed in together.seed.values:
            alone = asked.again(seeds=(int(seed),))
            assert within(alone, together.sel(seed=[seed])), f"seed {seed}"


@CASES
def test_alphas_apart_have_the_bits_of_alphas_together(
    learner: type[Learner], question: Question, verb: str, kind: str, law: str
) -> None:
    if "alpha" not in question.axes:
        pytest.skip("the question has no axis alpha")
    for asked in answered(learner, question, verb, kind, law):
        together = asked.result
        for alpha in argument("alpha"):
            alone = asked.again(alpha=float(alpha))
            assert "alpha" not in alone.dims and float(alone.alpha) == alpha
            assert within(alone, together.sel(alpha=alpha)), f"alpha {alpha}"


@pytest.mark.parametrize(
    ("learner", "question", "verb", "kind", "law"), cases("predict"), ids=named
)
def test_a_prediction_does_not_depend_on_its_neighbours(
    learner: type[Learner], question: Question, verb: str, kind: str, law: str
) -> None:
    if "alpha" not in question.axes:
        pytest.skip("the question has no axis alpha")
    for asked in answered(learner, question, verb, kind, law):
        together, alpha = asked.result, argument("alpha")[1]
        alone = asked.again(alpha=float(alpha))
        for name, values in alone.data_vars.items():
            grids = [dim for dim in values.dims if dim in values.coords and dim in together.coords]
            own = any(not np.array_equal(alone[dim], together[dim]) for dim in grids)
            if values.dtype.kind == "f" and not own:  # A grid that is chosen for all ratios is not.
                np.testing.assert_allclose(
                    values, together[name].sel(alpha=alpha), rtol=1e-7, atol=1e-10, err_msg=name
                )


@CASES
def test_a_study_has_the_bits_of_simulate(
    learner: type[Learner], question: Question, verb: str, kind: str, law: str
) -> None:
    for asked in answered(learner, question, verb, kind, law)[:1]:
        at = {**needed(question, verb, asked.target), **asked.more}
        found = study(
            asked.learner, asked.target, question=question.name, seeds=list(SEEDS), workers=1, **at
        )
        simulated = asked.result
        assert set(found.data_vars) == set(simulated.data_vars)
        for name, values in simulated.data_vars.items():
            other = found[name].transpose(*values.dims)
            assert same_bits(values.to_dataset(name="x"), other.to_dataset(name="x")), name
