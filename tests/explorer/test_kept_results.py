"""Answers that are kept, messages in pipes, and the verb that starts the server."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from learnability.cli import app
from learnability.errors import LearnabilityError
from learnability.explorer.frames import packed, plain, receive_now
from learnability.explorer.kept_results import Kept, KeptResults
from learnability.explorer.limits import Request


def test_the_same_request_has_the_same_name() -> None:
    one = Request("predict", "bayes-amp", {"a": "1", "b": "2"})
    assert KeptResults.key(one) == KeptResults.key(
        Request("predict", "bayes-amp", {"b": "2", "a": "1"})
    )
    for other in (Request("predict", "bayes-amp", {"a": "1", "b": "3"}),
                  Request("simulate", "bayes-amp", one.values),
                  Request("predict", "spectral", one.values)):  # fmt: skip
        assert KeptResults.key(one) != KeptResults.key(other)


def test_what_was_not_used_for_the_longest_time_goes() -> None:
    kept = KeptResults(most=100)
    for name in ("a", "b"):
        kept.keep(name, Kept((b"x" * 30,), b"y" * 10))
    assert kept.get("a") is not None
    kept.keep("c", Kept((b"x" * 30,), b""))
    assert kept.get("b") is None and kept.get("a") is not None and kept.get("c") is not None
    kept.keep("d", Kept((b"x" * 300,), b""))
    assert kept.get("d") is None and kept.get("a") is not None


def test_messages_go_through_a_pipe() -> None:
    file = io.BytesIO(packed({"event": "a", "text": "x\ny"}, b"\n\0\n") + packed({"event": "b"}))
    assert receive_now(file) == ({"event": "a", "text": "x\ny"}, b"\n\0\n")
    assert receive_now(file) == ({"event": "b"}, b"")
    with pytest.raises(EOFError):
        receive_now(file)


def test_what_is_not_finite_is_none() -> None:
    found = plain(
        {"a": np.array([1.0, np.nan]), "b": (math.inf, np.float32(0.5)), "c": np.int64(3)}
    )
    assert found == {"a": [1.0, None], "b": [None, 0.5], "c": 3}


@pytest.mark.parametrize("port", ["-1", "65536", "99999999"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    found = CliRunner().invoke(app, ["explore", "--no-browser", f"--port={port}"])
    assert isinstance(found.exception, LearnabilityError) and "--port" in str(found.exception)
