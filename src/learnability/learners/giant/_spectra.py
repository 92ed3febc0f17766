"""Spectra of the first layer and of its features, measured in runs and in the limit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.errors import LearnabilityError
from learnability.labels.hermite import expand
from learnability.learners.base import Found
from learnability.learners.giant._conditional import features_given
from learnability.learners.giant._layer_spectrum import (
    LayerOutlier,
    batch_eigenvalues,
    layer_density,
    layer_outlier,
)
from learnability.learners.giant._limit_errors import covariance_density
from learnability.learners.giant._network import Parameters, blocks, readout_data
from learnability.learners.giant._parameters import Bends, bends
from learnability.learners.giant._theory import batch_law, batch_of, limit
from learnability.learners.giant._training import neurons, samples, step_size, train
from learnability.targets.base import Target

if TYPE_CHECKING:
    from learnability.learners.giant.learner import GiantSteps

__all__ = ["measured_spectra", "predicted_spectra"]

_POINTS = 300
_EDGE = (
    "Only the outlier lies beyond the edge. Where a few samples of a batch have much larger errors "
    "than the others, each has its own singular value, the largest up to a fifth below the edge."
)
_BATCHES = 8
"""Number of batches drawn for the mean of the outlier and the edge."""
_TYPICAL = 300
"""Dimension of the draw whose covariance of rows stands for the limit in the densities."""


def measured_spectra(
    learner: GiantSteps, target: Target, at: Mapping[str, Any], seed: int
) -> Found:
    """Return spectra of the first layer and its features before and after the steps, by alpha."""
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


def _check_rows(learner: GiantSteps) -> Bends:
    """Return the moments of the activation on which a step depends, if all rows have one law.

    Raises
    ------
    LearnabilityError
        When rows have several laws.
    """
    known = bends(learner.activation)
    same = learner.init == "signs" and expand(learner.activation, 2).is_zero(2) is True
    if learner.init != "ones" and not same:
        raise LearnabilityError(
            f"The spectrum after a step was asked for init={learner.init!r} and "
            f"{learner.activation!r}, but it is known for init='ones', and for init='signs' with "
            "E[sigma''] = 0, where all neurons have one law: `simulate` measures it."
        )
    return known


def predicted_spectra(learner: GiantSteps, target: Target, at: Mapping[str, Any]) -> Found:
    """Return the outlier of the first layer after one step, and the densities of both bulks.

    Outlier and edge are means over batches of the requested size.
    """
    d, alphas = at["d"], at["alpha"]
    known, given = _check_rows(learner), limit(learner, target)
    p, step = neurons(learner, d), step_size(learner, target, None)
    found = [_drawn_outlier(learner, target, known, d, seed) for seed in range(_BATCHES)]
    parts = np.array([[*one.outlier, one.alignment] for one in found])
    names = ("outlier", "edge", "left", "right", "outlier_alignment")
    values: dict[str, Any] = {}
    for name, mean, spread in zip(
        names, parts.mean(axis=0), parts.std(axis=0, ddof=1), strict=True
    ):
        values[name] = np.full(len(alphas), mean)
        values[f"{name}_stderr"] = np.full(len(alphas), spread / math.sqrt(_BATCHES))
    batch = batch_law(target, learner.activation, learner.init, step, learner.batch)
    rows = batch_eigenvalues(batch, _TYPICAL, np.random.default_rng([0, 16]))
    # Neighbours are averaged, which does not change the smoothed densities.
    laws = (np.ones(1), rows.reshape(-1, 5).mean(axis=1))
    both = (Parameters(0.0, 0.0, 1.0), given)
    beta, points, edge = p / d, at.get("points", _POINTS), parts[:, 1].mean()
    s = np.linspace(1e-3, 1.05 * max(edge, 1 + math.sqrt(beta)), points)
    layer = [layer_density(law, beta, s) for law in laws]
    inputs = [features_given(learner.activation, one) for one in both]
    largest = max(
        float((one.linear**2 * end**2 + one.rest).max())
        for one, end in zip(inputs, (1 + math.sqrt(beta), edge), strict=True)
    )
    last = largest * (1 + math.sqrt(beta / float(alphas.min()))) ** 2
    x = np.linspace(last / points, last, points)
    values["layer_density"] = np.broadcast_to(layer, (len(alphas), 2, points))
    values["feature_density"] = np.array(
        [
            [
                covariance_density(one, float(a), beta, x, law)
                for one, law in zip(inputs, laws, strict=True)
            ]
            for a in alphas
        ]
    )
    coords = {"time": [0, 1], "singular_value": s, "eigenvalue_at": x}
    return Found(values, coords, {"note": _EDGE})


def _drawn_outlier(
    learner: GiantSteps, target: Target, known: Bends, d: int, seed: int
) -> LayerOutlier:
    """Return the outlier given one batch, whose coordinates and labels of the target are drawn."""
    n, step = samples(learner.batch, d), step_size(learner, target, None)
    rng = np.random.default_rng([seed, 16])
    z = rng.standard_normal((n, target.r))
    y = np.asarray(target.channel.sample(z, rng), dtype=float)
    batch = batch_of(z, y, np.full(n, 1 / n), known, learner.init, step, n / d)
    noise = math.sqrt(batch.power * (d - target.r) / n)
    common = step * known.slope * np.append(batch.e @ z / n, noise)
    return layer_outlier(batch, common, neurons(learner, d) / d, d)
