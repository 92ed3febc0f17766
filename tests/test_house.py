"""The plan of the house: who may import whom, how long a module is, where laws are told apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import learnability
from learnability.inputs import INPUTS, Inputs
from learnability.targets import TARGETS, Target

SOURCE = Path(learnability.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

# Packages and modules from left to right: what stands in a row imports rows above it only.
ORDER = (
    ("errors", "loading", "markup"),
    ("fields", "progress", "randomness", "statuses"),
    ("expressions",),
    ("gaussian",),
    ("labels",),
    ("inputs",),
    ("targets",),
    ("theory",),
    ("results",),
    ("drawing",),
    ("reports", "learners"),
    ("studies",),
    ("estimators",),
    ("figures",),
    ("cli",),
    ("explorer",),  # The command line loads it by name, when it is asked to.
    ("__main__",),
)
RANK = {name: rank for rank, row in enumerate(ORDER) for name in row}
SHARED = ("base", "measurement", "linear_algebra", "networks")
"""Rooms of `learners` that every family may use."""
LONGEST, SHORTEST = 400, 40
FRONTS = ("__init__.py", "__main__.py", "errors.py")


class Import(NamedTuple):
    """`module` imports `name` of `source`."""

    module: tuple[str, ...]
    source: tuple[str, ...]
    name: str
    line: int


def place(path: Path) -> tuple[str, ...]:
    """The dotted name of a module below `learnability`; a package front has that of its package."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imports(path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{path} imports relatively"
            package, *rest = node.module.split(".")
            if package == "learnability":
                for alias in node.names:
                    yield Import(place(path), tuple(rest), alias.name, node.lineno)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                package, *rest = alias.name.split(".")
                if package == "learnability":
                    yield Import(place(path), tuple(rest), "", node.lineno)


ALL = [one for path in MODULES for one in imports(path)]


def room(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The package of a module; each family of learners is one."""
    return parts[:2] if parts[:1] == ("learners",) else parts[:1]


def told(one: Import) -> str:
    return f"{'.'.join(one.module)}:{one.line} imports {'.'.join(one.source)}.{one.name}"


def test_the_walk_sees_imports() -> None:
    assert len(ALL) > 500
    assert set(RANK) >= {place(path)[0] for path in MODULES if place(path)}


def test_nothing_on_the_left_imports_anything_on_its_right() -> None:
    """On the old code red: `links` was three packages, with a foundation behind an underscore."""
    wrong = []
    for one in ALL:
        if not one.module or not one.source:  # The front door, and its version.
            continue
        mine, theirs = one.module[0], one.source[0]
        if mine != theirs and RANK[theirs] >= RANK[mine]:
            wrong.append(told(one))
    assert wrong == []


def test_no_private_module_is_imported_across_packages() -> None:
    """On the old code red in 59 places."""
    wrong = []
    for one in ALL:
        private = any(part.startswith("_") for part in (*one.source, one.name))
        if private and not one.name.startswith("__") and room(one.module) != room(one.source):
            wrong.append(told(one))
    assert wrong == []


def test_a_family_of_learners_uses_only_the_front_of_another() -> None:
    wrong = []
    for one in ALL:
        mine, theirs = room(one.module), room(one.source)
        family = mine[:1] == theirs[:1] == ("learners",) and len(mine) == len(theirs) == 2
        if family and mine != theirs and mine[1] not in SHARED:
            if theirs[1] not in SHARED and len(one.source) > 2:
                wrong.append(told(one))
        elif family and mine != theirs and theirs[1] not in SHARED:
            wrong.append(told(one))
    assert wrong == []


LAWS = {"Target", "Inputs", "MarkedInputs", "SpikedIndex", "SparseParity"} | {
    kind.__name__ for kind in (*TARGETS.values(), *INPUTS.values(), Target, Inputs)
}


def laws_told_apart(path: Path) -> Iterator[str]:
    """Calls of isinstance, issubclass and `type(...) is` with a class of targets or inputs."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        asked: list[ast.AST] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("isinstance", "issubclass") and len(node.args) == 2:
                asked = [node.args[1]]
        elif isinstance(node, ast.Compare) and "type(" in ast.unparse(node.left):
            asked = list(node.comparators)
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        for part in asked:
            names = {inner.id for inner in ast.walk(part) if isinstance(inner, ast.Name)}
            names |= {inner.attr for inner in ast.walk(part) if isinstance(inner, ast.Attribute)}
            strings = {c.value for c in ast.walk(part) if isinstance(c, ast.Constant)}
            if names & LAWS or strings & LAWS:
                yield f"{'.'.join(place(path))}:{node.lineno} {ast.unparse(node)}"


def test_laws_are_told_apart_at_home_only() -> None:
    """On the old code red in 22 places, at each of which another algorithm began."""
    elsewhere = [path for path in MODULES if place(path)[:1] not in (("targets",), ("inputs",))]
    assert [one for path in elsewhere for one in laws_told_apart(path)] == []
    at_home = [path for path in MODULES if path not in elsewhere]
    assert any(True for path in at_home for _ in laws_told_apart(path)), "the walk is blind"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: "/".join(path.relative_to(SOURCE).parts))
def test_a_module_can_be_read_in_one_sitting(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n")
    assert lines <= LONGEST, f"{lines} lines: split it"
    recipe = place(path)[:1] == ("figures",) and not path.name.startswith("_")  # One file each.
    small = recipe or path.name in FRONTS
    assert lines >= SHORTEST or small, f"{lines} lines: join it to where it is used"
    assert ast.get_docstring(ast.parse(text)), "no docstring says what it is for"


def test_a_name_is_one_thing() -> None:
    """No package offers a function under the name of one of its modules."""
    wrong = []
    for path in MODULES:
        if path.name == "__init__.py":
            own = {other.stem for other in path.parent.glob("*.py")}
            own |= {other.parent.name for other in path.parent.glob("*/__init__.py")}
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module != "learnability":
                    wrong += [f"{path.parent.name}.{a.name}" for a in node.names if a.name in own]
    assert wrong == []


def test_every_family_of_learners_has_tests_of_its_own() -> None:
    """`make agreement FAMILY=online` runs what a change of that family can affect."""
    root = Path(__file__).parent
    families = {
        path.parent.name
        for path in (SOURCE / "learners").glob("*/__init__.py")
        if path.parent.name not in SHARED
    }
    files = (root / "agreement").glob("test_*_agreement.py")
    split = {path.name.split("_")[1] for path in files}
    assert families <= split
    assert split - families <= {place(path)[0] for path in MODULES if place(path)}
    assert all((root / "learners" / family).is_dir() for family in families)
