"""Unseen parts of Gaussian inputs: chi-square quantiles and Bartlett's factor."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2, kstest, norm

from learnability.learners.online._residual_norms import (
    chi,
    normals_needed,
    quantile_series,
    triangular_factor,
)


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 59, 61, 1000, 10**6])
def test_one_normal_becomes_the_quantile(freedom):
    z = np.linspace(-5.5, 5.5, 301)
    series = quantile_series(freedom, 1)
    with jax.enable_x64(True):
        found = np.asarray(chi(series, jnp.asarray(z)[:, None]))[:, 0] ** 2
    exact = np.where(z < 0, chi2.ppf(norm.cdf(z), freedom), chi2.isf(norm.sf(z), freedom))
    np.testing.assert_allclose(found, exact, rtol=1e-6, atol=2e-7 * freedom)


def test_each_row_has_one_degree_of_freedom_less():
    rows = quantile_series(9, 4)
    assert rows.shape[0] == 4
    for k, row in enumerate(rows):
        np.testing.assert_allclose(row, quantile_series(9 - k, 1)[0], atol=1e-12)


@pytest.mark.parametrize(("batch", "freedom"), [(1, 3), (3, 7), (4, 2), (3, 1)])
def test_gram_matrices_are_those_of_normal_vectors(batch, freedom):
    """Trace and determinant-like statistics of T T^T against k-dimensional normal vectors."""
    count, columns = 4000, min(batch, freedom)
    series = quantile_series(freedom, columns)
    rng = np.random.default_rng(batch + 10 * freedom)
    z = rng.standard_normal((count, normals_needed(batch, columns)))
    with jax.enable_x64(True):
        drawn = jnp.asarray(z)
        drawn = drawn.at[:, :columns].set(chi(series, drawn[:, :columns]))
        T = np.asarray(jax.vmap(lambda row: triangular_factor(row, batch, columns))(drawn))
    gram = T @ np.swapaxes(T, 1, 2)
    X = rng.standard_normal((count, batch, freedom))
    direct = X @ np.swapaxes(X, 1, 2)
    for statistic in (lambda g: np.trace(g, axis1=1, axis2=2), lambda g: g.sum(axis=(1, 2))):
        assert kstest(statistic(gram), statistic(direct)).pvalue > 1e-3
    top = [np.linalg.eigvalsh(g)[:, -1] for g in (gram, direct)]
    assert kstest(*top).pvalue > 1e-3
