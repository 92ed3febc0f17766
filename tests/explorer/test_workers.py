"""Processes are held to their limits, and another takes the place of one that was stopped."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from learnability.errors import LearnabilityError
from learnability.explorer.limits import Limits, Request
from learnability.explorer.workers import Crew

PARSE = Request("parse", "", {"expression": "z1*z2"}).to_dict()
LONG = Request("simulate", "bayes-amp", {"expression": "abs(z)", "alpha": "1", "runs": "4",
                                         "d": "2000", "seeds": "40"}).to_dict()  # fmt: skip


async def told(crew: Crew, request: dict[str, Any]) -> list[Any]:
    async with aclosing(crew.ask(request)) as messages:
        return [message async for message, _ in messages]


@pytest.mark.parametrize(
    "limits, sentence",
    [
        (Limits(seconds=1, spare=0), "more than 1 seconds and was stopped"),
        (Limits(cpu_seconds=1, spare=0), "more than 1 seconds of processor time"),
    ],
)
def test_a_job_beyond_its_limits_is_stopped_and_the_next_is_answered(
    limits: Limits, sentence: str
) -> None:
    async def tried() -> None:
        crew = Crew("reader", 1, limits)
        crew.start()
        try:
            with pytest.raises(LearnabilityError, match=sentence):
                await told(crew, LONG)
            assert (await crew.one(PARSE))[0]["r"] == 2
            assert len(crew.processes) == 1
        finally:
            await crew.close()
        assert crew.processes == []

    asyncio.run(tried())


def test_too_many_requests_are_told_so() -> None:
    async def tried() -> None:
        crew = Crew("reader", 1, Limits(waiting=0))
        with pytest.raises(LearnabilityError, match="waiting already"):
            await told(crew, PARSE)

    asyncio.run(tried())


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="Linux tells what was set")
def test_threads_of_a_process_wait_asleep(monkeypatch: pytest.MonkeyPatch) -> None:
    async def told_of() -> bytes:
        crew = Crew("reader", 1, Limits(spare=0))
        crew.start()
        try:
            await crew.one(PARSE)
            return Path(f"/proc/{crew.processes[0]}/environ").read_bytes()
        finally:
            await crew.close()

    assert b"OPENBLAS_THREAD_TIMEOUT=4\0" in asyncio.run(told_of())
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "20")
    assert b"OPENBLAS_THREAD_TIMEOUT=20\0" in asyncio.run(told_of())
