"""Moments of a Parquet folder that is larger than what is held: time, memory, and the same answer.

Rows of independent Gaussian columns with y = x_1 + x_2^2 + noise are written in files of 50 000
rows; `MomentSubspace` is fitted to the folder in a process whose largest memory is read, and once
more, on the first rows, beside the fit in memory.

    python benchmarks/out_of_core.py FOLDER --rows 2000000 --columns 200
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

FILE_ROWS = 50_000


def write(folder: Path, rows: int, columns: int) -> None:
    """The files."""
    import pandas

    folder.mkdir()
    for number in range(rows // FILE_ROWS):
        rng = np.random.default_rng([24, number])
        X = rng.standard_normal((FILE_ROWS, columns))
        frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(columns)])
        noise = 0.5 * rng.standard_normal(FILE_ROWS)
        path = folder / f"{number:05}.parquet"
        frame.assign(y=X[:, 0] + X[:, 1] ** 2 + noise).to_parquet(path, compression=None)


def fit(folder: Path) -> None:
    """Fit in blocks, and print the time, the memory and the overlap with the true directions."""
    from learnability.estimators import MomentSubspace, parquet_rows

    began = time.perf_counter()
    X, y = parquet_rows(folder, "y")
    found = MomentSubspace("dr", 2).fit(X, y)
    seconds = time.perf_counter() - began
    basis = np.linalg.qr(found.components_.T)[0]
    line = {
        "seconds": round(seconds, 1),
        "cpu": round(time.process_time(), 1),
        "largest memory, GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "overlap": round(float((basis[:2] ** 2).sum()) / 2, 5),
    }
    print(json.dumps(line), flush=True)


def compare(folder: Path, files: int) -> None:
    """The first files in blocks and in memory."""
    import dask.dataframe
    import pandas

    from learnability.estimators import MomentSubspace

    paths = sorted(folder.iterdir())[:files]
    table = dask.dataframe.read_parquet([str(path) for path in paths])
    here = pandas.concat([pandas.read_parquet(path) for path in paths])
    names = [name for name in here.columns if name != "y"]
    blocks = MomentSubspace("dr", 2).fit(table[names], table["y"])
    memory = MomentSubspace("dr", 2).fit(here[names].to_numpy(), here["y"].to_numpy())
    gap = float(np.abs(blocks.components_ - memory.components_).max())
    print(json.dumps({"rows": len(here), "largest difference": gap}), flush=True)


def main() -> None:
    """One line of JSON a measurement; the folder is deleted at the end."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("folder", type=Path)
    read.add_argument("--rows", type=int, default=1_000_000)
    read.add_argument("--columns", type=int, default=100)
    read.add_argument("--only-fit", action="store_true")
    asked = read.parse_args()
    if asked.only_fit:
        fit(asked.folder)
        return
    try:
        write(asked.folder, asked.rows, asked.columns)
        size = sum(path.stat().st_size for path in asked.folder.iterdir())
        print(json.dumps({"GB on disk": round(size / 2**30, 2)}), flush=True)
        subprocess.run([sys.executable, __file__, str(asked.folder), "--only-fit"], check=True)
        compare(asked.folder, 4)
    finally:
        shutil.rmtree(asked.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
