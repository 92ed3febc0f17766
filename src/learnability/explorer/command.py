"""The verb ``learnability explore``: it starts the server, opens the page and waits."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import webbrowser
from typing import Any

import typer

from learnability.cli.options import command, plain_option
from learnability.errors import refuse

__all__ = ["make"]


def make(verb: str, help: str) -> Any:
    """The command of the verb.

    Parameters
    ----------
    verb, help : str
        The name of the verb, and the sentence that describes it.
    """
    parameters = [
        plain_option("port", int, 0, metavar="N", help="The port. [default: a free one]"),
        plain_option("no-browser", bool, False, help="Print the address only."),
    ]  # fmt: skip
    return command(verb, help, parameters, _explore)


def _explore(values: dict[str, Any]) -> None:
    port = values["port"]
    if not 0 <= port < 2**16:
        raise refuse("--port", port, "a whole number from 0, which takes a free one, to 65535")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(port, not values["no_browser"]))


async def _serve(port: int, browser: bool) -> None:
    """Serve until the user stops it."""
    from learnability.explorer.server import Explorer

    explorer = Explorer(port)
    await explorer.start()
    stopped = asyncio.Event()
    with contextlib.suppress(NotImplementedError):  # Windows has no such handlers.
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    typer.echo(f"The explorer is open at {explorer.address}")
    typer.echo("Control-C stops it; nothing leaves this machine.", err=True)
    if browser:
        asyncio.get_running_loop().run_in_executor(None, webbrowser.open, explorer.address)
    try:
        await stopped.wait()
    finally:
        await explorer.close()
