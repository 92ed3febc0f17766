"""Settings of every test run."""

import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")  # no test opens a window

# No test is timed; speed lives in benchmarks/. The same examples in every run: a test that fails
# by chance tells nothing about the change it fails on, and `make fuzz` draws new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
