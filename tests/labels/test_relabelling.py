"""The simplest label with the same level sets."""

from __future__ import annotations

import pytest

from learnability.labels import Link
from learnability.labels.relabelling import plain_label


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("3 - z**2*exp(-z**2)", "z**2*exp(-z**2)"),
        ("tanh(z**2 - 1)", "z**2"),
        ("exp(z**2/5)", "z**2"),
        ("1/(1 + z**2)", "z**2"),
        ("tanh(5*z)**2", "z**2"),
        ("abs(z1*z2)**3", "abs(z1*z2)"),
        ("sqrt(2)*sign(z1*z2) + 1", "sign(z1*z2)"),
        ("(z1*z2)**4", "(z1*z2)**2"),
    ],
)
def test_outer_functions_that_are_one_to_one_go(text: str, plain: str) -> None:
    assert plain_label(Link(text)) == Link(plain)


@pytest.mark.parametrize("text", ["z**2", "cos(z)", "relu(z - 1)", "z1 + z2**2", "0*z", "sign(z)"])
def test_others_stay(text: str) -> None:
    assert plain_label(Link(text)) == Link(text)


def test_functions_and_random_labels_stay() -> None:
    function = Link(lambda z: 3 + z[..., 0], r=1)
    assert plain_label(function) is function
    random = Link("tanh(z + xi)")
    assert plain_label(random) is random
