"""Runs the Python of the guide and writes below each block what it prints.

`python docs/make_outputs.py` runs every page of docs/guide, or those that are named, and puts the
output of a block, and the value of its last line where it is short, into a block `output` after it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).resolve().parent / "guide"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```output\n.*?^```\n)?", re.MULTILINE | re.DOTALL)
MOST = 15
"""Lines of a value that is still shown."""


def shown(code: str, names: dict[str, Any]) -> str:
    """Run a block of a page and return what a reader would see."""
    tree = ast.parse(code)
    last = tree.body[-1] if isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(ast.Module(tree.body[:-1] if last else tree.body, []), "page", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "page", "eval"), names) if last else None
        if value is not None and len(repr(value).splitlines()) <= MOST:
            print(repr(value))
    return "\n".join(line.rstrip() for line in said.getvalue().strip("\n").splitlines())


def with_outputs(text: str) -> str:
    """The text of a page, with what its blocks show."""
    names: dict[str, Any] = {}

    def block(found: re.Match[str]) -> str:
        output = shown(found[1], names)
        return f"```python\n{found[1]}```\n" + (f"\n```output\n{output}\n```\n" if output else "")

    return BLOCK.sub(block, text)


def main(pages: list[str]) -> None:
    """Write the pages anew."""
    for path in sorted(GUIDE.glob("*.md")):
        if pages and path.stem not in pages:
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            os.environ["MPLBACKEND"] = "Agg"
            text = with_outputs(path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        print(path.name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
