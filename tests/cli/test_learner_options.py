"""What the options of a command ask of a learner, and what it cannot answer."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import BayesAMP, GiantSteps, KernelRidge, LearnabilityError, MultiIndex
from learnability.cli.learner_options import answers, asked, learner_options, owners
from learnability.inputs import Spiked
from learnability.learners import LEARNERS


def test_what_is_asked() -> None:
    words = {"expression": "abs(z)", "alpha": "1:2:3", "d": "100,200", "damping": "0.3",
             "noise": "0.1", "question": "path", "set": ["start=random,informed"]}  # fmt: skip
    found = asked(BayesAMP, "simulate", words)
    assert found.learner == BayesAMP(damping=0.3) and found.target == MultiIndex(
        "abs(z)", noise=0.1
    )
    assert found.question.name == "path" and found.settings == {"start": "random,informed"}
    assert found.arguments["d"] == [100, 200]
    np.testing.assert_array_equal(found.arguments["alpha"], [1.0, 1.5, 2.0])


def test_arguments_go_to_the_side_that_takes_them() -> None:
    words = {"expression": "z", "alpha": "1", "d": "50", "degree": "1"}
    found = asked(KernelRidge, "plot", words)
    assert found.for_side("simulate") == {"d": 50, "alpha": 1.0}
    assert found.for_side("predict") == {"d": 50, "alpha": 1.0, "degree": 1}
    spiked = asked(KernelRidge, "plot", {"expression": "z", "spike": "2", "alpha": "1", "d": "50"})
    assert spiked.target.inputs == Spiked(2.0) and "d" in spiked.for_side("predict")


def test_several_ridges_are_one_value_of_the_learner() -> None:
    found = asked(GiantSteps, "predict", {"expression": "z", "alpha": "1", "ridge": "0.1,1"})
    assert found.learner == GiantSteps(ridge=(0.1, 1.0))


def test_owners_of_options() -> None:
    assert owners("predict")["--damping"] == ["bayes-amp"]
    assert owners("simulate")["--degree"] == ["predict kernel-ridge", "predict random-features"]
    for verb in ("predict", "simulate", "plot"):
        for name, learner in LEARNERS.items():
            if answers(learner, verb):
                for option in learner_options(learner, verb):
                    if option.section != "Target" and not option.hidden:
                        assert name in owners(verb)[f"--{option.name}"]


def test_a_setting_without_a_name() -> None:
    for text in ("floor", "=1"):
        with pytest.raises(LearnabilityError, match="NAME=VALUE"):
            asked(LEARNERS["spectral"], "predict", {"expression": "z", "alpha": "1", "set": [text]})


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("predict kernel-ridge z --spike=-1 --d 9 --alpha 1", "`--spike` was given as -1"),
        ("predict kernel-ridge z --spike 1 --alpha 1", "needs `--d`"),
        ("hardness z --spike 1 --alignment 1.5", "a cosine between -1 and 1"),
        ("hardness z --spike nan", "`--spike` was given as nan"),
        ("hardness z --spike 1 --spike-exponent 1", "not both or neither"),
        ("predict kernel-ridge z --spike-exponent 200 --d 1000000 --alpha 1", "a smaller one"),
        ("predict kernel-ridge exp(z**2) --spike 1 --d 99 --alpha 1", "square-int"),
        ("predict gradient-flow z --spike 9 --d 3 --time 1", "a dimension from 4"),
        ("predict gradient-flow z --spike 9 --d 99 --time=-1", "`time` was given as -1.0"),
        ("predict mean-field-langevin z1*z2 --alpha 1", "No theory"),
        ("predict kernel-ridge z --alignment 0.5 --alpha 1", "`--spike-exponent`"),
        ("predict kernel-ridge z --spike-exponent 0.97 --d 1000 --alpha 1", "needs less than 1/2"),
        ("predict bayes-amp z --spike 2 --alpha 1", "accepts isotropic inputs"),
        ("simulate mean-field-langevin z1+z2 --anisotropy 0.5 --d 9 --alpha 1", "labels +1 and -1"),
        ("simulate mean-field-langevin z1*z2 --anisotropy 2 --d 9 --alpha 1", "of at most 1"),
        ("predict online-sgd z --spike 9 --time 1", "needs"),
        ("simulate online-sgd z --spike 9 --d 2 --time 1", "at least 3"),
    ],
)
def test_structured_data_that_cannot_be_asked(run, words: str, sentence: str) -> None:  # type: ignore[no-untyped-def]
    done = run(*words.split())
    assert done.code == 2 and sentence in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("predict kernel-ridge z --spike 9 --d 500 --alpha 1", "error"),
        ("predict gradient-flow z --spike 9 --d 500 --time 0,1", "solved"),
    ],
)
def test_predictions_on_structured_data(run, words: str, said: str) -> None:  # type: ignore[no-untyped-def]
    done = run(*words.split())
    assert done.code == 0 and said in done.out and "d = 500" in done.out
