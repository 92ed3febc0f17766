"""Planted problems and peers of ``bench_estimators.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler

from learnability.estimators import GradientSubspace

LINKS: dict[str, tuple[int, Any]] = {
    "z1+z1z2": (2, lambda z: z[0] + z[0] * z[1]),
    "z1^2-z2^2": (2, lambda z: z[0] ** 2 - z[1] ** 2),
    "z1z2z3": (3, lambda z: z[0] * z[1] * z[2]),
    "sign(z1z2)": (2, lambda z: np.sign(z[0] * z[1])),
    "|z|": (1, lambda z: np.abs(z[0])),
    "z1^2+sign(z1z2z3)": (3, lambda z: z[0] ** 2 + np.sign(z[0] * z[1] * z[2])),
    "tanh(z1)+z2^2": (2, lambda z: np.tanh(z[0]) + z[1] ** 2),
    "He3(z1)": (1, lambda z: z[0] ** 3 - 3 * z[0]),
    "z1+He3(z1)z2": (2, lambda z: z[0] + (z[0] ** 3 - 3 * z[0]) * z[1]),
}


def planted(link: str, d: int, n: int, seed: int) -> tuple[Any, Any, Any]:
    """Gaussian rows, targets and hidden directions."""
    r, g = LINKS[link]
    rng = np.random.default_rng(seed)
    W = np.linalg.qr(rng.standard_normal((d, r)))[0].T
    X = rng.standard_normal((n, d))
    return X, g((X @ W.T).T), W


class Pls(TransformerMixin, BaseEstimator):
    """Partial least squares."""

    def __init__(self, r: int = 1) -> None:
        self.r = r

    def fit(self, X: Any, y: Any) -> Pls:
        """Find the directions."""
        y = np.eye(len(np.unique(y)))[y] if np.asarray(y).dtype.kind == "i" else y
        self.model_ = PLSRegression(self.r).fit(X, y)
        self.components_ = self.model_.x_rotations_.T
        return self

    def transform(self, X: Any) -> Any:
        """Coordinates."""
        return self.model_.transform(X)


class Network:
    """Gradient product of an early-stopped network of 128 neurons."""

    def __init__(self, r: int) -> None:
        self.r = r

    def fit(self, X: Any, y: Any) -> Network:
        """Find the directions."""
        Z = StandardScaler().fit(X)
        net = MLPRegressor(
            hidden_layer_sizes=(128,), early_stopping=True, max_iter=200, random_state=0
        )
        net.fit(Z.transform(X), (y - y.mean()) / y.std())
        W, a = net.coefs_[0], net.coefs_[1][:, 0]
        active = Z.transform(X) @ W + net.intercepts_[0] > 0
        gradient = (active * a) @ W.T / Z.scale_
        self.components_ = np.linalg.svd(gradient, full_matrices=False)[2][: self.r]
        return self


class Given(TransformerMixin, BaseEstimator):
    """The true directions."""

    def __init__(self, components_: Any = None) -> None:
        self.components_ = components_

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Given:
        """Nothing to find."""
        return self

    def transform(self, X: Any) -> Any:
        """Coordinates."""
        return X @ self.components_.T


class Recursive(RegressorMixin, BaseEstimator):
    """A recursive feature machine: Laplace kernel ridge in its metric, tuned by five folds."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Recursive:
        """Find the metric and fit the machine."""
        self.metric_ = GradientSubspace("agop", X.shape[1], random_state=self.seed).fit(X, y)
        self.roots_ = np.sqrt(np.maximum(self.metric_.gradient_spectrum_, 0))
        self.mean_, self.scale_ = y.mean(), y.std()
        rows = self._rows(X)
        spread = float(np.abs(rows[:200, None] - rows[None, :200]).sum(axis=2).mean())
        grid = {"gamma": np.array([0.1, 0.3, 1.0, 3.0]) / spread, "alpha": [1e-3, 1e-2, 0.1, 1.0]}
        machine = GridSearchCV(KernelRidge(kernel="laplacian"), grid, cv=5)
        self.machine_ = machine.fit(rows, (y - self.mean_) / self.scale_)
        return self

    def predict(self, X: Any) -> Any:
        """Predicted targets."""
        return self.machine_.predict(self._rows(X)) * self.scale_ + self.mean_

    def _rows(self, X: Any) -> Any:
        return self.metric_.transform(X) * self.roots_
