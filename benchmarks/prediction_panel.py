"""Whether what a predictor says of itself is true on real tables, by subsampling.

Of each table a quarter of the rows is fitted, the other rows are new. Criteria, fixed before the
first run, over all tables and seeds:

score      the nested score is within two standard errors (its own, and that of the new rows) of the
           score on the new rows in 90 % of the fits;
coverage   90 % intervals and sets hold 85 to 95 % of the new targets in the mean;
forecast   the score of fits to four fifths of all rows is within the interval that was forecast for
           that number of rows in 80 % of the fits.

    python benchmarks/prediction_panel.py --seeds 3
"""

from __future__ import annotations

import argparse
import json
import warnings
from typing import Any

import numpy as np
from sklearn import datasets

from learnability.estimators import (
    IndexClassifier,
    IndexRegressor,
    MessagePassingSubspace,
    forecast,
)
from learnability.estimators._prediction import explained

# Table -> the column that is to be predicted from the others, or None for its own target.
TABLES: dict[str, tuple[str, int | None]] = {
    "diabetes": ("diabetes", None),
    "diabetes, bmi": ("diabetes", 2),
    "diabetes, s5": ("diabetes", 8),
    "breast cancer": ("breast_cancer", None),
    "breast cancer, smoothness": ("breast_cancer", 4),
    "breast cancer, worst texture": ("breast_cancer", 21),
    "wine": ("wine", None),
    "wine, alcohol": ("wine", 0),
    "wine, flavanoids": ("wine", 6),
    "iris": ("iris", None),
    "iris, petal width": ("iris", 3),
}
FOLDS = 5


def load(name: str) -> tuple[Any, Any]:
    """Inputs and target of a table."""
    table, column = TABLES[name]
    X, y = getattr(datasets, f"load_{table}")(return_X_y=True)
    if column is None:
        return X, y
    return np.delete(X, column, axis=1), X[:, column]


def model(name: str, seed: int) -> Any:
    """What is fitted: one direction by message passing."""
    numbers = name == "diabetes" or TABLES[name][1] is not None
    made = IndexRegressor if numbers else IndexClassifier
    return made(MessagePassingSubspace(1, random_state=seed), folds=FOLDS, random_state=seed)


def main() -> None:
    """One line of JSON a fit, and the shares at the end."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--seeds", type=int, default=3)
    asked = read.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for name in TABLES:
        X, y = load(name)
        whole = model(name, 0).fit(X, y)
        for seed in range(asked.seeds):
            order = np.random.default_rng([24, seed]).permutation(len(X))
            some, new = order[: len(X) // 4], order[len(X) // 4 :]
            few = model(name, seed).fit(X[some], y[some])
            if hasattr(few, "predict_interval"):
                low, high = few.predict_interval(X[new]).T
                held = float(((low <= y[new]) & (y[new] <= high)).mean())
                terms = explained(y[new], few.predict(X[new]), np.ones(len(new)))
            else:
                codes = np.searchsorted(few.classes_, y[new])
                held = float(few.predict_set(X[new])[np.arange(len(new)), codes].mean())
                terms = (few.predict(X[new]) == y[new]).astype(float)
            error = np.hypot(few.score_error_, terms.std() / np.sqrt(len(new)))
            if len(some) >= 40:
                at = forecast(few, X[some], y[some], times=(0.8 * len(X) / len(some),)).score[0]
            else:
                at = None
            line = {
                "table": name, "seed": seed, "rows": len(some), "score": round(few.score_, 3),
                "new": round(float(terms.mean()), 3),
                "true": bool(abs(few.score_ - terms.mean()) <= 2 * error + 1e-9),
                "held": round(held, 3), "whole": round(whole.score_, 3),
                "forecast": None if at is None else [round(one, 3) for one in at],
                "hit": None if at is None else bool(at[1] <= whole.score_ <= at[2]),
            }  # fmt: skip
            lines.append(line)
            print(json.dumps(line), flush=True)
    hits = [line["hit"] for line in lines if line["hit"] is not None]
    print(
        f"score true {np.mean([line['true'] for line in lines]):.2f}, held "
        f"{np.mean([line['held'] for line in lines]):.3f}, forecasts hit {sum(hits)} of {len(hits)}"
    )


if __name__ == "__main__":
    main()
