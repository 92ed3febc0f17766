"""Public docstrings: every parameter is documented, and every object has its sentence."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import learnability
from learnability.fields import declared

PACKAGES = ["learnability", *(
    f"learnability.{module.name}"
    for module in pkgutil.iter_modules(learnability.__path__)
    if module.ispkg and module.name != "cli"
)]  # fmt: skip


def public_names(package: str) -> Iterator[tuple[str, Any]]:
    module = importlib.import_module(package)
    for name in getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]:
        value = getattr(module, name)
        own = (getattr(value, "__module__", "") or "").startswith("learnability")
        if own and (inspect.isclass(value) or inspect.isfunction(value)):
            yield f"{package}.{name}", value


def methods(cls: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods that a class defines itself, or inherits from one of the library."""
    for name in dir(cls):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(cls, name)
        value = getattr(value, "__func__", value)
        home = getattr(value, "__module__", "") or ""
        if inspect.isfunction(value) and home.startswith("learnability"):
            yield name, value


def everything() -> dict[str, Any]:
    found: dict[str, Any] = {}
    seen = set()
    for package in PACKAGES:
        for name, value in public_names(package):
            if id(value) in seen:
                continue
            seen.add(id(value))
            found[name] = value
            if inspect.isclass(value):
                for method, function in methods(value):
                    if id(function) not in seen:
                        seen.add(id(function))
                        found[f"{name}.{method}"] = function
    return found


OBJECTS = everything()


def parameters(value: Any) -> list[str]:
    """What a caller may give."""
    if inspect.isclass(value):
        if issubclass(value, tuple) and hasattr(value, "_fields"):
            return list(value._fields)
        if dataclasses.is_dataclass(value):
            return [f.name for f in dataclasses.fields(value) if not f.name.startswith("_")]
        if value.__init__ is object.__init__ or issubclass(value, Exception):
            return []
        value = value.__init__
    names = inspect.signature(value).parameters
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def documented(text: str) -> set[str]:
    """Names in the sections of parameters and attributes of a numpydoc docstring."""
    found: set[str] = set()
    for head in ("Parameters", "Attributes", "Other Parameters"):
        section = re.search(rf"^{head}\n-+\n(.*?)(?=^\S[^\n]*\n-{{3,}}|\Z)", text, re.S | re.M)
        for line in section.group(1).splitlines() if section else ():
            if line and not line.startswith(" "):
                names = line.split(" : ")[0]
                found |= {name.strip().lstrip("*") for name in names.split(",")}
    return found


def inherited(name: str) -> set[str]:
    """What the base classes, or the same method of one, document."""
    if inspect.isclass(OBJECTS[name]):
        texts = [base.__doc__ or "" for base in inspect.getmro(OBJECTS[name])[1:]]
        return set().union(*(documented(inspect.cleandoc(text)) for text in texts))
    owner, _, method = name.rpartition(".")
    bases = inspect.getmro(OBJECTS[owner])[1:] if inspect.isclass(OBJECTS.get(owner)) else ()
    texts = [inspect.getdoc(vars(base).get(method)) or "" for base in bases if method in vars(base)]
    return set().union(*map(documented, texts))


def test_the_walk_finds_the_public_names() -> None:
    assert len(OBJECTS) > 150
    assert "learnability.BayesAMP" in OBJECTS
    assert any(name.endswith(".simulate") for name in OBJECTS)


@pytest.mark.parametrize("name", OBJECTS)
def test_a_public_docstring_names_every_parameter(name: str) -> None:
    value = OBJECTS[name]
    text = inspect.getdoc(value) or ""
    first = text.split("\n\n")[0]
    assert len(first.split()) >= 2 and first.rstrip()[-1] in ".?:", "the first line is no sentence"
    if re.search(r"see `[\w.]+`", text):  # The parameters are those of another.
        return
    missing = set(parameters(value)) - documented(text) - inherited(name)
    assert not missing, f"{', '.join(sorted(missing))}: not documented"


@pytest.mark.parametrize("name", [n for n, value in OBJECTS.items() if inspect.isclass(value)])
def test_a_docstring_names_no_parameter_that_is_not_there(name: str) -> None:
    value = OBJECTS[name]
    if not dataclasses.is_dataclass(value):
        return
    known = {field.name for field in dataclasses.fields(value)}
    known |= set(inspect.signature(value).parameters) | set(dir(value))
    section = documented(inspect.getdoc(value) or "")
    assert section <= known, f"{', '.join(sorted(section - known))}: not there"
    assert {field.name for field, _ in declared(value)} <= section


def test_every_docstring_of_the_source_is_a_sentence() -> None:
    """Public functions and classes of all modules; a first line ends in a full stop."""
    wrong = []
    for module in pkgutil.walk_packages(learnability.__path__, "learnability."):
        found = importlib.util.find_spec(module.name)
        assert found is not None and found.origin is not None
        with open(found.origin, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                text = ast.get_docstring(node)
                if text and text.split("\n\n")[0].rstrip()[-1] not in ".?:":
                    wrong.append(f"{module.name}: {text.splitlines()[0]}")
    assert wrong == []
