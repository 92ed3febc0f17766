import numpy as np
import pytest

from learnability.estimators._moments import (
    SliceMoments,
    bulk_edge,
    leading_directions,
    learned_directions,
    tilted_directions,
)


def moments_of(law, n=20_000, k=6, count=10, seed=0):
    """Moments of Gaussian rows in slices of law(z)."""
    Z = np.random.default_rng(seed).standard_normal((n, k))
    codes = (np.argsort(np.argsort(law(Z.T))) * count) // n
    means = np.array([Z[codes == h].mean(axis=0) for h in range(count)])
    seconds = [Z[codes == h].T @ Z[codes == h] / (codes == h).sum() for h in range(count)]
    return SliceMoments(np.full(count, 1 / count), means, seconds, True, n)


def share(vectors, axes):
    """Mean squared length of the axes inside the span of orthonormal vectors."""
    return float((vectors[axes] ** 2).sum() / len(axes))


@pytest.mark.parametrize(
    ("method", "law", "axes", "seen"),
    [
        ("sir", lambda z: z[0], [0], True),
        ("sir", lambda z: z[0] ** 2, [0], False),
        ("phd", lambda z: z[0] ** 2, [0], True),
        ("phd", lambda z: z[0], [0], False),
        ("save", lambda z: z[0] * z[1], [0, 1], True),
        ("dr", lambda z: z[0] + z[1] ** 2, [0, 1], True),
        ("dr", lambda z: z[0] * z[1] * z[2] * (1 + 0 * z[3]), [0, 1, 2], True),
    ],
)
def test_each_method_sees_what_it_should_and_is_blind_to_the_rest(method, law, axes, seen):
    _, vectors = leading_directions(moments_of(law), method, len(axes))
    found = share(vectors[:, : len(axes)], axes)
    assert found > 0.9 if seen else found < 0.6


def test_operators_give_the_eigenvectors_of_their_matrices():
    moments = moments_of(lambda z: z[0] + z[1] ** 2, k=12)
    thin = SliceMoments(moments.shares, moments.means, moments.each, True, moments.total)
    for method in ("save", "dr", "phd"):
        values, vectors = leading_directions(moments, method, 2)
        again, others = leading_directions(thin, method, 2)
        np.testing.assert_allclose(again[:2], values[:2], rtol=1e-3)
        assert ((vectors[:, :2].T @ others[:, :2]) ** 2).sum() > 1.999


def test_learned_and_tilted_preprocessing_find_an_even_direction():
    moments = moments_of(lambda z: np.abs(z[0]), n=400, k=20)
    rng = np.random.default_rng(0)
    assert share(learned_directions(moments, 1, rng)[1], [0]) > 0.8
    assert max(share(U, [0]) for U in tilted_directions(moments, 1)) > 0.8


def test_the_edge_holds_the_spectrum_of_noise():
    rng = np.random.default_rng(1)
    moments = moments_of(lambda z: rng.random(z.shape[1]), n=3000, k=60)
    values, _ = leading_directions(moments, "sir", 1)
    assert 0.8 < values[0] / bulk_edge(moments, "sir") < 1.15
    assert np.isnan(bulk_edge(moments, "dr"))
