import numpy as np
import pytest

from learnability.estimators import IndexSubspace
from learnability.estimators._confidence import confidence, known_overlap, rows_for
from learnability.estimators._labels import read_labels

from tests.estimators.problems import planted


def test_halves_that_err_apart_support_what_they_share():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((1000, 3))
    y = z[:, 0] + 0.2 * rng.standard_normal(1000)

    def seen(noise, other):
        return np.column_stack([z[:, 0] + noise * rng.standard_normal(1000), z[:, other]])

    first = rng.permutation(1000) < 500
    found = confidence(
        read_labels(y, np.ones(1000)), seen(0.3, 1), [seen(0.5, 1), seen(0.5, 2)], first, 0
    )
    assert found.supported == 1
    assert found.agreement[0] == pytest.approx(0.8, abs=0.05)
    assert abs(found.agreement[1]) < 0.15


def test_more_rows_mean_a_larger_overlap_and_chance_is_no_agreement():
    few, many = known_overlap(0.6, 2, 20), known_overlap(0.6, 8, 20)
    assert few[0] < many[0] and all(low < q < high for q, low, high in (few, many))
    assert known_overlap(0.4, 2, 20) is None and known_overlap(0.4, 2, 200) is not None
    assert rows_for(few[0], few[0], 100) == pytest.approx(100)


@pytest.mark.parametrize("seed", range(3))
def test_surplus_directions_are_named(seed):
    X, y, W = planted(lambda z: np.tanh(2 * z[0]), 1, 600, 12, seed)
    y = y + 0.3 * np.random.default_rng(seed).standard_normal(len(y))
    found = IndexSubspace(2, candidates="message_passing", random_state=seed).fit(X, y)
    report = found.report_
    assert report.supported == 1 and report.overlap[1] is None
    q, low, high = report.overlap[0]
    true = float((found.components_[0] @ W[0]) ** 2 / (found.components_[0] ** 2).sum())
    assert true == pytest.approx(q, abs=0.03) and low < q < high
    assert "Direction 2: not distinguishable from none" in str(report)
    assert "coordinate 2" not in str(report)


def test_more_directions_than_columns_are_told():
    X, y, _ = planted(lambda z: z[0], 1, 200, 4, 0)
    found = IndexSubspace(9, candidates="sir", random_state=0)
    report = found.fit(X, y).report_
    assert "9 directions were asked for" in str(report)
    assert all(one is None for one in report.overlap) and report.undecided
