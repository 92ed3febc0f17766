"""The front door: public names are typed, light, and the same for people and for type checkers.

On the old code red for: every public name was Any (a checker passed
`lb.BayesAMP(dampng=3).predikt("z")`), `import learnability.hardness as h` gave a function, and
`lb.estimators` did not exist until it was imported.
"""

import ast
import importlib.util
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import learnability as lb

ROOT = Path(__file__).resolve().parents[1]
USES = ROOT / "tests" / "front_door_uses.py"
SUBPACKAGES = (
    "estimators", "figures", "inputs", "labels", "learners", "reports", "results", "studies",
    "targets", "theory",
)  # fmt: skip


def typed_names(package=lb) -> dict[str, str]:
    """Name -> module, as the imports for type checkers have them."""
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names:
            assert alias.asname == alias.name, f"{alias.name} is not exported"
            found[alias.name] = node.module
    return found


def test_names_at_run_time_are_those_of_type_checkers():
    typed = typed_names()
    assert {*typed, "__version__"} == set(lb.__all__)
    for name, module in typed.items():
        home = importlib.import_module(module)
        wanted = getattr(home, name, None) or importlib.import_module(f"{module}.{name}")
        assert getattr(lb, name) is wanted
    with pytest.raises(AttributeError, match="no attribute 'BayesAmp'"):
        lb.BayesAmp  # noqa: B018
    assert dir(lb) == sorted(lb.__all__)


@pytest.mark.parametrize("name", ["learners", "studies", "theory"])
def test_a_package_that_loads_later_offers_what_type_checkers_see(name):
    package = getattr(lb, name)
    typed = typed_names(package)
    own = {"LEARNERS", "Learner"} if name == "learners" else set()
    assert {*typed, *own} == set(package.__all__)
    assert set(package.__all__) <= set(dir(package))
    for public, module in typed.items():
        assert getattr(package, public) is getattr(importlib.import_module(module), public)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018


def test_learners_are_found_by_the_names_that_they_have():
    found = {cls.name: cls for cls in (getattr(lb.learners, name) for name in lb.learners.__all__)
             if inspect.isclass(cls) and issubclass(cls, lb.learners.Learner)
             and cls is not lb.learners.Learner}  # fmt: skip
    assert dict(lb.learners.LEARNERS) == found
    assert "nothing" not in lb.learners.LEARNERS and lb.learners.LEARNERS.get("nothing") is None


@pytest.mark.parametrize("package", ["learnability", *(f"learnability.{n}" for n in SUBPACKAGES)])
def test_a_public_name_is_documented(package):
    module = importlib.import_module(package)
    names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    for name in (n for n in names if n != "__version__"):
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value):
            assert inspect.getdoc(value), f"{package}.{name}"


def test_subpackages_are_there_without_an_import(tmp_path):
    code = (
        f"import learnability as lb\nfor n in {SUBPACKAGES}: assert getattr(lb, n).__doc__\n"
        "assert lb.learners.deep.train and lb.theory.thresholds.weak_recovery\n"
        "assert lb.studies.store.Store is lb.studies.Store\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_hardness_is_only_a_function():
    assert inspect.isfunction(lb.hardness)
    assert importlib.util.find_spec("learnability.hardness") is None


# ---- type checkers


def refused_lines(path: Path) -> dict[int, str]:
    """Number of a line -> the code of the error that it must end in."""
    lines = path.read_text(encoding="utf-8").splitlines()
    marks = {n: re.search(r"# refused: ([\w-]+)", line) for n, line in enumerate(lines, 1)}
    return {number: mark.group(1) for number, mark in marks.items() if mark}


def every_learner(path: Path) -> None:
    """A file that gives every public record a field that it does not have."""
    classes = [n for n in lb.__all__ if inspect.isclass(getattr(lb, n))]
    records = [n for n in classes if hasattr(getattr(lb, n), "__dataclass_fields__")]
    assert len(records) > 20
    text = "import learnability as lb\n"
    text += "".join(f"lb.{name}(no_such_field=1)  # refused: call-arg\n" for name in records)
    learners = [name for name in records if hasattr(getattr(lb, name), "simulate")]
    text += "".join(f"lb.{n}().simulte('z')  # refused: attr-defined\n" for n in learners)
    path.write_text(text, encoding="utf-8")


@pytest.mark.types
def test_mypy_refuses_what_is_wrong_and_nothing_else(tmp_path):
    pytest.importorskip("mypy")
    made = tmp_path / "every_learner.py"
    every_learner(made)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", str(USES),
         str(made)],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "MYPYPATH": "src"},
    )  # fmt: skip
    assert not done.stderr, done.stderr
    for path in (USES, made):
        found = {}
        for line in done.stdout.splitlines():
            match = re.match(r"(.*\.py):(\d+): error: .*\[([\w-]+)\]$", line)
            if match and Path(match.group(1)).name == path.name:
                found[int(match.group(2))] = match.group(3)
        assert found == refused_lines(path), done.stdout


PYRIGHT = shutil.which("pyright") or shutil.which("basedpyright")


@pytest.mark.skipif(PYRIGHT is None, reason="pyright is not installed")
def test_pyright_refuses_what_is_wrong_and_nothing_else(tmp_path):
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"extraPaths": [str(ROOT / "src")], "typeCheckingMode": "standard"})
    )
    copy = tmp_path / USES.name
    shutil.copy(USES, copy)
    done = subprocess.run(
        [PYRIGHT, "--outputjson", "--pythonpath", sys.executable, str(copy)],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    problems = json.loads(done.stdout)["generalDiagnostics"]
    found = {p["range"]["start"]["line"] + 1 for p in problems if p["severity"] == "error"}
    assert found == set(refused_lines(USES)), done.stdout
