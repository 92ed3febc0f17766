"""Latency and load of the explorer: a server in a process of its own, asked over loopback.

Latency is that of warm processes and new requests, in seconds until the first event that says
something: that the report is being computed or a first estimate, the report, the first point of the
theory with its error, the first run. Load is 10^4 requests from this process, eight at a time;
memory is the resident size of the server alone, read from /proc. `--quick` takes a part of the
catalogue and 1000 requests; names of links take these alone. A link that is refused has the seconds
until its sentence, which is no miss when it comes at once. What else runs on the machine is said
first: the bars are those of two quiet cores. The server ends with this process, however that ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tornado.httpclient import AsyncHTTPClient, HTTPRequest

from learnability.labels import CATALOGUE
from learnability.targets import MultiIndex

QUICK = "--quick" in sys.argv
NAMED = [word for word in sys.argv[1:] if not word.startswith("-")]
LINKS = [e for e in CATALOGUE if e.name in NAMED] or (CATALOGUE[::4] if QUICK else CATALOGUE)
REQUESTS = 1000 if QUICK else 10_000
PAGES, AT_A_TIME = 50, 8
LONGEST = 120.0
WARM = 5.0
"""Seconds that a new process takes until it is warm."""
WANTED = {"first": 1.0, "facts": 0.5, "theory": 1.0, "cross": 3.0}
"""Seconds until each; facts are wanted so soon for one direction and finite labels alone."""


class Client:
    """A client of one server."""

    def __init__(self, base: str) -> None:
        AsyncHTTPClient.configure(None, max_clients=2 * PAGES + 2 * AT_A_TIME)
        self.base, self.http = base, AsyncHTTPClient()

    async def quick(self, text: str) -> float:
        """Seconds until a formula is typeset."""
        began = time.perf_counter()
        found = await self._post("api/quick", {"verb": "parse", "values": {"expression": text}})
        assert json.loads(found)["event"] == "result", found
        return time.perf_counter() - began

    async def _post(self, path: str, body: Any) -> bytes:
        kind = {"Content-Type": "application/json"}
        request = HTTPRequest(f"{self.base}/{path}", "POST", kind, json.dumps(body),
                              request_timeout=LONGEST)  # fmt: skip
        return (await self.http.fetch(request)).body

    async def heard(self, body: Any, *last: str) -> dict[str, Any]:
        """Seconds until the first event of each kind up to a last one; the sentence of an error.

        The connection is closed then, as a page does that wants no more. This stops the process,
        unless it has told its end.
        """
        place = urlsplit(self.base)
        began, heard, text = time.perf_counter(), {}, json.dumps(body)
        reader, writer = await asyncio.open_connection(place.hostname, place.port, limit=2**26)
        head = [f"POST {place.path}/api/ask HTTP/1.1", f"Host: {place.netloc}",
                "Content-Type: application/json", f"Content-Length: {len(text)}",
                "", text]  # fmt: skip
        writer.write("\r\n".join(head).encode())
        while not {*last, "end"} & set(heard) and (line := await reader.readline()):
            if line.startswith(b"data: "):
                message = json.loads(line[6:])
                heard.setdefault(message["event"], time.perf_counter() - began)
                heard |= {name: message[name] for name in ("sentence", "facts") if name in message}
        writer.close()
        return heard

    async def first(self, body: Any, *wanted: str) -> float:
        """Seconds until the first event of some kinds, or until a refusal; nan where none comes."""
        heard = await self.heard(body, *wanted)
        times = [heard[word] for word in wanted if word in heard]
        if not times and "error" in heard:
            print(f"    refused after {heard['error']:.2f} s: {heard['sentence']}")
            return float(heard["error"])
        return min(times, default=float("nan"))


def end_with_parent() -> None:
    """Let Linux end this process when the one that started it has ended, even by a kill."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # 1 is PR_SET_PDEATHSIG.


def resident(pid: int) -> float:
    """Megabytes of a process."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


@contextlib.asynccontextmanager
async def served() -> AsyncIterator[tuple[Client, int]]:
    words = [sys.executable, "-m", "learnability", "explore", "--no-browser"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, preexec_fn=end_with_parent
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split()[-1]
            client = Client(address.rsplit("/", 1)[0])
            await client.http.fetch(f"{client.base}/api/declarations", request_timeout=LONGEST)
            await client.first({"verb": "hardness", "values": {"expression": "z"}}, "end")
            await asyncio.sleep(3 * WARM)  # Its processes start one after the other.
            yield client, process.pid
        finally:
            process.terminate()


def grids_of(facts: Any) -> dict[str, str]:
    """The grids that the page takes where its user gives none."""
    steps = facts.get("staircase", [])
    opened = [step.get("alpha_self_consistent") or step["alpha"] or 0.0 for step in steps]
    end = float(f"{1.6 * max(1.0, *opened):.2g}") if opened else 1.6
    return {"alpha": f"{end / 24:.3g}:{end}:24", "runs": f"{end / 6:.3g}:{end}:6"}


async def latencies(client: Client) -> None:
    parsed = [await client.quick(entry.text) for entry in LINKS for _ in range(5)]
    print(f"typeset formula: median {1e3 * statistics.median(parsed):.1f} ms, "
          f"largest {1e3 * max(parsed):.1f} ms (wanted: 100)")  # fmt: skip
    print(f"{'link':22}{'first':>8}{'facts':>8}{'theory':>8}{'cross':>8}   (wanted: 1, 0.5 for one "
          "direction and finite labels, 1, 3 s)")  # fmt: skip
    missed: dict[str, list[str]] = {word: [] for word in WANTED}
    for entry in LINKS:
        values = {"expression": entry.text} | ({"noise": str(entry.noise)} if entry.noise else {})
        heard = await client.heard({"verb": "hardness", "values": values}, "end")
        told = [heard.get(word, float("nan")) for word in ("started", "result")]
        sizes = grids_of(heard.get("facts", {})) | {"d": "200", "seeds": "3"}
        curve = {"learner": "bayes-amp", "values": {**values, **sizes}}
        cross = await client.first({"verb": "simulate", **curve}, "run")
        theory = await client.first({"verb": "predict", **curve}, "sketch", "points")
        await asyncio.sleep(WARM)  # The process of the rest of the theory was stopped.
        found = dict(zip(WANTED, (*told, theory, cross), strict=True))
        for word, seconds in found.items():
            if not seconds <= WANTED[word] and (word != "facts" or _soon(entry)):
                missed[word].append(entry.name)
        row = "".join(f"{one:8.2f}" for one in found.values())
        print(f"{entry.name:22}{row}", flush=True)
    for word, names in missed.items():
        print(f"later than {WANTED[word]:g} s, {word}: {', '.join(names) or 'none'}")


def _soon(entry: Any) -> bool:
    """Whether a link has one direction or finitely many labels."""
    link = MultiIndex(entry.text).link
    return link.r == 1 or link.values is not None


async def crowd(client: Client) -> None:
    """Fifty pages with two jobs each, while somebody types."""
    jobs = [
        asyncio.ensure_future(client.first({"verb": "hardness", "values": {
            "expression": f"z1**2 + {k}*sign(z1*z2) + {j}*z2"}}, "end"))
        for k in range(1, PAGES + 1) for j in (1, 2)
    ]  # fmt: skip
    await asyncio.sleep(0.5)
    typed = []
    while not all(job.done() for job in jobs) and len(typed) < 200:
        typed.append(await client.quick(f"z1 + {len(typed)}*z2"))
        await asyncio.sleep(0.05)
    print(f"typeset formula beside {2 * PAGES} jobs: median {1e3 * statistics.median(typed):.0f} "
          f"ms, largest {1e3 * max(typed):.0f} ms (wanted: 300)")  # fmt: skip
    for job in jobs:
        job.cancel()
    await asyncio.gather(*jobs, return_exceptions=True)


async def load(client: Client, pid: int) -> None:
    before, failed, waiting = resident(pid), 0, iter(range(REQUESTS))

    async def one_after_the_other() -> None:
        nonlocal failed
        for number in waiting:
            try:
                await client.quick(f"z1 + {number}*z2")
            except Exception:
                failed += 1

    began = time.perf_counter()
    await asyncio.gather(*(one_after_the_other() for _ in range(AT_A_TIME)))
    spent = time.perf_counter() - began
    print(f"{REQUESTS} requests: {REQUESTS / spent:.0f} a second, {failed} failed, the server grew "
          f"by {resident(pid) - before:.1f} MB (wanted: 0 failed, below 100 MB)")  # fmt: skip


async def main() -> None:
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    async with served() as (client, pid):
        await latencies(client)
        await load(client, pid)
        await crowd(client)


asyncio.run(main())
