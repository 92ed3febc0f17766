"""Directions from gradients of a regression: local linear fits, a kernel machine, a network."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from learnability.estimators._base import SubspaceEstimator, check_choice, check_count
from learnability.estimators._giant_network import giant_network
from learnability.estimators._kernel_agop import kernel_agop, target_functions
from learnability.estimators._labels import read_labels
from learnability.estimators._local_gradients import local_gradients
from learnability.estimators._whitening import whiten

__all__ = ["GradientSubspace"]

_MOST_ROWS = 2500
"""The largest number of rows to which a kernel machine is fitted."""


class GradientSubspace(SubspaceEstimator):
    """Directions in which a fitted regression function changes.

    Parameters
    ----------
    method : {"opg", "agop", "giant"}, default "opg"
        Outer product of local gradients; average gradient outer product of a Laplace-kernel machine
        with tuned bandwidth and ridge (RFM); that of a network after giant steps.
    n_components : int, default 2
        Number of directions.
    n_anchors : int, default 300
        The number of local fits of "opg".
    n_iter : int, default 5
        Rounds in which the metric or the weights are updated; of "opg", those after the
        neighbourhoods have shrunk to `n_components` dimensions.
    random_state : int, RandomState or None, default None
        The seed of anchors, rows and initial weights.

    Attributes
    ----------
    components_ : array, shape (r, p)
        The directions, orthonormal in the metric of the covariance of x.
    center_ : array, shape (p,)
        Mean of x.
    gradient_spectrum_ : array
        Eigenvalues of the gradient product in decreasing order.
    """

    def __init__(
        self, method: str = "opg", n_components: int = 2, n_anchors: int = 300, n_iter: int = 5,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.method = method
        self.n_components = n_components
        self.n_anchors = n_anchors
        self.n_iter = n_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GradientSubspace:
        """Find the directions.

        Parameters
        ----------
        X : array, shape (n, p)
            The inputs.
        y : array, shape (n,) or (n, outputs)
            The target: numbers, of which only the order counts, or classes.
        sample_weight : array, shape (n,), optional
            Counts of the rows.

        Returns
        -------
        GradientSubspace
        """
        check_choice("method", self.method, ("opg", "agop", "giant"))
        check_count("n_components", self.n_components)
        check_count("n_anchors", self.n_anchors)
        check_count("n_iter", self.n_iter)
        X, y, weights = self._read_counted(X, y, sample_weight)
        labels = read_labels(y, weights)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        whitening = whiten(X, weights, "auto")
        Z = whitening.rows(X)
        T = target_functions(labels)
        r = min(self.n_components, whitening.rank)
        if self.method == "opg":
            values, vectors = local_gradients(
                Z, T, r, weights=weights, anchors=self.n_anchors, rounds=self.n_iter, rng=rng
            )
        elif self.method == "agop":
            values, vectors = kernel_agop(
                Z, T, weights=weights, rounds=self.n_iter, most=_MOST_ROWS, rng=rng
            )
        else:
            values, vectors = giant_network(
                Z, T, weights=weights, neurons=512, steps=self.n_iter, rng=rng
            )
        self.gradient_spectrum_ = values
        self._keep(whitening, vectors[:, :r])
        return self
