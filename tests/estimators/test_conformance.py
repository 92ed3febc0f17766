"""scikit-learn's own checks; the small settings of the last ones keep their many fits short."""

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
    SparseSubspace,
)

# Rows are drawn at random (halves of the channel, anchors, folds of the judge), and a row of weight
# two is drawn as one where two equal rows are drawn apart: equal in law only, as for scikit-learn's
# own forests.
IN_LAW = {"check_sample_weight_equivalence_on_dense_data": "random rows"}
# Estimator -> checks that scikit-learn has for it, where fewer would mean that some were not run,
# and those that are expected to fail.
ESTIMATORS = [
    (MomentSubspace(), 55, {}),
    (MomentSubspace("sir"), 55, {}),
    (MomentSubspace("save"), 55, {}),
    (GradientSubspace(n_anchors=20), 53, IN_LAW),
    (MessagePassingSubspace(n_components=1), 53, IN_LAW),
    (SparseSubspace(), 53, IN_LAW),
    (IndexSubspace(n_components=1, candidates=["dr", "sir"], folds=2), 53, IN_LAW),
    (IndexSubspace(n_components=1, candidates="sir", folds=2), 54, {}),
    (IndexRegressor(MomentSubspace(n_components=1), KernelRidge()), 58, {}),
    (IndexClassifier(MomentSubspace(n_components=2), LogisticRegression()), 62, {}),
]


@pytest.mark.parametrize(("estimator", "least", "expected"), ESTIMATORS, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks_pass(estimator, least, expected):
    checks = check_estimator(estimator, on_fail=None, on_skip=None, expected_failed_checks=expected)
    failed = {c["check_name"]: c["exception"] for c in checks if c["status"] == "failed"}
    assert failed == {}
    assert sum(check["status"] == "passed" for check in checks) >= least
