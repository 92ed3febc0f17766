"""Settings of every test run."""

import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")  # no test opens a window

# No test is timed; speed lives in benchmarks/.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
