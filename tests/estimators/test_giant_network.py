import numpy as np

from learnability.estimators._giant_network import giant_network


def test_it_finds_low_exponents_and_is_blind_to_high_ones():
    Z = np.random.default_rng(0).standard_normal((3000, 30))
    shares = []
    for T in (Z[:, 0] + Z[:, 0] * Z[:, 1], Z[:, 0] * Z[:, 1] * Z[:, 2] * Z[:, 3]):
        rng = np.random.default_rng(1)
        values, vectors = giant_network(
            Z, T[:, None], weights=np.ones(3000), neurons=256, steps=4, rng=rng
        )
        assert (np.diff(values) <= 1e-12).all()
        shares.append((vectors[:2, :2] ** 2).sum() / 2)
    assert shares[0] > 0.85 > 0.4 > shares[1]


def test_rows_of_weight_zero_do_not_count():
    Z = np.random.default_rng(2).standard_normal((400, 5))
    T = Z[:, :1] + np.where(np.arange(400) < 200, 0.0, 50 * Z[:, 1])[:, None]
    half = np.where(np.arange(400) < 200, 1.0, 0.0)

    def run(Z, T, weights):
        rng = np.random.default_rng(3)
        return giant_network(Z, T, weights=weights, neurons=64, steps=3, rng=rng)[0]

    np.testing.assert_allclose(run(Z, T, half), run(Z[:200], T[:200], np.ones(200)), rtol=1e-8)
