"""Spectra of the first layer and of its features: of runs, and in the limit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.errors import LearnabilityError
from learnability.learners.base import Found
from learnability.learners.giant._conditional import features_given
from learnability.learners.giant._limit_errors import covariance_density
from learnability.learners.giant._network import Parameters, blocks, readout_data
from learnability.learners.giant._outlier import bulk_density, outlier
from learnability.learners.giant._theory import check_limit, limit
from learnability.learners.giant._training import neurons, samples, train
from learnability.targets.base import Target

if TYPE_CHECKING:
    from learnability.learners.giant.learner import GiantSteps

__all__ = ["measured_spectra", "predicted_spectra"]

_POINTS = 300


def measured_spectra(
    learner: GiantSteps, target: Target, at: Mapping[str, Any], seed: int
) -> Found:
    """Spectra of the first layer and of its features, before and after the steps, by alpha."""
    d, alphas = at["d"], at["alpha"]
    training = train(learner, target, d, seed)
    both = (training.start, training.network)
    if not np.isfinite(training.network.W).all():
        raise LearnabilityError(
            "The weights grew without bound and have no spectrum: use a smaller `step`."
        )
    values, alignment = [], []
    for network in both:
        _, s, right = np.linalg.svd(network.W, full_matrices=False)
        values.append(s)
        alignment.append(np.sum((right @ training.hidden.T) ** 2, axis=1))
    eigenvalues = []
    for alpha in alphas:
        n, found = samples(alpha, d), []
        for network in both:
            batch = blocks(target, seed, n, d, training.used)
            F, _ = readout_data(network, learner.activation, batch, n)
            F -= F.mean(axis=0)
            found.append(np.linalg.eigvalsh(F.T @ F)[::-1] * (F.shape[1] / n))
        eigenvalues.append(found)
    once = {
        "outlier": values[1][0],
        "outlier_alignment": alignment[1][0],
        "layer_singular_values": np.array(values),
        "layer_alignment": np.array(alignment),
    }
    return Found(
        {name: np.broadcast_to(v, (len(alphas), *np.shape(v))) for name, v in once.items()}
        | {"feature_eigenvalues": np.array(eigenvalues)},
        {"time": [0, learner.steps]},
    )


def predicted_spectra(learner: GiantSteps, target: Target, at: Mapping[str, Any]) -> Found:
    """Return the outlier of the first layer after one step, and the densities of both bulks.

    The densities are those of neurons that are independent beyond the spike; where they are not,
    they are left out and a note says so.
    """
    d, alphas = at["d"], at["alpha"]
    given = limit(learner, target)
    p = neurons(learner, d)
    found = outlier(math.sqrt(p) * given.spike / given.bulk, p / d)
    once = {
        "outlier": given.bulk * found.value,
        "edge": given.bulk * found.edge,
        "left": found.left,
        "right": found.right,
        "outlier_alignment": given.alignment**2 * found.right,
    }
    values: dict[str, Any] = {name: np.full(len(alphas), value) for name, value in once.items()}
    try:
        check_limit(learner, "independent", independent=False)
    except LearnabilityError as reason:
        return Found(values, attrs={"note": f"The densities are left out. {reason}"})
    both = (Parameters(0.0, 0.0, 1.0), given)
    width, points = learner.width, at.get("points", _POINTS)
    s = np.linspace(1e-3, 1.05 * given.bulk * (1 + math.sqrt(width)), points)
    layer = [bulk_density(s / one.bulk, width) / one.bulk for one in both]
    inputs = [features_given(learner.activation, one) for one in both]
    largest = max(
        float((one.linear**2 * one.bulk**2 * (1 + math.sqrt(width)) ** 2 + one.rest).max())
        for one in inputs
    )
    edge = largest * (1 + math.sqrt(width / float(alphas.min()))) ** 2
    x = np.linspace(edge / points, edge, points)
    values["layer_density"] = np.broadcast_to(layer, (len(alphas), 2, points))
    values["feature_density"] = np.array(
        [[covariance_density(one, float(a), width, x) for one in inputs] for a in alphas]
    )
    return Found(values, {"time": [0, 1], "singular_value": s, "eigenvalue_at": x})
