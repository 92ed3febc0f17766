"""Results as plain arrays with labels: the same numbers and the same tables as of xarray."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

import learnability as lb
from learnability.learners.base.driver import predicted, simulated
from learnability.results import table
from learnability.results.labelled import Labelled, labelled

MADE = Labelled(
    {
        "overlap": (("alpha", "seed", "estimate", "index"), np.arange(24.0).reshape(2, 3, 2, 2)),
        "status": (("alpha", "seed"), np.full((2, 3), "converged")),
    },
    {"alpha": ("alpha", [0.5, 2.0]), "seed": ("seed", [4, 5, 6]), "d": 7, "link": "abs(z)"},
    {"learner": "Some()", "link": "abs(z)", "noise": 0.0},
)


def test_parts_of_a_result() -> None:
    assert MADE.sizes == {"alpha": 2, "seed": 3, "estimate": 2, "index": 2}
    assert MADE.has("overlap") and MADE.has("d") and not MADE.has("error")
    assert MADE.values("index").array.tolist() == [0, 1]  # It has no coordinates.
    assert MADE.values("d").dims == () and MADE.values("d").array.item() == 7
    part = MADE.at({"seed": 1, "index": 0})
    assert part.sizes == {"alpha": 2, "estimate": 2}
    assert part.values("seed").array.item() == 5
    assert part.values("overlap").array.tolist() == [[4.0, 6.0], [16.0, 18.0]]
    assert MADE.values("seed").along("alpha", 2).array.tolist() == [[4, 5, 6]] * 2


def test_there_and_back() -> None:
    data = MADE.to_dataset()
    again = labelled(data)
    assert labelled(MADE) is MADE and again.sizes == MADE.sizes
    xarray.testing.assert_identical(again.to_dataset(), data)


@pytest.mark.parametrize("width", [60, 100])
def test_tables_are_those_of_datasets(width: int) -> None:
    amp, sgd = lb.BayesAMP(), lb.OnlineSGD(width=3)
    target = lb.MultiIndex("sign(z1*z2)", noise=0.0)
    ratios, times = {"alpha": [2.0, 4.0]}, {"time": 0.5, "d": 20}
    found = [
        MADE,
        predicted(amp, target, None, None, ratios),
        predicted(amp, target, None, None, {"alpha": 4.0}),
        simulated(lb.Spectral(), target, None, 3, {**ratios, "d": 20}),
        simulated(sgd, target, None, [3, 8], times),
    ]
    for one in found:
        assert table(one, width) == table(one.to_dataset(), width)
    learner = lb.RandomFeatures(0.5, "tanh(z)", (0.01, 1.0))
    runs = simulated(learner, "z + He3(z)", None, 2, {"alpha": 1.0, "d": 20})
    assert table(runs, width) == table(runs.to_dataset(), width)
    xarray.testing.assert_identical(
        runs.to_dataset(), learner.simulate("z + He3(z)", seeds=2, alpha=1.0, d=20)
    )
