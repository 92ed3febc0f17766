"""Compiled code kept between calls: in a folder of the user's own, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from learnability.cli.compiled_code import LARGEST, cache_folder, keep_compiled_code

NAME = "JAX_COMPILATION_CACHE_DIR"


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("JAX_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(NAME, "to be taken back by the fixture")
    monkeypatch.delenv(NAME)
    for name in ("COMPILATION_CACHE_MAX_SIZE", "PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS",
                 "PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"):  # fmt: skip
        monkeypatch.setenv(f"JAX_{name}", "0")
        monkeypatch.delenv(f"JAX_{name}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.skipif(os.name != "posix", reason="modes of folders")
def test_the_folder_is_the_users_own_and_bounded() -> None:
    keep_compiled_code()
    assert os.environ[NAME] == str(cache_folder())
    assert cache_folder().stat().st_mode & 0o777 == 0o700
    assert os.environ["JAX_COMPILATION_CACHE_MAX_SIZE"] == str(LARGEST)


@pytest.mark.skipif(os.name != "posix", reason="modes of folders")
def test_a_folder_that_others_can_write_is_not_used() -> None:
    cache_folder().mkdir(parents=True)
    cache_folder().chmod(0o777)
    keep_compiled_code()
    assert NAME not in os.environ


def test_the_choice_of_the_user_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "")
    keep_compiled_code()
    assert os.environ[NAME] == "" and "JAX_COMPILATION_CACHE_MAX_SIZE" not in os.environ


def test_without_a_place_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(taken))
    keep_compiled_code()
    assert NAME not in os.environ


def test_a_call_leaves_code_that_the_next_call_reads(tmp_path: Path) -> None:
    words = ["simulate", "bayes-amp", "abs(z)", "--d", "200", "--alpha", "4"]  # Fewer run in NumPy.

    def call() -> tuple[str, set[str]]:
        done = subprocess.run(
            [sys.executable, "-m", "learnability", *words], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, {path.name for path in cache_folder().glob("*-cache")}

    first, kept = call()
    assert kept
    assert call() == (first, kept)  # The same numbers, and nothing was compiled anew.
