"""xarray does not load Dask for the command line, and both still work together afterwards."""

from __future__ import annotations

import subprocess
import sys

import pytest

LEFT_OUT = """
import sys
from learnability.cli.light_results import leave_dask_unloaded
leave_dask_unloaded()
import xarray
one = xarray.Dataset({"a": ("x", [1.0, 2.0])}, {"x": [3, 4]})
assert one.a.mean() == 1.5 and "dask" not in sys.modules
"""
LATER = (
    LEFT_OUT
    + """
import dask
assert dask.delayed(lambda: 2)().compute() == 2
"""
)
ALREADY_THERE = """
import dask.array
from learnability.cli.light_results import leave_dask_unloaded
leave_dask_unloaded()
import xarray
assert xarray.DataArray(dask.array.ones(4, chunks=2)).sum().compute() == 4
"""


@pytest.mark.parametrize("program", [LATER, ALREADY_THERE], ids=["later", "already there"])
def test_dask_is_left_out_only_where_nobody_uses_it(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
