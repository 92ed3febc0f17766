"""What figures share: targets, links, sizes, kernels at their best ridge."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import KernelRidge, Link
from learnability.figures._literature import LINKS, SpikeSize, best_kernel, reference, relative


def test_errors_are_relative_to_the_labels() -> None:
    target = reference(N=8)
    assert target.feature_variance == pytest.approx(2 / 3)
    assert relative([0.0, target.label_variance], target) == pytest.approx([0, 1])
    assert reference().at(64).sizes == (8,)


@pytest.mark.parametrize("name", ["mehler", "quadratic"])
def test_the_ridge_of_least_predicted_error(name: str) -> None:
    target, d = reference(), 64
    few, many = best_kernel(name, target, d, 300), best_kernel(name, target, d, 4096)
    assert isinstance(few.ridge, float) and isinstance(many.ridge, float)
    assert few.ridge > many.ridge  # Few samples of a noisy rest need more of it.
    at = [
        float(KernelRidge(name, ridge).predict(target, d=d, alpha=300 / d).error)
        for ridge in few.ridge * np.array([0.5, 1.0, 2.0])
    ]
    assert at[1] <= min(at) + 1e-12
    assert best_kernel(name, target, d, 2).ridge == best_kernel(name, target, d, 5).ridge


@pytest.mark.parametrize("name", LINKS)
def test_links_have_unit_variance_and_one_degree(name: str) -> None:
    c = [float(Link(LINKS[name]).hermite(k, "orthonormal")) for k in range(5)]
    degree = int(name[2:])
    assert c == pytest.approx([float(k == degree) for k in range(5)])


def test_sizes_are_records() -> None:
    size = SpikeSize((60,), 1, (0.0, 0.7), 2)
    assert size == SpikeSize((60,), 1, (0.0, 0.7), 2) and hash(size)
