"""Peak memory of fits to large tables, each in a process of its own, in units of the table.

python benchmarks/bench_estimator_memory.py [moments] [index] [sparse]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np
from scipy.sparse import random as random_sparse

from learnability.estimators import IndexSubspace, MomentSubspace

ROWS, COLUMNS = 100_000, 1000


def peak() -> float:
    """Largest memory of this process so far in gigabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def dense() -> tuple[np.ndarray, np.ndarray]:
    """A Gaussian table, filled by blocks, and a link of two directions."""
    rng = np.random.default_rng(0)
    X = np.empty((ROWS, COLUMNS))
    for first in range(0, ROWS, 1000):
        X[first : first + 1000] = rng.standard_normal((1000, COLUMNS))
    return X, np.tanh(X[:, 0]) + X[:, 1] ** 2


def run(case: str) -> None:
    """Fit one table and say what it took."""
    if case == "sparse":
        rng = np.random.default_rng(0)
        X = random_sparse(ROWS, 10_000, density=1e-3, format="csr", random_state=rng)
        y = X[:, :50].sum(axis=1).A1 if hasattr(X[:, :50].sum(axis=1), "A1") else X[:, :50].sum(1)
        y = np.asarray(y).ravel() + 0.1 * rng.standard_normal(ROWS)
        model, size = MomentSubspace("dr", 1), ROWS * 10_000 * 8 / 2**30
    else:
        X, y = dense()
        model = MomentSubspace("dr", 2) if case == "moments" else IndexSubspace(2, random_state=0)
        size = X.nbytes / 2**30
    before, start = peak(), time.process_time()
    found = model.fit(X, y).components_
    cpu = time.process_time() - start
    right = np.linalg.norm(np.linalg.qr(found.T)[0][: 50 if case == "sparse" else 2]) ** 2
    print(
        f"{case}: table (dense) {size:.2f} GB, peak {peak():.2f} GB ({before:.2f} before the fit), "
        f"{peak() / size:.2f} times the dense table, {cpu:.0f} CPU s, "
        f"overlap {right / len(found):.3f}",
        flush=True,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(sys.argv[2])
    else:
        for case in sys.argv[1:] or ["moments", "index", "sparse"]:
            subprocess.run([sys.executable, __file__, "--run", case], check=True)
