"""Ten real tables: predictions from the directions beside models that use all columns.

The tables are those of R (a folder `csv` of https://github.com/vincentarelbundock/Rdatasets): two
of them, Boston and Hitters, were known before, the others were taken before anything was fitted to
them. Columns of words become zeros and ones, rows with missing values are left out. Criteria, fixed
before the first run, in five folds that all models share:

score     the explained variance, or the share of right classes, of `IndexRegressor` and
          `IndexClassifier` is at least that of the best of PLS, ridge or logistic regression, a
          support vector machine with an RBF kernel on all columns and boosted trees, each tuned by
          inner folds, less .03 on seven of ten;
report    where it is not, `prediction_report` on the rows outside the first fold says that the
          directions lose signal.

    python benchmarks/held_out_panel.py FOLDER/csv
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from learnability.estimators import IndexClassifier, IndexRegressor, prediction_report

# File -> target, columns that are left out.
TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "MASS/Boston": ("medv", ()),
    "ISLR/Hitters": ("Salary", ()),
    "ISLR/Auto": ("mpg", ("name",)),
    "ISLR/College": ("Grad.Rate", ()),
    "ISLR/Carseats": ("Sales", ()),
    "AER/HousePrices": ("price", ()),
    "AER/CASchools": ("read", ("math", "district", "school", "county")),
    "MASS/Pima.te": ("type", ()),
    "ISLR/OJ": ("Purchase", ()),
    "AER/PSID1976": ("participation", ("hours", "wage", "repwage", "fincome")),
}
MARGIN = 0.03
FOLDS = 5


def load(folder: Path, name: str) -> tuple[Any, Any]:
    """Inputs and target of a table."""
    target, others = TABLES[name]
    table = pandas.read_csv(folder / f"{name}.csv").drop(columns=["rownames", *others]).dropna()
    y = table.pop(target)
    X = pandas.get_dummies(table, drop_first=True, dtype=float).astype(float)
    numbers = pandas.api.types.is_numeric_dtype(y)
    return X.to_numpy(), y.to_numpy(dtype=float) if numbers else y.to_numpy(dtype=str)


class Pls:
    """Partial least squares with as many components as inner folds like best."""

    def __new__(cls, most: int) -> Any:
        """Return the search."""
        return GridSearchCV(PLSRegression(), {"n_components": list(range(1, most + 1))}, cv=5)


def others(X: Any, *, numbers: bool) -> dict[str, Any]:
    """Models of all columns."""
    widths = {"gamma": np.array([0.1, 0.3, 1.0]) / X.shape[1], "C": [1.0, 10.0, 100.0]}
    if numbers:
        grid = {f"svr__{name}": values for name, values in widths.items()}
        return {
            "PLS": make_pipeline(StandardScaler(), Pls(min(10, X.shape[1]))),
            "linear": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15))),
            "machine": GridSearchCV(make_pipeline(StandardScaler(), SVR()), grid, cv=3),
            "boosting": GridSearchCV(
                HistGradientBoostingRegressor(random_state=0),
                {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [7, 31]}, cv=3,
            ),
        }  # fmt: skip
    grid = {f"svc__{name}": values for name, values in widths.items()}
    return {
        "linear": make_pipeline(StandardScaler(), LogisticRegressionCV(cv=3, max_iter=2000)),
        "machine": GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3),
        "boosting": GridSearchCV(
            HistGradientBoostingClassifier(random_state=0),
            {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [7, 31]}, cv=3,
        ),
    }  # fmt: skip


def score(model: Any, X: Any, y: Any, folds: Any, *, scaled: bool) -> float:
    """Score of the rows that were left out, all folds together."""
    predicted = np.empty(len(y), dtype=y.dtype)
    for rest, out in folds:
        target = y[rest]
        mean, size = (target.mean(), target.std()) if scaled else (0, 1)
        target = (target - mean) / size if scaled else target
        found = np.asarray(clone(model).fit(X[rest], target).predict(X[out])).ravel()
        predicted[out] = found * size + mean if scaled else found
    if scaled:
        return float(1 - ((y - predicted) ** 2).mean() / y.var())
    return float((y == predicted).mean())


def main() -> None:
    """One line of JSON a table, and how many hold."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("folder", type=Path)
    asked = read.parse_args()
    warnings.simplefilter("ignore")
    held = told = 0
    for name in TABLES:
        X, y = load(asked.folder, name)
        numbers = y.dtype.kind == "f"
        split = (KFold if numbers else StratifiedKFold)(FOLDS, shuffle=True, random_state=24)
        folds = list(split.split(X, y))
        began = time.process_time()
        kind = IndexRegressor if numbers else IndexClassifier
        own = score(kind(random_state=0), X, y, folds, scaled=numbers)
        cpu = time.process_time() - began
        peers = {
            peer: round(score(model, X, y, folds, scaled=numbers), 3)
            for peer, model in others(X, numbers=numbers).items()
        }
        first = folds[0][0]
        model = kind(folds=FOLDS, random_state=0).fit(X[first], y[first])
        loss = prediction_report(model, X[first], y[first]).loss
        fine = own >= max(peers.values()) - MARGIN
        held += fine
        told += fine or loss is not None
        line = {
            "table": name, "rows": len(X), "columns": X.shape[1], "directions": round(own, 3),
            "others": peers, "holds": bool(fine),
            "said": None if loss is None else [loss[0], round(loss[1], 3), round(loss[2], 3)],
            "cpu": round(cpu, 1),
        }  # fmt: skip
        print(json.dumps(line), flush=True)
    print(f"{held} of {len(TABLES)} within {MARGIN} of the best; {told} so, or said beforehand.")


if __name__ == "__main__":
    main()
