"""The command line, made from the declarations of learners, targets, inputs and questions."""

from learnability.cli.program import app, main

__all__ = ["app", "main"]
