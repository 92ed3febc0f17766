import numpy as np

from learnability.estimators import MomentSubspace
from learnability.estimators._judge import judge
from learnability.estimators._labels import read_labels

from tests.estimators.problems import planted


def test_the_judge_prefers_truth_and_is_not_fooled_by_noise():
    X, y, _ = planted(lambda z: z[0] ** 2, 1, 500, 10, 0)
    labels = read_labels(y, np.ones(500))
    for how in ("information", "cv"):
        good, blind = (
            judge(MomentSubspace(method, 1), X, y, labels, folds=3, seed=0, how=how)
            for method in ("dr", "sir")
        )
        assert good.score > 5 * good.error
        assert good.score > blind.score + 3 * good.error
    noise = np.random.default_rng(1).permutation(y)
    found = judge(
        MomentSubspace("dr", 1), X, noise, read_labels(noise, np.ones(500)), folds=3, seed=0,
        how="information",
    )  # fmt: skip
    assert found.score < 3 * found.error
