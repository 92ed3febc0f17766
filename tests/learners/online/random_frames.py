"""Targets and learners that nobody wrote down: random spikes, alignments, links and rules."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnability import MultiIndex, OnlineSGD
from learnability.inputs import Spiked

LINKS = {
    1: ("tanh(2*z) + z**2/2", "sign(z) + z/2", "He3(z)/sqrt(6) + abs(z)"),
    2: ("z1*z2 + z1", "sign(z1) + relu(z2)", "sin(z1 + z2)"),
    3: ("z1*z2 + tanh(z3)", "z1 + He2(z2)/2 - z3", "sign(z1*z2) + z3"),
}
ACTIVATIONS = ("tanh(z)", "relu(z)", "sin(z) + z/3")
RULES: tuple[dict[str, Any], ...] = (
    {},
    {"normalisation": "normalised"},
    {"normalisation": "whitened"},
    {"spherical": True},
    {"rule": "extragradient", "look_ahead": 0.5, "spherical": True},
    {"rule": "repetition", "repetitions": 2},
)


class Case(NamedTuple):
    """A learner on a target, and order parameters to begin with, as a function of the dimension."""

    learner: OnlineSGD
    target: MultiIndex

    def start(self, seed: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(Q, M, S) of weights of unit length, of which about a third is along the marked axes."""
        frame, rng = self.target.inputs.frame(self.target.r, d), np.random.default_rng([23, seed])
        p, k = self.learner.width, len(frame.scale)
        W = np.concatenate(
            [rng.standard_normal((p, k)) / np.sqrt(k), 1.4 * rng.standard_normal((p, 6)) / 6**0.5],
            axis=1,
        )
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        axes = W[:, :k]
        return W @ W.T, axes @ frame.hidden.T, axes[:, : frame.spikes]


def random_case(seed: int) -> Case:
    """One to three spikes, hidden directions and alignments at random, one or two neurons.

    Singular values of the cosines of spikes with hidden directions are uniform; in every fourth
    case the first is 1, so that the two have a direction in common.
    """
    rng = np.random.default_rng([19, seed])
    spikes, r, p = (int(rng.integers(1, n)) for n in (4, 4, 3))
    left, right = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (spikes, r))
    values = rng.uniform(0, 1, min(spikes, r))
    if seed % 4 == 0:
        values[0] = 1.0
    cosines = (left[:, : len(values)] * values) @ right[: len(values)]
    inputs = Spiked(tuple(rng.uniform(0.5, 6.0, spikes)), tuple(map(tuple, cosines)))
    link, noise = LINKS[r][rng.integers(3)], float(rng.choice([0.0, 0.1]))
    target = MultiIndex(link, noise=noise, inputs=inputs)
    learner = OnlineSGD(
        width=p,
        activation=ACTIVATIONS[rng.integers(3)],
        step=0.4,
        batch=int(rng.integers(1, 3)),
        second_layer=tuple(rng.uniform(0.4, 1.0, p)),
        second_step=float(rng.choice([0.0, 0.2])),
        **RULES[seed % len(RULES)],
    )
    return Case(learner, target)
