"""Settings of every test run."""

import os

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")  # no test opens a window

# No test is timed; speed lives in benchmarks/. The same examples in every run: a test that fails
# by chance tells nothing about the change it fails on, and `make fuzz` draws new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


def pytest_configure(config: pytest.Config) -> None:
    """Let all processes of a test run share what JAX compiled for one of them."""
    if getattr(config, "cache", None) is not None:  # It may be switched off.
        shared = {
            "JAX_COMPILATION_CACHE_DIR": str(config.cache.mkdir("compiled")),
            "JAX_COMPILATION_CACHE_MAX_SIZE": str(2**28),  # A bound also makes writers wait.
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        for name, value in shared.items():
            os.environ.setdefault(name, value)
