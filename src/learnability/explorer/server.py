"""The server of the page: it listens on 127.0.0.1 only, and other processes compute for it.

Addresses are /TOKEN/PAGE, /TOKEN/static/FILE and /TOKEN/api/VERB. Long answers are server-sent
events; a page that closes its request stops the job.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from tornado import httpserver, iostream, netutil, web

from learnability.errors import LearnabilityError
from learnability.explorer.frames import as_line
from learnability.explorer.gate import Gate, Refused
from learnability.explorer.kept_results import KEPT, Kept, KeptResults
from learnability.explorer.limits import LIMITS, Limits, Request, read_request
from learnability.explorer.workers import Crew

__all__ = ["PAGES", "Explorer"]

PAGES = ("explore", "race", "compare", "gallery", "depth", "structured", "data", "study")
"""The pages, in the order in which a user meets them."""
STATIC = Path(__file__).parent / "static"
_QUICK = ("parse", "words")
"""Verbs that a process of their own answers while others compute."""
_SLOW = ("hardness", "catalogue", "predict", "simulate", "study")
_TABLES = ("columns", "fit")
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_LARGEST_JSON = 2**17
_FILES = {
    "csv": "text/csv; charset=utf-8",
    "nc": "application/x-netcdf",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
}


class Page(Gate):
    """The one page, whatever part of it is open."""

    def get(self, token: str, name: str = "") -> None:
        """Answer with the page; its state is in the address.

        Parameters
        ----------
        token, name : str
            Parts of the address.
        """
        if not name:
            self.redirect(f"/{token}/explore")
            return
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish((STATIC / "index.html").read_bytes())


class Static(Gate, web.StaticFileHandler):
    """The files of the front end."""

    async def get(self, token: str, path: str, include_body: bool = True) -> None:  # type: ignore[override]
        """Answer with a file.

        Parameters
        ----------
        token, path : str
            Parts of the address.
        include_body : bool
            As in Tornado.
        """
        await web.StaticFileHandler.get(self, path, include_body)

    def get_content_type(self) -> str:
        """The type of the file, whatever the system's own table says."""
        suffix = Path(str(self.absolute_path)).suffix
        return _TYPES.get(suffix, "text/plain; charset=utf-8")


class Asks(Gate):
    """What handlers of requests share."""

    @property
    def explorer(self) -> Explorer:
        """The server."""
        found: Explorer = self.settings["explorer"]
        return found

    def request_of(self, verbs: tuple[str, ...]) -> Request:
        """The request in the body.

        Parameters
        ----------
        verbs : tuple of str
            The verbs that this address answers.

        Raises
        ------
        LearnabilityError
            When the body is not such a request.
        """
        if self.request.headers.get("Content-Type", "").split(";")[0] != "application/json":
            raise LearnabilityError("A request is JSON, with its Content-Type.")
        if len(self.request.body) > _LARGEST_JSON:
            raise LearnabilityError(f"A request has at most {_LARGEST_JSON} bytes.")
        try:
            given = json.loads(self.request.body)
        except (ValueError, RecursionError):
            raise LearnabilityError("The request is not JSON.") from None
        return checked_verb(read_request(given, self.explorer.limits), verbs)


def checked_verb(request: Request, verbs: tuple[str, ...]) -> Request:
    """The request, if its verb is one of those given.

    Raises
    ------
    LearnabilityError
        When it is not.
    """
    if request.verb not in verbs:
        told = ", ".join(verbs)
        raise LearnabilityError(f"The verb {request.verb!r} was given, but {told} are accepted.")
    return request


class Quick(Asks):
    """Short answers: formulas while they are typed, and the texts that a user copies."""

    async def post(self, token: str) -> None:
        """Answer with one object; a refusal is an answer too.

        Parameters
        ----------
        token : str
            The token of the address.
        """
        try:
            request = self.request_of(_QUICK)
            found, _ = await self.explorer.readers.one(request.to_dict())
        except LearnabilityError as error:
            found = {"event": "error", "sentence": str(error)}
        self.set_header("Content-Type", "application/json")
        self.finish(as_line(found))


class Declared(Asks):
    """What the page is made of."""

    async def get(self, token: str) -> None:
        """Answer with the declarations of the library.

        Parameters
        ----------
        token : str
            The token of the address.
        """
        self.set_header("Content-Type", "application/json")
        self.finish(await self.explorer.declarations())


class Stream(Asks):
    """Long answers, event by event; a request that is closed stops its job."""

    _task: asyncio.Task[None] | None = None

    async def post(self, token: str) -> None:
        """Answer with server-sent events.

        Parameters
        ----------
        token : str
            The token of the address.
        """
        self.set_header("Content-Type", "text/event-stream")
        self._task = asyncio.ensure_future(self._told())
        try:
            await self._task
        except (asyncio.CancelledError, iostream.StreamClosedError):
            return
        if not self._finished:
            self.finish()

    def on_connection_close(self) -> None:
        """Stop the job of a page that does not listen any more."""
        if self._task is not None:
            self._task.cancel()

    async def _told(self) -> None:
        try:
            async with aclosing(self._events()) as events:
                async for line in events:
                    self.write(b"data: " + line + b"\n\n")
                    await self.flush()
        except LearnabilityError as error:
            self.write(b"data: " + as_line({"event": "error", "sentence": str(error)}) + b"\n\n")
            self.write(b"data: " + as_line({"event": "end"}) + b"\n\n")

    async def _events(self) -> AsyncGenerator[bytes, None]:
        """Lines of JSON, from an answer that was kept or from a worker."""
        request = self.request_of(_SLOW)
        async with aclosing(self.explorer.answer(request)) as lines:
            async for line in lines:
                yield line


class Dropped(Stream):
    """Tables: the body is the file, and the address says what is asked of it."""

    async def _events(self) -> AsyncGenerator[bytes, None]:
        if self.request.headers.get("Content-Type", "") != "application/octet-stream":
            raise LearnabilityError("A table is sent as application/octet-stream.")
        values = {name: self.get_query_argument(name) for name in self.request.query_arguments}
        given = {"verb": values.pop("verb", ""), "values": values}
        request = checked_verb(read_request(given, self.explorer.limits), _TABLES)
        body = self.request.body
        async with aclosing(self.explorer.solvers.ask(request.to_dict(), body)) as messages:
            async for message, _ in messages:
                yield as_line(message)


class File(Asks):
    """Files of results that were computed before."""

    async def post(self, token: str) -> None:
        """Answer with the file, or with a sentence.

        Parameters
        ----------
        token : str
            The token of the address.
        """
        try:
            name, content = await self._made()
        except LearnabilityError as error:
            self.set_status(409)
            self.finish({"error": str(error)})
            return
        self.set_header("Content-Type", _FILES[name])
        self.set_header("Content-Disposition", f'attachment; filename="curve.{name}"')
        self.finish(content)

    async def _made(self) -> tuple[str, bytes]:
        values = self.request_of(("file",)).values
        kept = [self.explorer.kept.get(values.get(side, "")) for side in ("theory", "runs")]
        first, second = (b"" if one is None else one.blob for one in kept)
        asked = {"kind": values.get("kind", ""), "first": str(len(first))}
        asked |= {"variable": values["variable"]} if "variable" in values else {}
        request = Request("file", "", asked).to_dict()
        message, found = await self.explorer.solvers.one(request, first + second)
        if message["event"] == "error":
            raise LearnabilityError(message["sentence"])
        return asked["kind"], found


class Explorer:
    """The server with its processes.

    Parameters
    ----------
    port : int
        The port of the address; 0 takes a free one.
    limits : Limits
        The limits of every request.
    """

    def __init__(self, port: int = 0, limits: Limits = LIMITS) -> None:
        self.limits, self.token = limits, secrets.token_urlsafe(24)
        self.port = port
        self.kept = KeptResults()
        self._declared: asyncio.Task[bytes] | None = None

    async def start(self) -> None:
        """Listen, and warm the processes up.

        Raises
        ------
        LearnabilityError
            When the port is taken.
        """
        self.readers = Crew("reader", 1, self.limits)
        self.solvers = Crew("solver", self.limits.running, self.limits)
        try:
            sockets = netutil.bind_sockets(self.port, "127.0.0.1")
        except (OSError, OverflowError) as error:
            raise LearnabilityError(
                f"`--port` was given as {self.port}, but it cannot be used ({error}): give another,"
                " or none."
            ) from None
        self.port = sockets[0].getsockname()[1]
        self.readers.start()
        self.solvers.start()
        self._server = httpserver.HTTPServer(
            self.application(), max_body_size=self.limits.upload, max_header_size=2**16
        )
        self._server.add_sockets(sockets)

    @property
    def address(self) -> str:
        """Where the page is, with its token."""
        return f"http://127.0.0.1:{self.port}/{self.token}/explore"

    def application(self) -> web.Application:
        """The addresses."""
        token = r"/([\w-]*)"
        api = token + "/api"
        return web.Application(
            [
                (rf"{token}/?", Page),
                (rf"{token}/({'|'.join(PAGES)})", Page),
                (rf"{token}/static/(.*)", Static, {"path": str(STATIC)}),
                (rf"{api}/declarations", Declared),
                (rf"{api}/quick", Quick),
                (rf"{api}/ask", Stream),
                (rf"{api}/table", Dropped),
                (rf"{api}/file", File),
            ],
            default_handler_class=Refused,
            explorer=self,
            token=self.token,
            port=lambda: self.port,
            log_function=lambda handler: None,
        )

    async def declarations(self) -> bytes:
        """The declarations, which one worker computes once."""
        before = self._declared
        if before is None or (before.done() and before.exception() is not None):
            self._declared = asyncio.ensure_future(self._declare())
        assert self._declared is not None
        return await asyncio.shield(self._declared)

    async def _declare(self) -> bytes:
        found, _ = await self.readers.one(Request("declarations", "", {}).to_dict())
        return as_line(found)

    async def answer(self, request: Request) -> AsyncGenerator[bytes, None]:
        """Lines of the answer to a request, without work where it was answered before.

        Parameters
        ----------
        request : Request
            A request whose verb computes.
        """
        key = self.kept.key(request)
        before = self.kept.get(key)
        if before is not None:
            for line in before.events:
                yield line
            return
        lines, blob, sound = [], b"", False
        async with aclosing(self.solvers.ask(request.to_dict())) as messages:
            async for message, found in messages:
                line = as_line(_named(message, key))
                lines.append(line)
                blob = found or blob
                sound = sound or message["event"] in ("result", "card")
                sound = sound and message["event"] != "error"
                yield line
        if sound and request.verb in KEPT:
            self.kept.keep(key, Kept(tuple(lines), blob))

    async def close(self) -> None:
        """Stop listening, and stop all processes."""
        self._server.stop()
        await self._server.close_all_connections()
        await asyncio.gather(self.readers.close(), self.solvers.close())


def _named(message: dict[str, Any], key: str) -> dict[str, Any]:
    """A result with the name under which its file can be asked for."""
    return {**message, "key": key} if message["event"] == "result" else message
