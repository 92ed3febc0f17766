"""The figure of kernels and random features, at a small size."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Hierarchical
from learnability.figures import lazy_polynomial
from learnability.figures._message_passing import Size

TINY = Size(d=12, runs=2, alphas=(1.0, 4.0), theory=12)


@pytest.fixture(scope="module")
def data():  # type: ignore[no-untyped-def]
    return lazy_polynomial.compute(TINY)


def test_the_numbers(data) -> None:  # type: ignore[no-untyped-def]
    np.testing.assert_allclose(data["floor"], [3, 2, 1, 0], atol=1e-9)
    np.testing.assert_allclose(data["runs_kappa"], np.log([12, 48]) / np.log(12))
    assert data["runs_kernel"].shape == (2, 2) and data["runs_features"].shape == (3, 2, 2)
    assert np.isfinite(data["theory_kernel"]).all() and np.isfinite(data["runs_features"]).all()
    # In a large dimension the line rests on the floors between whole numbers.
    line = data["theory_kernel"].sel(d=100_000)
    for kappa, floor in ((1.6, 2.0), (2.5, 1.0), (3.3, 0.0)):
        assert float(line.interp(theory_kappa=kappa)) == pytest.approx(floor, abs=0.15)


def test_the_picture(data) -> None:  # type: ignore[no-untyped-def]
    left, right = lazy_polynomial.picture(data).axes
    assert left.get_legend().get_texts()[0].get_text() == "$d = 12$"
    assert len(right.get_legend().get_texts()) == 3
    for axes in (left, right):
        heights = [float(line.get_ydata()[0]) for line in axes.lines if line.get_linestyle() == ":"]
        assert heights == pytest.approx([3.0, 2.0, 1.0])
        assert axes.get_xlabel()


def test_a_target_of_ones_own() -> None:
    target = Hierarchical("tanh(z)", "He2(z)", noise=0.25)
    data = lazy_polynomial.compute(TINY, target=target)
    assert float(data["floor"][0]) == pytest.approx(target.at(12).label_variance)
    assert data.attrs["link"] == "tanh(z)" and (np.diff(data["floor"]) <= 0).all()
    assert lazy_polynomial.picture(data).axes[0].get_ylim()[1] > float(data["floor"][0])


def test_sizes() -> None:
    full, quick = lazy_polynomial.FULL, lazy_polynomial.QUICK
    assert full.d == quick.d and full.runs > quick.runs
