import numpy as np
import pytest

from learnability.estimators import IndexSubspace, dimension_report

from tests.estimators.problems import planted


def test_one_even_direction_is_counted_by_all_who_agree():
    X, y, _ = planted(lambda z: np.abs(z[0]), 1, 400, 8, 0)
    found = dimension_report(X, y, max_components=2, permutations=9)
    assert found.chosen == found.criterion == 1
    assert found.permutation == 1 and found.agree
    assert found.worth[1] > 100
    assert "1 by the criterion of few columns" in str(found)


def test_heavy_tails_do_not_hide_a_first_moment_from_the_permutations():
    rng = np.random.default_rng(3)
    X = rng.standard_t(2.2, (600, 10))  # Second moments of noise are many times the Gaussian ones.
    z = X[:, 0] / np.abs(X[:, 0]).mean()
    found = dimension_report(X, z + 0.5 * rng.standard_normal(600), 2, permutations=19)
    assert found.permutation is not None and found.permutation >= 1


def classes_in_few_rows(directions, seed):
    """Rows (60, 120) of eight classes whose means lie in a space of so many directions."""
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((8, directions)) * 8
    where = np.linalg.qr(rng.standard_normal((120, max(directions, 1))))[0][:, :directions]
    y = rng.integers(0, 8, 60)
    return means[y] @ where.T + rng.standard_normal((60, 120)), y


@pytest.mark.parametrize("directions", [0, 2])
def test_few_rows_are_counted_by_their_first_moments(directions):
    X, y = classes_in_few_rows(directions, 0)
    found = IndexSubspace(folds=3, random_state=0).fit(X, y)
    assert len(found.components_) == directions
    assert found.chosen_ in (("sir", "sparse") if directions else ("none",))
    assert f"Number of directions: {directions} by held-out rows.\n" in str(found.report_)


def test_no_more_first_moments_are_counted_than_classes_have():
    rng = np.random.default_rng(5)
    y = np.repeat(["left", "right"], 30)
    X = rng.standard_normal((60, 90)) + 1.0 * (y == "left")[:, None]
    assert len(IndexSubspace(random_state=0).fit(X, y).components_) == 1


@pytest.mark.parametrize(("rows", "columns"), [(3, 20), (6, 5), (6, 2), (12, 20)])
@pytest.mark.parametrize("way", ["auto", "information"])
def test_a_handful_of_rows_of_noise_holds_no_direction(rows, columns, way):
    rng = np.random.default_rng(rows)
    X = rng.standard_normal((rows, columns))
    for y in (rng.standard_normal(rows), np.array([f"row {i}" for i in range(rows)])):
        assert dimension_report(X, y).chosen == 0
        assert len(IndexSubspace(judge=way, random_state=0).fit(X, y).components_) == 0


def test_a_drawn_seed_leaves_held_out_rows_held_out():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 100)), rng.standard_normal(60) > 0
    for state in (None, np.random.RandomState(0)):
        assert dimension_report(X, y, 2, random_state=state).chosen == 0


def test_permutations_are_counted_in_whole_numbers():
    with pytest.raises(ValueError, match="permutations"):
        dimension_report(np.eye(4), np.arange(4.0), permutations=0)


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (np.full((30, 3), np.nan), np.arange(30.0), "NaN"),
        (np.zeros((0, 3)), np.zeros(0), "0 sample"),
        (np.ones((30, 3)), np.arange(29.0), "30 rows and y has 29"),
    ],
)
def test_a_bad_table_gets_a_sentence(X, y, said):
    with pytest.raises(ValueError, match=said):
        dimension_report(X, y)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("link", "r", "n"),
    [(lambda z: z[0] + z[1] * z[2], 3, 150), (lambda z: np.hypot(z[0], z[1]), 2, 120)],
)
def test_several_directions_are_counted_on_few_rows(link, r, n, seed):
    rng = np.random.default_rng([8, seed])
    X = rng.standard_normal((n, 8))
    y = link(X.T)
    y = y + 0.2 * y.std() * rng.standard_normal(n)
    assert dimension_report(X, y, max_components=4, random_state=seed).chosen == r


def test_a_direction_of_many_columns_is_counted_by_held_out_rows():
    """The criterion pays for each column, and sees nothing of a weak direction of all columns."""
    rng = np.random.default_rng(11)
    X = rng.standard_normal((600, 60))
    y = X.sum(axis=1) / np.sqrt(60) + 1.2 * rng.standard_normal(600)
    found = dimension_report(X, y, max_components=2, permutations=9)
    assert found.criterion == 0 and found.cv == found.chosen == 1
    assert "1 by held-out rows" in str(found)
