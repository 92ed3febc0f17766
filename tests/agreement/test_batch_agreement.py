"""Gradient descent that reuses its batch: runs against mean-field theory and published runs.

Seeds are fixed. Each test compares means over the seeds with predictions along all iterations from
the first; its level is 0.001 in all, divided by the number of comparisons (Bonferroni), with
Student's t for the few seeds and the Monte-Carlo errors of the theory added in squares. Nothing is
allowed for the finite dimension.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t as student

from learnability import BatchGD, MultiIndex

from tests.learners.batch.derivative_theory import derivative_theory
from tests.reference_values import BATCH_REUSE

pytestmark = pytest.mark.agreement

LEVEL = 1e-3
PATHS = ("overlap_trace", "gram_trace", "error_trace", "train_error_trace")
HARD_TANH = "where(abs(z) < 1, z, sign(z))"
CASES = {
    "smooth link, relu": ("tanh(2*z)", 0.0, 3.0, BatchGD(step=0.3)),
    "a jump, relu": ("sign(z)", 0.0, 2.0, BatchGD(step=0.4)),
    "only later steps see it": ("He3(z)", 0.0, 3.0, BatchGD(step=0.1, activation="tanh(z)")),
    "jumps, a kink at the minimum, a start with overlap": (
        "sign(abs(z) - 1)", 0.0, 2.0,
        BatchGD(step=0.1, activation="abs(z)", start=(1.0, 0.3)),
    ),
    "two neurons, two directions, noise, ridge": (
        "sign(z1) + z1*z2", 0.3, 1.5,
        BatchGD(steps=5, step=0.5, width=2, ridge=0.3, second_layer=(0.7, -1.2)),
    ),
    "correlation loss with noise and ridge, fewer samples than dimensions": (
        "sign(z1*z2) + z2", 0.2, 0.7,
        BatchGD(
            steps=5, step=0.3, width=2, loss="correlation", ridge=0.5, activation="max(z, -0.5)",
            start=(((1.0, 0.2), (0.2, 0.5)), ((0.2, 0.1), (0.0, -0.3))),
        ),
    ),
    "three neurons with two kinks each": (
        "step(z1 - 0.3)*z2", 0.0, 1.0, BatchGD(steps=4, width=3, step=0.3, activation=HARD_TANH)
    ),
}  # fmt: skip


def distance(
    runs: np.ndarray, theory: np.ndarray, error: np.ndarray, comparisons: int
) -> np.ndarray:
    """Gap between the mean over the seeds, the first axis, and theory, over what is allowed."""
    count = len(runs)
    combined = np.sqrt(runs.var(axis=0, ddof=1) / count + error**2)
    allowed = student.isf(LEVEL / 2 / comparisons, count - 1) * combined
    return np.asarray(np.abs(runs.mean(axis=0) - theory) / allowed)


@pytest.mark.parametrize("name", CASES)
def test_paths(name: str) -> None:
    link, noise, alpha, learner = CASES[name]
    target = MultiIndex(link, noise=noise)
    theory = learner.predict(target, alpha=alpha)
    runs = learner.simulate(target, d=1000, alpha=alpha, seeds=24)
    assert (runs.status == "finished").all() and theory.status == "finished"
    comparisons = sum(theory[path][1:].size for path in PATHS)
    for path in PATHS:
        found, expected, error = runs[path], theory[path], theory[f"{path}_stderr"]
        gap = distance(found.values[:, 1:], expected.values[1:], error.values[1:], comparisons)
        assert gap.max() <= 1, (path, gap)


def test_a_theory_without_the_kink_is_told_apart() -> None:
    """The runs see what the delta function of relu'' adds, at sizes where the theory agrees."""
    learner = BatchGD(steps=4, step=0.4)
    runs = learner.simulate("sign(z)", d=1000, alpha=2.0, seeds=24).gram_trace.values[..., 0, 0]
    slopes = (lambda h: np.maximum(h, 0), lambda h: (h > 0) * 1.0, np.zeros_like)
    _, wrong = derivative_theory(np.sign, slopes, alpha=2.0, step=0.4, steps=4, seed=0)
    gap = distance(runs[:, 1:], wrong[1:], np.full(4, 1e-3), 4)
    assert gap[0] <= 1 and np.all(gap[1:] > 2)


def test_published_runs() -> None:
    """Overlaps and error within three combined standard errors at every step, by both sides."""
    learner, link, count = BatchGD(width=2), "tanh(z1 + He3(z2))", 32
    theory = learner.predict(link, alpha=3.0)
    runs = learner.simulate(link, d=2000, alpha=3.0, seeds=count)

    def near(mean: np.ndarray, error: np.ndarray, value: object, stderr: object) -> None:
        gap = np.abs(mean - np.asarray(value)) / np.hypot(error, np.asarray(stderr))
        assert gap[1:].max() <= 3, gap

    overlap = runs.overlap_trace.values
    difference = (overlap[:, :, 0] - overlap[:, :, 1]) / 2
    expected = (theory.overlap_trace.values[:, 0] - theory.overlap_trace.values[:, 1]) / 2
    spread = np.hypot(*np.moveaxis(theory.overlap_trace_stderr.values, 1, 0)) / 2
    error = runs.error_trace.values
    for k in range(2):
        published = BATCH_REUSE.overlap[k], BATCH_REUSE.overlap_stderr[k]
        own = difference[:, :, k]
        with np.errstate(invalid="ignore"):  # At the start all is exact.
            near(own.mean(axis=0), own.std(axis=0, ddof=1) / math.sqrt(count), *published)
            near(expected[:, k], spread[:, k], *published)
    published = BATCH_REUSE.error, BATCH_REUSE.error_stderr
    near(error.mean(axis=0), error.std(axis=0, ddof=1) / math.sqrt(count), *published)
    near(theory.error_trace.values, theory.error_trace_stderr.values, *published)
