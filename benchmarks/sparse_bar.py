"""Few rows, many columns of which five matter: predictions from directions beside the lasso.

Tables of 120 rows and 3000 independent Gaussian columns; y is the sum of five of them, each with a
sign and a size between 1/2 and 3/2, with noise of a thirtieth of its variance. Criterion, fixed
before the first run, on seeds 10 to 14: the regressor with the directions that `IndexSubspace`
finds explains of 2000 new rows at least what the cross-validated lasso does, less .02.

    python benchmarks/sparse_bar.py --first 10 --seeds 5
"""

from __future__ import annotations

import argparse
import json
import time
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LassoCV

from learnability.estimators import IndexRegressor

ROWS, COLUMNS, ACTIVE, NEW = 120, 3000, 5, 2000
NOISE = 1 / 30
MARGIN = 0.02


def planted(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows to learn from and new ones, one after the other, and their targets."""
    rng = np.random.default_rng([24, seed])
    X = rng.standard_normal((ROWS + NEW, COLUMNS))
    at = rng.choice(COLUMNS, ACTIVE, replace=False)
    sizes = rng.uniform(0.5, 1.5, ACTIVE) * rng.choice([-1, 1], ACTIVE)
    signal = X[:, at] @ sizes
    spread = np.sqrt(NOISE * float(sizes @ sizes))
    return X, signal + spread * rng.standard_normal(len(X))


def main() -> None:
    """One line of JSON a seed, and how many hold."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--first", type=int, default=10)
    read.add_argument("--seeds", type=int, default=5)
    asked = read.parse_args()
    warnings.simplefilter("ignore")
    held = 0
    for seed in range(asked.first, asked.first + asked.seeds):
        X, y = planted(seed)
        old, new = slice(0, ROWS), slice(ROWS, None)
        lasso = LassoCV(cv=5).fit(X[old], y[old]).score(X[new], y[new])
        began = time.process_time()
        model = IndexRegressor(random_state=seed).fit(X[old], y[old])
        own = model.score(X[new], y[new])
        held += own >= lasso - MARGIN
        line = {
            "seed": seed, "lasso": round(lasso, 4), "directions": round(own, 4),
            "found": len(model.subspace_.components_), "chosen": model.subspace_.chosen_,
            "cpu": round(time.process_time() - began, 1),
        }  # fmt: skip
        print(json.dumps(line), flush=True)
    print(f"{held} of {asked.seeds} within {MARGIN} of the lasso.")


if __name__ == "__main__":
    main()
