import numpy as np
import pandas
import pytest
from scipy import sparse

from learnability.errors import LearnabilityError
from learnability.estimators import MomentSubspace
from learnability.estimators._base import check_choice, check_count, read_weights, refuse_missing

from tests.estimators.problems import planted


def test_columns_with_holes_are_named():
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [np.nan, 1.0], "c": [1.0, np.inf]})
    with pytest.raises(LearnabilityError, match="b, c"):
        refuse_missing(frame)
    refuse_missing(frame[["a"]])


def test_components_are_orthonormal_in_the_covariance_with_their_largest_entry_positive():
    X, y, _ = planted(lambda z: z[0] + z[1] ** 2, 2, 400, 6, 0)
    X = X @ np.random.default_rng(1).standard_normal((6, 6))
    found = MomentSubspace("dr", 2, clip=False).fit(X, y)
    C = found.components_
    np.testing.assert_allclose(C @ np.cov(X.T, bias=True) @ C.T, np.eye(2), atol=1e-8)
    sized = C * X.std(axis=0)
    assert (sized[np.arange(2), np.abs(sized).argmax(axis=1)] > 0).all()
    np.testing.assert_allclose(found.transform(X), (X - found.center_) @ C.T, atol=1e-12)


@pytest.mark.parametrize(
    ("y", "said"), [(None, "requires y"), (np.zeros((5, 2, 2)), "dimensions"), ([1, 2], "rows")]
)
def test_bad_targets_get_a_sentence(y, said):
    with pytest.raises((LearnabilityError, ValueError), match=said):
        MomentSubspace().fit(np.eye(5), y)


def test_parameters_and_weights_are_checked():
    with pytest.raises(LearnabilityError, match="'a', 'b' is accepted"):
        check_choice("how", "c", ("a", "b"))
    for wrong in (0, 1.5, True, "2"):
        with pytest.raises(LearnabilityError, match="whole number"):
            check_count("count", wrong)
    with pytest.raises(ValueError, match="non-zero"):
        read_weights(np.eye(3), np.zeros(3))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        read_weights(np.eye(3), [1.0, -1.0, 1.0])


def test_numbers_whose_squares_are_none_are_refused_by_name():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.standard_normal((40, 3)), columns=["a", "b", "c"])
    for factor in (1e80, 1e-80):
        with pytest.raises(LearnabilityError, match="columns b hold"):
            MomentSubspace("sir", 1).fit(frame.assign(b=frame.b * factor), frame.a)
    MomentSubspace("sir", 1).fit(frame.assign(b=0.0, c=frame.c * 1e60), frame.a)
    with pytest.raises(LearnabilityError, match="columns 1 hold"):
        MomentSubspace("sir", 1).fit(sparse.csr_matrix(frame * [1, 1e90, 0]), frame.a)
