"""State evolution of damped message passing: the algorithm on data of infinite dimension."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel
from learnability.learners.bayes._channel_step import ChannelStep
from learnability.learners.bayes._iteration import Start, iterate
from learnability.theory.information import label_information
from learnability.theory.limit_design import LimitDesign

__all__ = ["damped_paths"]

_SAMPLES, _REPLICAS = 2**15, 4


def damped_paths(
    channel: Channel, alpha: float, steps: int, begin: float, damping: float
) -> NDArray[np.float64]:
    """Overlaps along the iterations, of independent replicas.

    Parameters
    ----------
    channel : Channel
        The link and its noise.
    alpha : float
        Samples over dimension.
    steps : int
        Number of iterations.
    begin : float
        Overlap of the first estimate, which is as blurred as a posterior mean.
    damping : float
        Weight of the new iterate.

    Returns
    -------
    array, shape (replicas, steps + 1, r, r)
        A path that comes to rest earlier stays where it is.
    """
    r, exact = channel.link.r, label_information(channel).exponent == 0
    found = []
    for replica in range(_REPLICAS):
        rng = np.random.default_rng([replica, 5])
        size = r * (steps + 2)
        design = LimitDesign(_SAMPLES, alpha, size, 2 * r, rng)
        basis = np.eye(size)
        hidden, blur = basis[:r], basis[r : 2 * r]
        y = channel.sample(design.project(hidden).T, rng)
        first = Start(
            begin * hidden + math.sqrt(begin * (1 - begin)) * blur, (1 - begin) * np.eye(r)
        )
        step = ChannelStep(channel, y)
        run = iterate(
            design,
            step,
            first,
            hidden,
            damping,
            steps,
            0.0,
            project=LimitDesign.project,
            collect=LimitDesign.collect,
            exact=exact,
            with_information=step.with_information if exact else None,
        )
        rest = np.repeat(run.overlap[-1:], steps + 1 - len(run.overlap), axis=0)
        found.append(np.concatenate([run.overlap, rest]))
    return np.array(found)
