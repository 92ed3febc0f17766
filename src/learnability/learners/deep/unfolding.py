"""A layer that recovers many features at once: the unfolding of a moment of the labels.

One preconditioned step finds one function q of the layer below, so that of a level of B features of
a tree only their sum is found. The residual of the labels is y - q. With psi the orthonormal
Hermite products of the variables below, up to a degree, the matrix

    C = (1/n) sum_i (y_i - q(x_i)) psi_i psi_i^T / |psi_i|^2

is, for a label c sum_b a_b He_2(h_b) of features h_b = v_b . psi, a weighted sum of the v_b v_b^T
plus noise, as the second moment of the labels is for directions of the inputs: its leading
eigenvectors are the features, up to a rotation. It is the tensor of the moments of twice the
degree, unfolded to a matrix. It is divided by the squared length of psi because a few far samples
would otherwise have eigenvectors of their own. The functions are found on the first half of the
samples, and later layers read the rest.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961 (trees and what a layer has to find).
Wang, Nichani, Lee, NeurIPS 2023; Montanari, Richard, NeurIPS 2014 (unfolding of tensors).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import record, whole
from learnability.gaussian.hermite_products import hermite_products
from learnability.learners.deep._leave_one_out import fit_by_leave_one_out
from learnability.learners.deep.stages import Blocks, Trained, spread_over_neurons
from learnability.targets.base import checked_memory
from learnability.targets.hierarchical import Hierarchical

__all__ = ["UnfoldingLayer", "features_n_star"]

_LEAST = 8  # The least number of samples of a half.
_SAMPLES = 200_000


@record
class UnfoldingLayer:
    """Several functions of the layer below at once: one by regression, the others by unfolding."""

    features: int = whole(
        4, help="Number of functions besides that of the regression: features of the level."
    )
    degree: int = whole(2, at_most=3, help="Highest degree of the functions in the layer below.")
    width: int = whole(300, help="Number of neurons of the layer.")

    def learn(self, below: Blocks, y: NDArray[Any], seed: int, place: int) -> Trained:
        """Train on pre-activations of the layer below; see `PreconditionedSecondLayer.learn`.

        They are taken as Gaussian variables, as those of a first layer without a width are.
        """
        u = np.concatenate(list(below()))
        n, half = len(u), len(u) // 2
        products = math.comb(u.shape[1] + self.degree, self.degree) - 1
        if half < _LEAST or self.features > products:
            raise LearnabilityError(
                f"{self.features} functions were asked of {n} samples and {products} products up "
                f"to degree {self.degree}, but at least {2 * _LEAST} samples and as many products "
                "as functions are needed."
            )
        checked_memory(
            f"{products} products of {n} samples", 8.0 * products * (n + 2 * products),
            "use a smaller `degree`, or a first layer of fewer variables",
        )  # fmt: skip
        psi = _products(u, self.degree)
        fit = fit_by_leave_one_out(lambda: [psi[:half]], y[None, :half])
        missed = y[:half] - fit(psi[:half])[:, 0]
        weights = missed / np.sum(psi[:half] ** 2, axis=1)
        values, vectors = np.linalg.eigh((psi[:half] * weights[:, None]).T @ psi[:half])
        leading = vectors[:, np.argsort(-np.abs(values))[: self.features]].astype(u.dtype)

        def of_products(found: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([fit(found), found @ leading], axis=1)

        unseen = of_products(psi[half:])
        spread = spread_over_neurons(unseen, self.width, seed, place, unseen.shape[1] ** -0.5)
        return Trained(
            lambda v: of_products(_products(v, self.degree)), spread, spread(unseen),
            fit.ridge[0], half,
        )  # fmt: skip


def _products(u: NDArray[Any], degree: int) -> NDArray[Any]:
    """Return orthonormal Hermite products of degrees 1 to `degree`, shape (n, products)."""
    found = [hermite_products(u, k) for k in range(1, degree + 1)]
    return np.ascontiguousarray(np.concatenate(found).T, dtype=u.dtype)


def features_n_star(target: Hierarchical, degree: int = 2) -> float:
    """Return the samples from which an unfolding of the labels shows the features of a level.

    The level is the one below the last. The number is p Var(y) / theta^2 with p products up to a
    degree and theta = E[f He_2(h_b)], the least over its features h_b, from 200 000 samples: the
    transition of the second moment of the labels with products in place of inputs. It holds for
    Gaussian products and labels without a linear part; the products are not Gaussian, so that it is
    a scale and not a prediction.

    Parameters
    ----------
    target : Hierarchical
        A target whose N is a number, of depth at least 4.
    degree : int
        Highest degree of the products.

    Returns
    -------
    float
        Infinite when theta is zero within 3 standard errors.

    Raises
    ------
    LearnabilityError
        When the tree has depth 3.
    """
    if target.depth < 4:
        raise LearnabilityError(
            f"A tree of depth {target.depth} has no features below the last ones: use depth 4."
        )
    D = target.r * target.sizes[0]
    z = np.random.default_rng(1618).standard_normal((_SAMPLES, D))
    levels = target.features(z, np.eye(D))
    f = np.asarray(target.link(levels[-1][..., 0]), dtype=float)
    variance = float(f.var()) + target.noise
    below = levels[-2].reshape(len(z), -1)
    values = (f - f.mean())[:, None] * (below**2 - 1)
    theta, error = np.abs(values.mean(axis=0)), values.std(axis=0) / math.sqrt(len(z))
    if (theta < 3 * error).any():
        return math.inf
    products = math.comb(D + degree, degree) - 1
    return products * variance / float(theta.min()) ** 2
