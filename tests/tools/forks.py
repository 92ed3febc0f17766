"""Mutation testing by forks: some tenths of a second for a mutant that is killed.

`python -m tests.tools.forks record tests/gaussian --map lines.jsonl` runs tests and writes which
lines of numerics each executes, and its CPU seconds. `python -m tests.tools.forks judge
tests/gaussian --rooms gaussian --map lines.jsonl --count 60 --seed 0` collects the tests once, and
for each mutant forks, changes the code of the function in place, and runs the tests that execute
the changed statement, the fastest first, until one fails. Constants of a module are changed where
they are used. Mutants are drawn as by `tests.tools.mutate`, whose whole rooms are the criterion
for what survives here: code that is compiled once is executed by one test and used by others.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import resource
import sys
import time
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tools import mutate

SOURCE = str(mutate.ROOT / mutate.SOURCE)
_VISITS = 30
"""Calls of a function that are followed in one test."""


class Recorder:
    """Writes the lines that each test executes."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.lines: dict[str, set[int]] = {}
        self.visits: dict[types.CodeType, int] = {}

    def _trace(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(SOURCE) or self.visits.get(code, 0) >= _VISITS:
            return None
        self.visits[code] = self.visits.get(code, 0) + 1
        own = self.lines.setdefault(str(Path(code.co_filename).relative_to(mutate.ROOT)), set())

        def local(frame: types.FrameType, event: str, arg: Any) -> Any:
            own.add(frame.f_lineno)
            return local

        return local(frame, event, arg)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Follow one test."""
        self.lines, self.visits = {}, {}
        start = time.process_time()
        sys.settrace(self._trace)
        yield
        sys.settrace(None)
        row = [item.nodeid, time.process_time() - start]
        with self.out.open("a", encoding="utf-8") as file:
            lines = {path: sorted(seen) for path, seen in self.lines.items()}
            file.write(json.dumps([*row, lines]) + "\n")


class Judge:
    """Judges mutants in forks of a process that has collected the tests."""

    def __init__(self, mutants: list[mutate.Mutant], seen: Path, most: float) -> None:
        self.mutants, self.most = mutants, most
        rows = map(json.loads, seen.read_text(encoding="utf-8").splitlines())
        self.seen: dict[str, tuple[float, dict[str, list[int]]]] = {n: (s, c) for n, s, c in rows}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge all mutants in place of running the tests."""
        gc.freeze()
        items = {item.nodeid: item for item in session.items}
        ends = []
        for mutant in self.mutants:
            ends.append(self._judged(mutant, items))
            print(f"{mutant.path}:{mutant.line} {mutant.kind}: {ends[-1]}", flush=True)
        dead = sum(end.startswith(("killed", "endless")) for end in ends)
        print(f"{dead} of {len(ends)} were killed")
        return True

    def _judged(self, mutant: mutate.Mutant, items: dict[str, pytest.Item]) -> str:
        tree, inside = changed(mutant)
        lines = statement(mutant) if inside else users(mutant)
        room = f"{mutate.room_of(mutant.path)}/"
        covering = sorted(
            (seconds, name)
            for name, (seconds, seen) in self.seen.items()
            if name in items and name.startswith(room) and lines & set(seen.get(mutant.path, ()))
        )
        total, chosen = 0.0, []
        for seconds, name in covering:
            total += seconds
            if total <= self.most or not chosen:
                chosen.append(items[name])
        if not chosen:
            return "executed by no test of its room"
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            limit = int(4 * total + 60)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            try:
                found = _run(chosen) if replaced(mutant, tree, inside) else "not replaced"
            except BaseException as error:
                found = f"failed to be judged: {error!r}"
            os.write(writer, found.encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            end = pipe.read().decode()
        os.waitpid(child, 0)
        return end or "endless"


def _run(items: list[pytest.Item]) -> str:
    from _pytest.runner import runtestprotocol

    warnings.simplefilter("ignore")
    for item, after in zip(items, [*items[1:], None], strict=True):
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=after)):
            return f"killed by {item.nodeid}"
    return f"survived {len(items)} tests"


def changed(mutant: mutate.Mutant) -> tuple[ast.Module, bool]:
    """Return the tree of the module with the change, and whether it is in a function's body."""
    tree = ast.parse((mutate.ROOT / mutant.path).read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[mutant.place]
    parents = {id(child): one for one in ast.walk(tree) for child in ast.iter_child_nodes(one)}
    inside, here = False, node
    while id(here) in parents:
        above = parents[id(here)]
        inside |= isinstance(above, ast.FunctionDef) and here in above.body
        here = above
    next(change for kind, change in mutate.changes(node) if kind == mutant.kind)(node)
    return ast.fix_missing_locations(tree), inside


def statement(mutant: mutate.Mutant) -> set[int]:
    """Return the lines of the statement that is changed."""
    tree = ast.parse((mutate.ROOT / mutant.path).read_text(encoding="utf-8"))
    found = mutate._statement(tree, list(ast.walk(tree))[mutant.place])
    return set(range(found.lineno, (found.end_lineno or found.lineno) + 1))


def users(mutant: mutate.Mutant) -> set[int]:
    """Return the lines that read the names which a changed statement of a module assigns."""
    tree = ast.parse((mutate.ROOT / mutant.path).read_text(encoding="utf-8"))
    found = mutate._statement(tree, list(ast.walk(tree))[mutant.place])
    if isinstance(found, ast.FunctionDef | ast.ClassDef):
        return set(range(found.lineno, (found.end_lineno or found.lineno) + 1))
    names = [x for x in ast.walk(tree) if isinstance(x, ast.Name)]
    own = {x.id for x in ast.walk(found) if isinstance(x, ast.Name)}
    own = {x.id for x in names if isinstance(x.ctx, ast.Store) and x.id in own}
    return {x.lineno for x in names if x.id in own and isinstance(x.ctx, ast.Load)}


def replaced(mutant: mutate.Mutant, tree: ast.Module, inside: bool) -> bool:
    """Put the change in place in this process, and return whether anything was changed."""
    path = str(mutate.ROOT / mutant.path)
    parts = Path(mutant.path).relative_to("src").with_suffix("").parts
    module = importlib.import_module(".".join(parts))
    code = compile(tree, path, "exec")
    if inside:
        gc.unfreeze()
        new = {(one.co_qualname, one.co_firstlineno): one for one in _codes(code)}
        known = [
            (one, new.get((one.__code__.co_qualname, one.__code__.co_firstlineno)))
            for one in gc.get_objects()
            if isinstance(one, types.FunctionType) and one.__code__.co_filename == path
        ]
        for function, other in known:
            if other is not None and len(other.co_freevars) == len(function.__code__.co_freevars):
                function.__code__ = other
        return bool(known)
    again = types.ModuleType(module.__name__)
    again.__dict__.update(__file__=path, __package__=module.__package__)
    sys.modules[module.__name__] = again
    try:
        exec(code, again.__dict__)
    finally:
        sys.modules[module.__name__] = module
    return any([_taken(module, name, value) for name, value in vars(again).items()])


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield part
            yield from _codes(part)


def _taken(module: types.ModuleType, name: str, value: Any) -> bool:
    """Take over a constant, or the defaults of a function, where it is another one now."""
    old = vars(module).get(name)
    if name.startswith("__") or old is None:
        return False
    function, other = (getattr(one, "__wrapped__", one) for one in (old, value))
    if isinstance(function, types.FunctionType) and isinstance(other, types.FunctionType):
        same = function.__defaults__ == other.__defaults__
        function.__defaults__, function.__kwdefaults__ = other.__defaults__, other.__kwdefaults__
        return not same
    try:
        same = callable(old) or isinstance(old, types.ModuleType) or np.array_equal(old, value)
    except (TypeError, ValueError):
        same = old == value
    if same:
        return False
    for user in [one for one in sys.modules.values() if "learnability" in one.__name__]:
        if vars(user).get(name) is old:
            setattr(user, name, value)
    return True


def main() -> int:
    """Record, or judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("record", "judge"))
    parser.add_argument("tests", nargs="+", help="files or folders of tests")
    parser.add_argument("--map", type=Path, required=True, help="the file of executed lines")
    parser.add_argument("--count", type=int, default=60, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0, help="of the choice")
    parser.add_argument("--most", type=float, default=60, help="CPU seconds of tests of a mutant")
    parser.add_argument("--rooms", nargs="*", default=list(mutate.ROOMS), help="of the source")
    words = parser.parse_args()
    drawn = mutate.chosen(words.count, words.seed, tuple(words.rooms))
    plugin = Recorder(words.map) if words.what == "record" else Judge(drawn, words.map, words.most)
    quiet = ["-q", "-s", "-p", "no:cacheprovider"]
    return int(pytest.main([*quiet, *words.tests], plugins=[plugin]))


if __name__ == "__main__":
    sys.exit(main())
