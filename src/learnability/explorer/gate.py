"""Who may ask: the token in the address, the Host and the Origin, and what a page may load.

Another page in the same browser can send requests to 127.0.0.1, or reach it under a name of its
own. Such a page does not know the token and names another Host or Origin: it is answered with 403.
"""

from __future__ import annotations

import hmac
from typing import Any
from urllib.parse import urlsplit

from tornado import web

__all__ = ["HEADERS", "Gate", "Refused"]

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "learnability",
}
"""The headers of every answer."""
_OWN_NAMES = ("127.0.0.1", "localhost")


class Gate(web.RequestHandler):
    """What every handler inherits: the checks, the headers, and errors as sentences."""

    def set_default_headers(self) -> None:
        """Set the headers of every answer."""
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Refuse a request that does not come from the page itself.

        Raises
        ------
        HTTPError
            The status is 403 for a wrong token, Host or Origin.
        """
        token = self.path_args[0] if self.path_args else ""
        if not hmac.compare_digest(str(token).encode(), self.settings["token"].encode()):
            raise web.HTTPError(403, reason="Forbidden")
        if not self._own(self.request.host, None):
            raise web.HTTPError(403, reason="Forbidden")
        headers = self.request.headers
        origin = headers.get("Origin")
        site = headers.get("Sec-Fetch-Site", "same-origin")
        if origin is not None and not self._own(urlsplit(origin).netloc, urlsplit(origin).scheme):
            raise web.HTTPError(403, reason="Forbidden")
        if site not in ("same-origin", "none"):
            raise web.HTTPError(403, reason="Forbidden")

    def _own(self, place: str, scheme: str | None) -> bool:
        """Whether a host and port, and the scheme of an origin, are those of this server."""
        name, _, port = place.rpartition(":")
        own = name in _OWN_NAMES and port == str(self.settings["port"]())
        return own and scheme in (None, "http")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer a refusal with a sentence instead of a page of the server.

        Parameters
        ----------
        status_code : int
            The status of the answer.
        **kwargs
            These are not used.
        """
        told = {
            403: "This address is not that of the explorer: open the one that it printed.",
            404: "There is no such page.",
            405: "This address does not take such a request.",
            413: "The request is too large.",
        }
        self.finish({"error": told.get(status_code, "The request could not be answered.")})


class Refused(Gate):
    """The handler of every other address."""

    def prepare(self) -> None:
        """Refuse the request.

        Raises
        ------
        HTTPError
            The status is 403, so that an address without the token reveals nothing.
        """
        raise web.HTTPError(403, reason="Forbidden")
