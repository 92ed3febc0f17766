"""What holds for the project as a whole: light imports, pages that run, files fit to publish."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from learnability.cli import main

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("jax", "jaxlib", "scipy", "sklearn", "xarray", "matplotlib", "dask", "distributed")
PAGES = ("README.md", "docs/index.md", "docs/guide/first-steps.md", "docs/guide/studies.md",
         "docs/guide/command-line.md")  # fmt: skip

# How a user meets the package; each snippet runs in an interpreter of its own.
ENTRANCES = {
    "import": "import learnability",
    "python -m learnability --help": (
        "import runpy, sys\n"
        "sys.argv = ['learnability', '--help']\n"
        "runpy.run_module('learnability', run_name='__main__', alter_sys=True)\n"
    ),
    "learnability --help": (
        "import importlib.metadata, sys\n"
        "scripts = importlib.metadata.entry_points(group='console_scripts')\n"
        "sys.argv = ['learnability', '--help']\n"
        "sys.exit(scripts['learnability'].load()())\n"
    ),
}
REPORT_LOADED = (
    "import atexit, json, sys\n"
    "atexit.register(lambda: print('\\n' + json.dumps(sorted(sys.modules))))\n"
)


def run_python(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"},
    )


def fenced(page, language):
    """The code blocks of one language in a Markdown page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_the_entrance_loads_nothing_heavy(entrance, tmp_path):
    done = run_python("-c", REPORT_LOADED + ENTRANCES[entrance], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    if entrance.endswith("--help"):
        assert "Usage" in done.stdout
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert "learnability" in loaded
    assert [name for name in loaded if name.split(".")[0] in HEAVY] == []


# Short calls, and packages of SciPy that each of them has no use for.
SHORT_CALLS = {
    "simulate bayes-amp abs(z) --d 100 --alpha 1": ("stats", "integrate", "interpolate"),
    "predict bayes-amp abs(z) --alpha 1": ("stats", "integrate"),
    "hardness abs(z)": ("stats", "integrate", "interpolate", "optimize", "linalg", "sparse"),
}
UNUSED = {"jax", "numba", "sklearn", "matplotlib", "dask", "distributed", "xarray", "pandas",
          "asyncio", "rich"}  # fmt: skip
FAMILIES = {"bayes", "spectral"}
"""Families of learners that message passing needs: it may start from eigenvectors."""


@pytest.mark.parametrize("line", SHORT_CALLS)
def test_a_short_call_loads_only_what_it_computes_with(line, tmp_path):
    """On the old code red: labels of xarray, all learners and asyncio, for one row of numbers."""
    call = "from learnability.cli import main\nmain()"
    done = run_python("-c", REPORT_LOADED + call, *line.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    loaded = [name.split(".") for name in json.loads(done.stdout.splitlines()[-1])]
    packages = {name[0] for name in loaded}
    assert "numpy" in packages and packages.isdisjoint(UNUSED), packages & UNUSED
    of_scipy = {name[1] for name in loaded if name[0] == "scipy" and len(name) > 1}
    assert "special" in of_scipy and of_scipy.isdisjoint(SHORT_CALLS[line])
    shared = {"base", "measurement", "linear_algebra", "networks"}
    learners = {name[2] for name in loaded if name[:2] == ["learnability", "learners"] and name[2:]}
    assert learners - shared <= (set() if line.startswith("hardness") else FAMILIES)


@pytest.mark.parametrize(
    "first", ["pass", "lb.Hardness", "import learnability.reports.registry", "lb.hardness"]
)
def test_hardness_is_the_function_whatever_was_loaded_first(first, tmp_path):
    code = f"import learnability as lb\n{first}\nassert type(lb.hardness).__name__ == 'function'"
    done = run_python("-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [page for page in PAGES if fenced(page, "python")])
def test_the_python_of_a_page_runs(page, tmp_path):
    done = run_python("-c", "\n".join(fenced(page, "python")), cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def shell_lines():
    lines = {line for page in PAGES for block in fenced(page, "sh") for line in block.splitlines()}
    return sorted(lines)


@pytest.mark.parametrize("line", shell_lines())
def test_the_commands_of_a_page_run(line, tmp_path, monkeypatch, capsys):
    program, *arguments = shlex.split(line)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")  # Tests keep nothing in the user's cache.
    if program == "make":  # running it here would set up .venv again; that it exists is checked
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
        assert set(arguments) <= set(targets)
    else:
        assert program == ".venv/bin/learnability"
        monkeypatch.setattr(sys, "argv", ["learnability", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        assert end.value.code == 0, printed.err
        if "--json" in arguments:
            assert isinstance(json.loads(printed.out), dict)


# Written so that this file does not match itself.
UNPUBLISHABLE = {
    "a path of one machine": r"(?<![\w.~-])/(?:work|root|opt|home|Users)/",
    "a package index": r"--(?:extra-)?index-url|--find[-]links",
    "the host of a registry": (
        r"(?i)\b(?:pypi|npmjs|pythonhosted|debian)\.(?:org|com|io)\b"
        r"|//[\w.-]*(?:pypi|registry|mirror|artifactory|nexus)[\w.-]*"
    ),
}


def publishable_files():
    """Files that git tracks or would add; none outside a git work tree."""
    if shutil.which("git") is None:
        return []
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    names = listed.stdout.split("\0") if listed.returncode == 0 else []
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def test_the_scan_knows_what_it_looks_for():
    for kind, example in {
        "a path of one machine": "see /" + "work/main",
        "a package index": "--index" + "-url x",
        "the host of a registry": "from pypi" + ".org",
    }.items():
        assert re.search(UNPUBLISHABLE[kind], example)
    assert not re.search(UNPUBLISHABLE["a path of one machine"], "docs/" + "work/x")


def test_no_file_names_a_machine_or_a_registry():
    files = publishable_files()
    if not files:
        pytest.skip("not in a git work tree")
    found = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture or data
        for kind, pattern in UNPUBLISHABLE.items():
            match = re.search(pattern, text)
            if match:
                found.append(f"{path.relative_to(ROOT)} names {kind}: {match.group()!r}")
    assert found == []
