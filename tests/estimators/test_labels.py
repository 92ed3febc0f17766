import numpy as np
import pytest

from learnability.errors import LearnabilityError
from learnability.estimators._labels import mid_ranks, read_labels


def test_only_the_order_of_numbers_counts():
    y = np.random.default_rng(0).standard_normal(50)
    one, other = (read_labels(v, np.ones(50)) for v in (y, np.exp(3 * y)))
    assert one.kind == "numbers"
    np.testing.assert_array_equal(one.slices(7), other.slices(7))


def test_equal_values_share_a_rank_and_weights_count_rows():
    np.testing.assert_allclose(
        mid_ranks(np.array([0, 1, 1, 2]), np.ones(4)), [1 / 8, 0.5, 0.5, 7 / 8]
    )
    np.testing.assert_allclose(
        mid_ranks(np.array([0, 1, 2]), np.array([1.0, 2.0, 1.0])), [1 / 8, 0.5, 7 / 8]
    )


@pytest.mark.parametrize("y", [["b", "a", "b", "c"], [0, 1, 1, 0], [True, False, True, True]])
def test_words_truth_values_and_two_numbers_are_classes(y):
    found = read_labels(np.array(y), np.ones(4))
    assert found.kind == "classes"
    assert len(np.unique(found.slices(10))) == len(set(y))


def test_counts_are_numbers_and_each_value_keeps_its_probability():
    counts = np.random.default_rng(0).poisson(1.0, 300)
    found = read_labels(counts, np.ones(300))
    assert found.kind == "numbers" and found.coarse
    assert "order counts" in found.sentence and "--task classes" in found.sentence
    np.testing.assert_array_equal(found.slices(0), found.codes)
    assert (np.diff(found.slices(10)[np.argsort(counts)]) >= 0).all()
    as_words = read_labels(counts.astype(str), np.ones(300))
    assert as_words.kind == "classes" and "classes" in as_words.sentence


def test_several_outputs_become_cells():
    y = np.random.default_rng(0).standard_normal((200, 2))
    found = read_labels(y, np.ones(200))
    assert found.kind == "classes"
    assert 2 <= len(found.values) <= 10


def test_a_constant_target_is_refused_with_a_sentence():
    with pytest.raises(LearnabilityError, match="varies"):
        read_labels(np.ones(5), np.ones(5))
