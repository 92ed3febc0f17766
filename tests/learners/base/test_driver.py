"""The driver: questions, loops, stacking, labels and provenance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import learnability
from learnability import LearnabilityError, MultiIndex, SpikedIndex
from learnability.learners.base import Found

from tests.learners.base.toys import Broken, Toy, Wide

# ---- runs


def test_runs_are_stacked_and_labelled() -> None:
    runs = Toy().simulate("z1*z2", d=10, alpha=[1.0, 2.0], seeds=[4, 1])
    assert runs.overlap.dims == ("alpha", "seed", "estimate", "index")
    assert runs.error.dims == runs.status.dims == ("alpha", "seed")
    np.testing.assert_array_equal(runs.alpha, [1.0, 2.0])
    np.testing.assert_array_equal(runs.seed, [4, 1])
    assert float(runs.overlap.sel(alpha=2.0, seed=4)[0, 0]) == pytest.approx(4.2)
    assert float(runs.error.sel(alpha=1.0, seed=1)) == pytest.approx(1.1)
    assert (runs.status == "finished").all() and runs.status.dtype.kind == "U"


def test_paths_are_held_at_their_last_value() -> None:
    runs = Toy().simulate("z", d=10, alpha=[1.0, 2.0], seeds=[0, 3])
    assert runs.overlap_trace.dims == ("alpha", "seed", "time", "estimate", "index")
    np.testing.assert_array_equal(runs.time, np.arange(5))
    found = runs.overlap_trace.sel(alpha=2.0).squeeze()
    np.testing.assert_array_equal(found.sel(seed=0), [0, 1, 1, 1, 1])
    np.testing.assert_array_equal(found.sel(seed=3), [0, 1, 2, 3, 4])


def test_a_scalar_alpha_takes_its_axis_away() -> None:
    runs = Toy().simulate("z", d=10, alpha=2.0, seeds=2)
    assert runs.overlap.dims == ("seed", "estimate", "index")
    assert runs.alpha.shape == () and float(runs.alpha) == 2.0
    theory = Toy().predict("z", alpha=2.0)
    assert theory.overlap.dims == ("estimate", "index") and float(theory.overlap.squeeze()) == 2.0
    one = Toy().simulate("z", d=10, alpha=[2.0], seeds=2)
    assert one.overlap.dims == ("alpha", "seed", "estimate", "index")
    np.testing.assert_array_equal(one.overlap[0], runs.overlap)


def test_time_is_an_axis_as_alpha_is() -> None:
    runs = Toy().simulate("z", question="path", d=10, time=[0.0, 2.0], seeds=[1, 5])
    assert runs.overlap.dims == ("time", "seed", "estimate", "index")
    np.testing.assert_array_equal(runs.overlap.sel(time=2.0).squeeze(), [3.0, 7.0])
    alone = Toy().simulate("z", question="path", d=10, time=2.0, seeds=[1, 5])
    assert alone.overlap.dims == ("seed", "estimate", "index") and alone.time.shape == ()


def test_a_question_without_axes() -> None:
    runs = Toy().simulate("z", question="runs", d=10, seeds=[2, 3])
    assert runs.error.dims == ("seed",) and runs.error.values.tolist() == [2, 3]
    assert "alpha" not in runs.coords


def test_several_ridges_are_the_last_axis() -> None:
    runs = Toy(ridge=(1.0, 2.0, 4.0)).simulate("z", d=10, alpha=[1.0], seeds=[1, 2])
    assert runs.error.dims == runs.status.dims == ("alpha", "seed", "ridge")
    assert runs.overlap.dims == ("alpha", "seed", "estimate", "index")
    np.testing.assert_array_equal(runs.ridge, [1.0, 2.0, 4.0])
    np.testing.assert_allclose(runs.error.sel(seed=2)[0], [2.1, 4.2, 8.4])
    one = Toy(ridge=2.0).simulate("z", d=10, alpha=[1.0], seeds=[1])
    assert "ridge" not in one.dims and "ridge" not in one.coords
    assert Toy(ridge=2.0).ridges == (2.0,) and Toy(ridge=(1, 2)).ridges == (1.0, 2.0)


def test_a_learner_that_computes_all_seeds_at_once_gives_the_same() -> None:
    narrow = Toy().simulate("z", d=10, alpha=[1.0, 2.0], seeds=[4, 1])
    wide = Wide().simulate("z", d=10, alpha=[1.0, 2.0], seeds=[4, 1])
    np.testing.assert_allclose(wide.overlap, narrow.overlap)
    assert wide.overlap.dims == narrow.overlap.dims


def test_seeds_split_and_merged_are_the_same() -> None:
    both = Toy().simulate("z", d=10, alpha=[1.0, 2.0], seeds=[4, 1])
    for seed in (4, 1):
        alone = Toy().simulate("z", d=10, alpha=[1.0, 2.0], seeds=[seed])
        np.testing.assert_array_equal(both.overlap.sel(seed=[seed]), alone.overlap)


# ---- theory


def test_theory_with_and_without_seeds() -> None:
    theory = Toy().predict("z", question="path", time=[0.0, 2.0])
    assert theory.overlap.dims == ("time", "estimate", "index") and "seed" not in theory.coords
    assert theory.overlap_stderr.dims == theory.overlap.dims
    seeded = Toy().predict("z", question="path", time=[0.0, 2.0], seeds=[3, 8])
    assert seeded.overlap.dims == ("time", "seed", "estimate", "index")
    np.testing.assert_array_equal(seeded.seed, [3, 8])
    with pytest.raises(LearnabilityError, match="predict toy does not depend on seeds"):
        Toy().predict("z", alpha=1.0, seeds=3)


def test_a_target_that_depends_on_the_dimension_needs_it() -> None:
    target = SpikedIndex("z", spike=1.0)
    theory = Toy().predict(target, question="path", time=[1.0])  # A limit, by its declaration.
    assert theory.attrs["inputs"] == repr(target.inputs)
    with pytest.raises(LearnabilityError, match="predict toy needs `d`"):
        Toy().predict(target, alpha=1.0)
    assert Toy().predict(target, alpha=1.0, d=50).attrs["d"] == 50
    with pytest.raises(LearnabilityError, match="`d` was given, but predict toy takes"):
        Toy().predict("z", alpha=1.0, d=50)


# ---- where it comes from


def test_a_result_says_where_it_comes_from() -> None:
    target = MultiIndex("abs(z)", noise=0.1)
    runs = Toy(shift=0.5).simulate(target, d=10, alpha=[1.0, 2.0], seeds=[1, 0])
    assert runs.attrs == {
        "learner": "Toy(shift=0.5, spikiness=1.0, ridge=1.0)",
        "verb": "simulate",
        "question": "values",
        "target": "multi-index",
        "link": "abs(z)",
        "r": 1,
        "noise": 0.1,
        "inputs": "Isotropic()",
        "version": learnability.__version__,
        "numerics_version": 1,
        "d": 10,
        "shared": "yes",
        "alpha_c": 0.5,
    }
    mixed = Toy().simulate(target, d=10, alpha=1.0, seeds=3)
    assert "alpha_c" not in mixed.attrs and mixed.attrs["shared"] == "yes"
    assert Toy().predict("z", alpha=1.0, steps=7).attrs["steps"] == 7
    assert "lambda" in Toy().predict(MultiIndex(lambda z: z[..., 0], r=1), alpha=1.0).attrs["link"]


# ---- refusals


def test_questions_that_are_not_known_or_have_no_answer() -> None:
    sentence = "The question 'speed' was asked of toy, which answers values, path, runs."
    with pytest.raises(LearnabilityError) as caught:
        Toy().simulate("z", question="speed", d=10, alpha=1.0)
    assert str(caught.value) == sentence
    with pytest.raises(
        LearnabilityError, match=r"predict toy \(runs\) has no answer: Nobody knows"
    ):
        Toy().predict("z", question="runs")


def test_sentences_name_the_verb_and_the_question() -> None:
    with pytest.raises(LearnabilityError, match=r"^simulate toy needs `alpha`"):
        Toy().simulate("z", d=10)
    with pytest.raises(LearnabilityError, match=r"^simulate toy \(path\) needs `time`"):
        Toy().simulate("z", question="path", d=10)
    with pytest.raises(
        LearnabilityError, match=r"`shift` .* simulate toy \(path\) takes it at its"
    ):
        Toy(shift=1.0).simulate("z", question="path", d=10, time=1.0)


def test_a_dimension_without_room_is_refused() -> None:
    with pytest.raises(LearnabilityError, match=r"`d` was given as 1, but .* at least 2 .* r = 2"):
        Toy().simulate("z1*z2", d=1, alpha=1.0)


@pytest.mark.parametrize("seeds", [0, [], [1, 1], "3"])
def test_bad_seeds(seeds: Any) -> None:
    with pytest.raises(LearnabilityError, match="`seeds` was given as"):
        Toy().simulate("z", d=10, alpha=1.0, seeds=seeds)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (Found({"gram": np.zeros((1, 1, 1))}), "returned `gram`, which the question values does"),
        (Found({"speed": [1.0]}), "no observable 'speed'"),
        (Found({"overlap_error": np.zeros((1, 1, 1))}), "no observable 'overlap_error'"),
        (Found({"overlap": [1.0]}), r"shape \(1,\), but its dimensions are alpha, estimate, index"),
        (Found({"error": 1.0}), r"shape \(\), but its dimensions are alpha"),
        (Found({"error": [1.0]}, {"colour": [1]}), "no coordinate 'colour'"),
        (Found({"error": [1.0], "status": ["fine"]}), "`status` was given as"),
    ],
)
def test_what_the_question_does_not_declare_is_refused(
    monkeypatch: pytest.MonkeyPatch, found: Found, sentence: str
) -> None:
    monkeypatch.setattr(Broken, "wrong", found)
    with pytest.raises(LearnabilityError, match=sentence):
        Broken().predict("z", alpha=[1.0])


def test_what_it_declares_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Found({"error": [1.0], "error_stderr": [0.1], "status": ["solved"]}, {"time": [1]})
    monkeypatch.setattr(Broken, "wrong", right)
    found = Broken().predict("z", alpha=[1.0])
    assert set(found.data_vars) == {"error", "error_stderr", "status"}
    assert "time" not in found.coords  # No variable has it.
