"""scikit-learn's own checks; the small settings of the last three keep their many fits short."""

import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator

from learnability.estimators import (
    GradientSubspace,
    IndexClassifier,
    IndexRegressor,
    IndexSubspace,
    MessagePassingSubspace,
    MomentSubspace,
)

# Estimator -> checks that scikit-learn has for it; fewer would mean that some were not run.
ESTIMATORS = [
    (MomentSubspace(), 55),
    (GradientSubspace(n_anchors=20), 47),
    (MessagePassingSubspace(n_components=1), 47),
    (IndexSubspace(n_components=1, candidates=["dr", "sir"], folds=2), 47),
    (IndexRegressor(MomentSubspace(n_components=1), KernelRidge()), 50),
    (IndexClassifier(MomentSubspace(n_components=2), LogisticRegression()), 54),
]


@pytest.mark.parametrize(("estimator", "least"), ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks_pass(estimator, least):
    checks = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {c["check_name"]: c["exception"] for c in checks if c["status"] == "failed"}
    assert failed == {}
    assert sum(check["status"] == "passed" for check in checks) >= least
