import numpy as np

from learnability.estimators import dimension_report

from tests.estimators.problems import planted


def test_one_even_direction_is_counted_by_all_who_agree():
    X, y, _ = planted(lambda z: np.abs(z[0]), 1, 400, 8, 0)
    found = dimension_report(X, y, max_components=2, permutations=9)
    assert found.cv == 1
    assert found.permutation == 1 and found.agree
    assert found.scores[1] > 10 * found.errors[1]
    assert "1 by held-out rows" in str(found)
