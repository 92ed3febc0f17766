"""What a parameter is from one process to the next."""

from __future__ import annotations

import functools
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from learnability import BayesAMP, LearnabilityError, Link, MultiIndex, Spectral
from learnability.studies.identity import described, identity, kind_of

SCALE = 2.0


def scaled(z):  # type: ignore[no-untyped-def]
    return SCALE * helper(z[..., 0])


def helper(x):  # type: ignore[no-untyped-def]
    return np.tanh(x)


def make(factor):  # type: ignore[no-untyped-def]
    return lambda z: factor * z[..., 0]


def test_numbers_are_what_they_are_worth() -> None:
    assert identity(2.0) == identity(2) == identity(np.float64(2)) == identity(np.int32(2)) == 2
    assert identity(0.1) == identity(np.float64(0.1)) != identity(np.float32(0.1))
    assert identity(True) is True and identity(None) is None and identity("a") == "a"
    assert identity(math.inf) != identity(-math.inf) != identity(math.nan)
    assert identity(np.array([1.0, 2.0])) != identity(np.array([[1.0, 2.0]]))
    json.dumps(identity([math.nan, {"a": (1, 2)}, {3, 1}, 1j]), allow_nan=False)


def test_records_by_class_version_and_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    assert identity(BayesAMP()) == identity(BayesAMP(damping=0.5))
    assert identity(BayesAMP()) != identity(BayesAMP(damping=0.6))
    assert kind_of(Spectral()) == "learnability.Spectral"
    before = identity(Spectral())
    monkeypatch.setattr(Spectral, "numerics_version", Spectral.numerics_version + 1)
    assert identity(Spectral()) != before


def test_links_by_their_formula() -> None:
    assert identity(Link("z1*z2")) == identity(Link("z1 * z2")) != identity(Link("z1*z2", r=3))
    assert identity(MultiIndex("z")) != identity(MultiIndex("z", noise=0.1))


def test_functions_by_what_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert identity(make(2.0)) == identity(make(2)) != identity(make(3.0))
    assert identity(lambda z: z[..., 0]) != identity(lambda z: z[..., 1])
    before = identity(scaled)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert identity(scaled) != before
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert identity(scaled) == before
    monkeypatch.setitem(globals(), "helper", lambda x: x)
    assert identity(scaled) != before
    bound = functools.partial(scaled)
    assert identity(bound) != identity(functools.partial(helper))
    assert identity(np.tanh) == {"function": "numpy.tanh"}
    assert identity(Link(make(2.0), r=1, breaks=[0.0])) != identity(Link(make(2.0), r=1))


def test_a_function_that_calls_itself() -> None:
    def down(n):  # type: ignore[no-untyped-def]
        return 0 if n == 0 else down(n - 1)

    json.dumps(identity(down))


def test_what_cannot_be_recognised_ends_in_a_sentence() -> None:
    lock = object()
    with pytest.raises(LearnabilityError, match="leave out `store`"):
        identity(lambda z: (lock, z))
    with pytest.raises(LearnabilityError, match="leave out `store`"):
        identity(object())


def test_another_process_finds_the_same() -> None:
    code = (
        "import json, tests.studies.test_identity as t\n"
        "from learnability.studies.identity import identity\n"
        "print(json.dumps([identity(t.scaled), identity(t.make(0.5)), identity(t.BayesAMP())]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == json.loads(
        json.dumps([identity(scaled), identity(make(0.5)), identity(BayesAMP())])
    )


def test_labels_of_coordinates() -> None:
    assert [described(v) for v in (1, np.float64(0.5), "a", None, True)] == [
        1, 0.5, "a", "None", "True",
    ]  # fmt: skip
    assert described(Link("z1*z2")) == "z1 * z2" or described(Link("z1*z2")) == "z1*z2"
