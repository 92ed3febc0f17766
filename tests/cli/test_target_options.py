"""The target that the options of a command describe."""

from __future__ import annotations

from typing import Any

import pytest

from learnability import BayesAMP, Layerwise
from learnability.cli.target_options import input_options, target_from, target_options, tree_options
from learnability.errors import LearnabilityError
from learnability.fields import declared
from learnability.inputs import INPUTS, PowerLaw, Signs, Spiked
from learnability.targets import Hierarchical, MultiIndex, SparseParity, SpikedIndex


@pytest.mark.parametrize(
    ("expression", "options", "expected"),
    [
        ("z1*z2", {}, MultiIndex("z1*z2")),
        ("z1*z2", {"inputs": "isotropic"}, MultiIndex("z1*z2")),
        ("He3(z)", {"spike": "2.0"}, SpikedIndex("He3(z)", 2.0)),
        (
            "He3(z)",
            {"spike_exponent": "0.5", "alignment": "0.5"},
            SpikedIndex("He3(z)", None, 0.5, spike_exponent=0.5),
        ),
        ("z1*z2", {"spike": "1,2"}, MultiIndex("z1*z2", inputs=Spiked((1.0, 2.0)))),
        ("z1*z2*z3", {"anisotropy": "0.5"}, SparseParity(3, 0.5)),
        ("z1 + z2", {"inputs": "signs"}, MultiIndex("z1 + z2", inputs=Signs())),
        ("z", {"power_law": "1.5"}, MultiIndex("z", inputs=PowerLaw(1.5))),
        ("tanh(z)", {"polynomial": "He3(z)"}, Hierarchical("tanh(z)", "He3(z)")),
        (
            "tanh(z)",
            {"polynomial": "He3(z)", "directions": "9"},
            Hierarchical("tanh(z)", "He3(z)", N=9),
        ),
        ("tanh(z)", {"depth": "4"}, Hierarchical("tanh(z)", depth=4)),
        ("tanh(z)", {"signs": "ones"}, Hierarchical("tanh(z)", signs="ones")),
    ],
)
def test_options_choose_the_target(
    expression: str, options: dict[str, Any], expected: object
) -> None:
    assert target_from(expression, options) == expected


def test_a_learner_chooses_when_nothing_is_said() -> None:
    assert target_from("tanh(z)", {}, Layerwise) == Hierarchical("tanh(z)", "He2(z)")
    assert target_from("tanh(z)", {}, BayesAMP) == MultiIndex("tanh(z)")
    taken = frozenset({"depth"})
    assert "target-depth" in {option.name for option in target_options(Layerwise, taken)}
    deeper = target_from("z", {"target_depth": "4", "depth": "3"}, Layerwise, taken)
    assert deeper == Hierarchical("z", depth=4)


def test_noise_is_that_of_the_target() -> None:
    for options in ({}, {"spike": "1.0"}, {"polynomial": "He2(z)"}):
        assert target_from("tanh(z)", {"noise": "0.3", **options}).noise == 0.3


def test_every_declared_field_has_its_option() -> None:
    names = [option.name for option in target_options()]
    assert len(set(names)) == len(names)
    laws = {(kind, field.name) for kind, law in INPUTS.items() for field, _ in declared(law)}
    assert set(input_options()) == laws
    assert set(tree_options()) | {"noise"} == {field.name for field, _ in declared(Hierarchical)}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"polynomial": "He2(z)", "spike": "1.0"}, "belong to different targets"),
        ({"spike": "1.0", "anisotropy": "0.5"}, "belong to different inputs: spiked and signs"),
        ({"spike": "1.0", "inputs": "signs"}, "`--inputs` and `--spike` were given"),
        ({"inputs": "cubic"}, "`--inputs` was given as 'cubic', but one of isotropic"),
        ({"alignment": "0.5"}, "Give either `--spike`, that of the spikes, or `--spike-exponent`"),
        ({"spike": "1.0", "alignment": "1.5"}, "`--alignment` was given as 1.5, but a cosine"),
        ({"spike": "1.0", "alignment": "x"}, "`--alignment` was given as 'x'"),
        ({"noise": "-1"}, "`--noise` was given as -1"),
        ({"epsilon": "0.5", "directions": "4"}, "`--epsilon` and `--directions` were both given"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], words: str) -> None:
    with pytest.raises(LearnabilityError, match=words):
        target_from("z1*z2", options)
