from dataclasses import replace

import numpy as np

from learnability.estimators import (
    GradientSubspace,
    IndexSubspace,
    MomentSubspace,
    subspace_overlap,
)
from learnability.estimators._judge import average, contenders, judge
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


def test_the_average_of_those_that_are_tied_is_nearer_to_the_truth_than_they_are():
    lost, each = 0.0, 0.0
    for seed in (3, 4):  # Local gradients at eight places double rounding in every round.
        X, y, W = planted(lambda z: z[0] + z[1] ** 2, 2, 400, 12, seed)
        y = y + np.random.default_rng(seed).standard_normal(400)
        labels = read_labels(y, np.ones(400))
        finders = [GradientSubspace("opg", 2, n_anchors=8, random_state=k) for k in range(4)]
        verdicts = [judge(one, X, y, labels, folds=3, seed=0, how="cv") for one in finders]
        tied = average(verdicts, labels, 0, "cv")
        lost += 1 - subspace_overlap(tied.components, W)
        each += 1 - np.mean([subspace_overlap(one.components, W) for one in verdicts])
    assert lost < 0.7 * each
    np.testing.assert_allclose(np.cov(tied.whole, rowvar=False), np.eye(2), atol=0.02)
    np.testing.assert_allclose(tied.whole, (X - X.mean(axis=0)) @ tied.components.T, atol=1e-9)
    assert average(verdicts[:1], labels, 0, "cv") is None


def test_a_fold_that_leaves_one_class_says_nothing_but_does_not_fail():
    X = np.random.default_rng(4).standard_normal((40, 3))
    y = np.array(["rare"] + ["common"] * 39)
    for how in ("information", "cv"):
        found = judge(
            MomentSubspace("sir", 1), X, y, read_labels(y, np.ones(40)), folds=5, seed=0, how=how
        )
        assert np.isfinite(found.score) and found.score < 3 * found.error


def test_rare_classes_count_as_much_as_common_ones():
    X, z, _ = planted(lambda z: z[0], 1, 1000, 5, 5)
    y = (z > 1.5).astype(int)
    found = judge(
        MomentSubspace("sir", 1), X, y, read_labels(y, np.ones(1000)), folds=5, seed=0, how="cv"
    )
    assert 0.4 < found.score <= 0.5  # Chance is a half.


def test_fewer_directions_than_asked_for_win_only_where_they_are_clearly_ahead():
    X, z, _ = planted(lambda z: z[0], 1, 300, 5, 6)
    labels = read_labels(z, np.ones(300))
    one = judge(MomentSubspace("sir", 1), X, z, labels, folds=5, seed=0, how="cv")
    two = judge(MomentSubspace("sir", 2), X, z, labels, folds=5, seed=0, how="cv")
    blind = judge(MomentSubspace("phd", 2), X, z, labels, folds=5, seed=0, how="cv")
    tied = replace(one, rows=two.rows, score=two.score)
    assert set(contenders({"one": tied, "two": two}, labels)) == {"two"}
    assert set(contenders({"one": one, "blind": blind}, labels)) == {"one", "blind"}


def test_a_fold_without_a_direction_tells_nothing():
    """Twelve rows of which some halves have one label only: one seed in a hundred ended a fit."""
    X = np.array([[a, b] for a in (1.0, 2.0, 3.0) for b in (1.0, 2.0, 3.0, 4.0)])
    y = np.array([1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2])
    for seed in range(200):
        found = IndexSubspace(1, candidates="sir", folds=2, random_state=seed).fit(X, y)
        assert np.isfinite(found.score_)
