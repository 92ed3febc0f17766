"""Spectra of the first layer and of its features: of runs, and in the limit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from learnability.learners.giant._conditional import features_given
from learnability.learners.giant._hyperparameters import neurons, sigma
from learnability.learners.giant._network import Parameters, blocks, readout_data
from learnability.learners.giant._runs import trained
from learnability.learners.giant._spectrum import bulk_density, outlier
from learnability.learners.giant._spiked import covariance_density
from learnability.learners.giant._theory import check_limit, limit
from learnability.learners.protocol import dataset
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import checked_sizes

if TYPE_CHECKING:
    import xarray

    from learnability.learners.giant.learner import GiantSteps

__all__ = ["predicted_bulk", "predicted_spectrum", "spectra"]


def spectra(
    learner: GiantSteps, target: MultiIndex, d: int, alpha: float, seed: int
) -> xarray.Dataset:
    """Spectra of a run; see `GiantSteps.spectrum`."""
    n, d = checked_sizes(target.r, None, d, alpha, np.float32)
    training = trained(learner, target, d, seed)
    values, alignment, eigenvalues = [], [], []
    for W in (training.start, training.network.W):
        _, s, right = np.linalg.svd(W, full_matrices=False)
        values.append(s)
        alignment.append(np.sum((right @ training.hidden.T) ** 2, axis=1))
        F, _ = readout_data(W, sigma(learner), blocks(target, seed, n, d, training.used), n)
        F -= F.mean(axis=0)
        eigenvalues.append(np.linalg.eigvalsh(F.T @ F)[::-1] * (len(W) / n))
    return dataset(
        learner,
        target,
        "spectrum",
        np.asarray(float(alpha)),
        {
            "singular_values": (("time", "rank"), values),
            "alignment": (("time", "rank"), alignment),
            "feature_eigenvalues": (("time", "neuron"), eigenvalues),
        },
        {"time": ("time", [0, learner.steps])},
        d=d,
    )


def predicted_spectrum(learner: GiantSteps, target: MultiIndex, d: int) -> xarray.Dataset:
    """The outlier of W; see `GiantSteps.predict_spectrum`."""
    _, d = checked_sizes(target.r, None, d, learner.batch, np.float32)
    given = limit(learner, target)
    p = neurons(learner, d)
    found = outlier(math.sqrt(p) * given.spike / given.bulk, p / d)
    return dataset(
        learner,
        target,
        "predict_spectrum",
        np.asarray(learner.batch),
        {
            "outlier": ((), given.bulk * found.value),
            "edge": ((), given.bulk * found.edge),
            "left": ((), found.left),
            "right": ((), found.right),
            "alignment": ((), given.alignment**2 * found.right),
        },
        d=d,
    )


def predicted_bulk(
    learner: GiantSteps, target: MultiIndex, ratio: NDArray[np.float64], points: int
) -> xarray.Dataset:
    """Densities of both bulks; see `GiantSteps.predict_bulk`."""
    check_limit(learner, "independent", independent=False)
    after = limit(learner, target)
    both = (Parameters(0.0, 0.0, 1.0), after)
    s = np.linspace(1e-3, 1.05 * after.bulk * (1 + math.sqrt(learner.width)), points)
    layer = [bulk_density(s / one.bulk, learner.width) / one.bulk for one in both]
    inputs = [features_given(sigma(learner), one) for one in both]
    largest = max(
        float((one.linear**2 * one.bulk**2 * (1 + math.sqrt(learner.width)) ** 2 + one.rest).max())
        for one in inputs
    )
    edge = largest * (1 + math.sqrt(learner.width / float(ratio))) ** 2
    x = np.linspace(edge / points, edge, points)
    features = [covariance_density(one, float(ratio), learner.width, x) for one in inputs]
    return dataset(
        learner,
        target,
        "predict_bulk",
        ratio,
        {
            "layer_density": (("time", "singular_value"), layer),
            "feature_density": (("time", "eigenvalue"), features),
        },
        {
            "time": ("time", [0, 1]),
            "singular_value": ("singular_value", s),
            "eigenvalue": ("eigenvalue", x),
        },
    )
