"""Theory and runs as one set of numbers."""

from __future__ import annotations

import numpy as np
import xarray

from learnability.drawing.theory_and_runs import against


def result(alphas: list[float], times: list[float], neurons: int) -> xarray.Dataset:
    shape = (len(alphas), len(times), neurons)
    return xarray.Dataset(
        {
            "overlap": (("alpha", "estimate"), np.ones((len(alphas), neurons))),
            "overlap_trace": (("alpha", "time", "estimate"), np.ones(shape)),
        },
        {"alpha": alphas, "time": times, "noise": 0.1},
    )


def test_what_differs_is_kept_apart() -> None:
    data = against(result([1.0, 2.0], [0.0], 2), result([1.5], [0.0, 1.0, 2.0], 5), paths=True)
    assert data["theory_overlap_trace"].dims == ("theory_alpha", "theory_time", "theory_estimate")
    assert data["runs_overlap_trace"].sizes == {
        "runs_alpha": 1, "runs_time": 3, "runs_estimate": 5,
    }  # fmt: skip
    assert float(data["noise"]) == 0.1 and "threshold" not in data


def test_what_is_the_same_is_shared() -> None:
    data = against(result([1.0], [0.0, 1.0], 2), result([1.0], [0.0, 1.0], 2), [0.5], paths=True)
    assert data["runs_overlap_trace"].dims == ("runs_alpha", "time", "estimate")
    assert data["threshold"].values.tolist() == [0.5]
    short = against(result([1.0], [0.0], 2), result([1.0], [0.0], 2))
    assert set(short.variables) == {
        "theory_overlap", "runs_overlap", "theory_alpha", "runs_alpha", "noise",
    }  # fmt: skip
