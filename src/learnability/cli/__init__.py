"""The command line: one verb a question."""

from learnability.cli.commands import app, main

__all__ = ["app", "main"]
