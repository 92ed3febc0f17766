import numpy as np

from learnability.estimators._products import products


def test_they_are_orthonormal_and_their_slopes_are_derivatives():
    w = np.random.default_rng(0).standard_normal((200_000, 2))
    at = products(w, 3)
    np.testing.assert_allclose(at.values @ at.values.T / len(w), np.eye(10), atol=0.05)
    assert list(at.degrees) == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    w, h = w[:5], 1e-6
    tilt = np.arange(10.0)
    numeric = [
        (tilt @ products(w + h * e, 3).values - tilt @ products(w - h * e, 3).values) / (2 * h)
        for e in np.eye(2)
    ]
    np.testing.assert_allclose(products(w, 3).slopes(tilt).T, numeric, rtol=1e-6)


def test_lower_degrees_come_first():
    w = np.random.default_rng(1).standard_normal((20, 3))
    low = products(w, 2)
    np.testing.assert_array_equal(products(w, 5).up_to(2).values, low.values)
    np.testing.assert_array_equal(low.take(slice(3, 9)).values, products(w[3:9], 2).values)
