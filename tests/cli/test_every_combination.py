"""Every learner on every target, with and without a dimension, ends in a result or a sentence."""

from __future__ import annotations

import pytest

from learnability.cli.target_options import input_options
from learnability.inputs import INPUTS
from learnability.learners import LEARNERS
from learnability.targets import TARGETS

LINKS = {"one direction": "He3(z)", "two directions": "sign(z1*z2)"}
# One value for the first field of each law of inputs, and the law by its name.
VALUES = {"spiked": "0.6", "power-law": "1.0", "signs": "0.5"}


def targets() -> dict[str, list[str]]:
    found = {name: [link] for name, link in LINKS.items()}
    for kind in INPUTS:
        found[f"{kind} by name"] = ["He3(z)", "--inputs", kind]
    for (kind, field), option in input_options().items():
        value = VALUES.get(kind, "0.5")
        found[f"{kind}: {field}"] = ["He3(z)", f"--{option.name}", value]
    found["an aligned spike"] = ["He3(z)", "--spike-exponent", "0.6", "--alignment", "0.5"]
    for kind in TARGETS:
        if kind != "multi-index":
            found[kind] = ["tanh(z)", "--polynomial", "He2(z)"]
    return found


CHEAP = {"batch-gd": ["--steps", "2", "--samples", "4096"]}  # Its theory takes many minutes else.


@pytest.mark.parametrize("size", [[], ["--d", "40"]], ids=["no d", "d"])
@pytest.mark.parametrize("target", targets())
@pytest.mark.parametrize("name", LEARNERS)
def test_predictions(run, name: str, target: str, size: list[str]) -> None:  # type: ignore[no-untyped-def]
    sides = [q.predict for q in LEARNERS[name].questions[:1] if q.predict is not None]
    axis = "time" if any("time" in (*s.needs, *s.takes) for s in sides) else "alpha"
    words = [name, *targets()[target], f"--{axis}", "1", *size, *CHEAP.get(name, [])]
    done = run("predict", *words)
    if done.code == 0:
        assert done.err == "" and done.out.startswith("y = ")
    else:
        assert done.code == 2 and done.out == ""
        assert done.err.startswith("learnability: ") and done.err.count("\n") == 1
        assert "Traceback" not in done.err and len(done.err) > 30


def test_some_of_them_are_results(run) -> None:  # type: ignore[no-untyped-def]
    """The walk above would pass if everything were refused."""
    for words in (
        ["bayes-amp", "abs(z)", "--alpha", "1"],
        ["kernel-ridge", "He3(z)", "--spike-exponent", "0.3", "--d", "500", "--alpha", "1"],
        ["layerwise", "tanh(z)", "--polynomial", "He2(z)", "--d", "40", "--alpha", "10"],
    ):
        assert run("predict", *words).code == 0


@pytest.mark.parametrize("name", LEARNERS)
def test_no_option_has_two_meanings(name: str) -> None:
    from learnability.cli.learner_options import argument_options, field_options, learner_options

    plain = {"question", "set", "seeds", "store", "workers", "scheduler", "emit-slurm", "out",
             "variable", "x", "help"}  # fmt: skip
    learner = LEARNERS[name]
    for verb in ("predict", "simulate", "plot"):
        names = [option.name for option in learner_options(learner, verb)]
        assert len(set(names)) == len(names) and not plain & set(names)
        assert not set(argument_options(learner, verb)) & set(field_options(learner))
