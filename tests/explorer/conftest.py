"""One server for the tests of a file, in a loop of its own thread, with few processes."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from learnability.explorer import Explorer
from learnability.explorer.limits import Limits


class Running:
    """A server that is running, and a client of it."""

    def __init__(self, explorer: Explorer, loop: asyncio.AbstractEventLoop) -> None:
        self.explorer, self.loop = explorer, loop
        self.base = explorer.address.rsplit("/", 1)[0]

    def open(self, path: str, body: Any = None, **headers: str) -> tuple[int, bytes, Any]:
        """Status, body and headers of the answer."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        kind = {"Content-Type": "application/json"} if data is not None else {}
        address = path if path.startswith("http") else f"{self.base}/{path}"
        request = urllib.request.Request(address, data, {**kind, **headers})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read(), error.headers

    def events(self, path: str, body: Any, **headers: str) -> list[Any]:
        """The events of a long answer."""
        _, text, _ = self.open(path, body, **headers)
        return [json.loads(part[6:]) for part in text.decode().split("\n\n") if part]

    def call(self, coroutine: Any) -> Any:
        """Run a coroutine in the loop of the server."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)


def serve(limits: Limits) -> Iterator[Running]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    explorer = Explorer(limits=limits)
    running = Running(explorer, loop)
    running.call(explorer.start())
    running.base = explorer.address.rsplit("/", 1)[0]
    yield running
    running.call(explorer.close())
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    yield from serve(Limits(running=1, spare=0))
