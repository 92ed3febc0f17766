"""Planted problems for the tests of the estimators."""

import numpy as np


def planted(link, r, n, d, seed):
    """Rows, targets and hidden orthonormal directions (r, d)."""
    rng = np.random.default_rng(seed)
    W = np.linalg.qr(rng.standard_normal((d, r)))[0].T
    X = rng.standard_normal((n, d))
    return X, link((X @ W.T).T), W
