"""Mutation testing of the numerics: do the unit tests of a room notice a small change of it?

`python -m tests.tools.mutate --count 60 --seed 0` picks mutants at random in the rooms of numerics,
applies each to a copy of the project, runs the tests that mirror its room, and says which were
killed and which survived, with their differences. A mutant is one change of one node: another
arithmetic operator, another comparison, a constant moved, a sign turned, a range one longer.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path("src/learnability")
ROOMS = ("gaussian", "labels", "theory", "learners")
SHARED_LEARNERS = ("base",)
"""Rooms of learners without numerics of their own."""
IDLE = 6
"""Seconds of the clock for each CPU second allowed: a mutant that waits for ever is endless too."""

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


@dataclass(frozen=True)
class Mutant:
    """One change of one module.

    Attributes
    ----------
    path : str
        The module, from the root.
    place : int
        Number of the node in the order of `ast.walk`.
    kind : str
        What is changed.
    line : int
        Where.
    """

    path: str
    place: int
    kind: str
    line: int


# ---- changes


def changes(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    """What can be changed at a node, each with the function that does it."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        if not _is_text(node.left) and not _is_text(node.right):
            yield "arithmetic", _other_operator
    elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield "arithmetic", _other_operator
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        yield "comparison", _other_comparison
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", _plus
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "constant", _moved
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "range" and node.args:
        yield "range", _longer


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _other_operator(node: ast.AST) -> None:
    assert isinstance(node, ast.BinOp | ast.AugAssign)
    node.op = ARITHMETIC[type(node.op)]()


def _other_comparison(node: ast.AST) -> None:
    assert isinstance(node, ast.Compare)
    node.ops = [COMPARISONS[type(node.ops[0])]()]


def _plus(node: ast.AST) -> None:
    assert isinstance(node, ast.UnaryOp)
    node.op = ast.UAdd()


def _moved(node: ast.AST) -> None:
    assert isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    node.value = node.value + 1 if isinstance(node.value, int) else node.value * 1.5 + 0.1


def _longer(node: ast.AST) -> None:
    assert isinstance(node, ast.Call)
    last = min(len(node.args) - 1, 1)
    node.args[last] = ast.BinOp(node.args[last], ast.Add(), ast.Constant(1))


def passive(tree: ast.Module) -> set[int]:
    """Nodes that are no numerics: annotations, defaults of messages, raises, slices of text."""
    found: set[int] = set()
    for node in ast.walk(tree):
        skipped: list[ast.AST | None] = []
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
            skipped = [node]
        elif isinstance(node, ast.FunctionDef):
            skipped = [node.returns, *node.decorator_list]
        elif isinstance(node, ast.arg):
            skipped = [node.annotation]
        elif isinstance(node, ast.AnnAssign):
            skipped = [node.annotation]
            if "ClassVar" in ast.unparse(node.annotation):  # Declarations, not numerics.
                skipped.append(node.value)
        elif isinstance(node, ast.Call) and _declares(node):
            skipped = [node]
        for part in skipped:
            if part is not None:
                found |= {id(inner) for inner in ast.walk(part)}
    return found


def _declares(call: ast.Call) -> bool:
    """Whether a call declares a field or a question, which the conformance tests look after."""
    named = call.func.id if isinstance(call.func, ast.Name) else ""
    return named in {
        "number", "whole", "numbers", "choice", "flag", "declare", "function", "Question", "Side",
        "Support", "lru_cache",
    }  # fmt: skip


@lru_cache
def mutants(path: Path) -> list[Mutant]:
    """All mutants of a module."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    skipped = passive(tree)
    return [
        Mutant(str(path), place, kind, getattr(node, "lineno", 0))
        for place, node in enumerate(ast.walk(tree))
        if id(node) not in skipped
        for kind, _ in changes(node)
    ]


def mutated(text: str, mutant: Mutant) -> str:
    """The text of the module with the change, its other lines as they were."""
    tree = ast.parse(text)
    node = list(ast.walk(tree))[mutant.place]
    statement = _statement(tree, node)
    changed = copy.deepcopy(statement)
    inside = list(ast.walk(statement)).index(node)
    target = list(ast.walk(changed))[inside]
    next(change for kind, change in changes(target) if kind == mutant.kind)(target)
    lines = text.splitlines()
    first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno)
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    new = [indent + line for line in ast.unparse(ast.fix_missing_locations(changed)).splitlines()]
    return "\n".join([*lines[:first], *new, *lines[last:]]) + "\n"


def _statement(tree: ast.Module, node: ast.AST) -> ast.stmt:
    """The smallest statement around a node."""
    parents = {id(child): one for one in ast.walk(tree) for child in ast.iter_child_nodes(one)}
    while not isinstance(node, ast.stmt):
        node = parents[id(node)]
    return node


# ---- tests


def modules(rooms: tuple[str, ...]) -> list[Path]:
    """Modules of the rooms, without package fronts."""
    found = [
        path.relative_to(ROOT)
        for room in rooms
        for path in sorted((ROOT / SOURCE / room).rglob("*.py"))
        if path.name != "__init__.py"
    ]
    return [path for path in found if path.parts[3] not in SHARED_LEARNERS]


def room_of(path: str) -> Path:
    """The folder of tests that mirrors the room of a module; each family of learners is one."""
    parts = Path(path).relative_to(SOURCE).parts
    inner = parts[:2] if parts[0] == "learners" else parts[:1]
    return Path("tests", *inner)


def mirrors(path: str) -> list[str]:
    """The mirror of the module first, then the rest of its room: most mutants die at once."""
    room = room_of(path)
    own = room / f"test_{Path(path).stem.lstrip('_')}.py"
    first = [str(own)] if (ROOT / own).exists() else []
    return [*first, str(room)]


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: "killed", "survived", or "endless", which counts as killed."""

    mutant: Mutant
    end: str
    seconds: float
    difference: str


def judged(mutant: Mutant, limit: int) -> Outcome:
    """Apply a mutant to a copy and run the tests of its room, each part for so many CPU seconds."""
    text = (ROOT / mutant.path).read_text(encoding="utf-8")
    changed = mutated(text, mutant)
    shown = difflib.unified_diff(
        text.splitlines(), changed.splitlines(), mutant.path, mutant.path, lineterm="", n=0
    )
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("src", "tests", "pyproject.toml", "examples", "docs", "README.md"):
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "_build")
                shutil.copytree(source, place / name, ignore=ignored)
            elif source.exists():
                shutil.copy(source, place / name)
        (place / mutant.path).write_text(changed, encoding="utf-8")
        end = "survived"
        for tests in mirrors(mutant.path):
            found = _run(place, tests, limit)
            if found != "survived":
                end = found
                break
    return Outcome(mutant, end, time.monotonic() - start, "\n".join(shown))


def _run(place: Path, tests: str, limit: int) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(place / "src"),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    words = [sys.executable, "-m", "pytest", tests, "-x", "-q", "-p", "no:cacheprovider"]
    # CPU seconds, not those of the clock: a loaded machine would call slow tests endless.
    process = subprocess.Popen(
        words, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)),
    )  # fmt: skip
    try:
        code = process.wait(timeout=IDLE * limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # Its workers too.
        process.wait()
        return "endless"
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "endless"
    return "survived" if code == 0 else "killed"


def chosen(count: int, seed: int, rooms: tuple[str, ...]) -> list[Mutant]:
    """Mutants at random, modules weighted by how many they have."""
    every = [mutant for path in modules(rooms) for mutant in mutants(path)]
    return random.Random(seed).sample(every, min(count, len(every)))


def main() -> int:
    """Judge mutants and report; exit code 1 when fewer than nine in ten were killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0, help="of the choice")
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds for a part of tests")
    parser.add_argument("--rooms", nargs="*", default=list(ROOMS), help="rooms of the source")
    parser.add_argument("--list", action="store_true", help="only say which would be judged")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first ones")
    parser.add_argument("--out", type=Path, help="add every outcome to this file, as JSON lines")
    words = parser.parse_args()
    selected = chosen(words.count, words.seed, tuple(words.rooms))[words.skip :]
    outcomes = []
    for number, mutant in enumerate(selected, words.skip + 1):
        where = f"{number:3d} {mutant.path}:{mutant.line} {mutant.kind}"
        if words.list:
            print(where)
            continue
        outcome = judged(mutant, words.limit)
        outcomes.append(outcome)
        print(f"{where}: {outcome.end} in {outcome.seconds:.0f} s", flush=True)
        if outcome.end == "survived":
            print(outcome.difference, flush=True)
        if words.out is not None:
            with words.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(dict(vars(outcome), mutant=vars(mutant))) + "\n")
    if words.list or not outcomes:
        return 0
    dead = sum(outcome.end != "survived" for outcome in outcomes)
    print(f"{dead} of {len(outcomes)} were killed")
    return 0 if dead >= 0.9 * len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
