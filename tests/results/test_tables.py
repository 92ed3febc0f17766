"""Results as a table to read."""

from __future__ import annotations

import numpy as np
import xarray

from learnability.results import table


def learned(seeds: int) -> xarray.Dataset:
    overlap = np.zeros((2, seeds, 2, 2))
    overlap[..., 0, 0], overlap[1, :, 1, 1] = 0.25, 0.5 + 0.1 * np.arange(seeds)
    status = np.full((2, seeds), "converged", dtype=object)
    status[1, 0] = "stopped"
    return xarray.Dataset(
        {
            "overlap": (("alpha", "seed", "estimate", "index"), overlap),
            "error": (("alpha", "seed"), np.full((2, seeds), 1.5)),
            "status": (("alpha", "seed"), status.astype(str)),
        },
        coords={"alpha": [0.5, 2.0], "seed": np.arange(seeds)},
        attrs={"link": "z1*z2", "noise": 0.1, "learner": "Some()", "d": 7, "alpha_c": np.inf,
               "alpha_full": np.nan, "alpha_weak": 0.59375, "note": "Not so fast."},
    )  # fmt: skip


def test_the_table_of_runs() -> None:
    lines = table(learned(3)).splitlines()
    assert lines[:2] == ["y = z1*z2 + sqrt(0.1) xi", "Some(), d = 7, 3 seeds"]
    assert lines[3].split() == ["alpha", "overlap", "1", "overlap", "2", "error", "status"]
    # The mean of 0.5, 0.6, 0.7, and 0.1 / sqrt(3).
    assert "0.6000 +- 0.0577" in lines[5] and "0.2500 +- 0.0000" in lines[5]
    assert lines[4].endswith("3 converged") and lines[5].endswith("2 converged, 1 stopped")
    assert lines[7].split() == ["alpha_c", "infinite"] and lines[8].split() == ["alpha_full", "-"]
    assert lines[9].split() == ["alpha_weak", "0.59375"] and lines[-1] == "Note: Not so fast."


def test_one_run_has_no_standard_error() -> None:
    one = table(learned(1))
    assert "+-" not in one and "1 seed\n" in one and one.count("stopped") == 1


def test_the_table_of_a_prediction_at_one_ratio() -> None:
    point = learned(1).isel(seed=0, alpha=1, drop=False)
    line = table(point).splitlines()[4]
    assert line.split() == ["2", "0.2500", "0.5000", "1.5000", "stopped"]


def test_what_is_not_predicted_is_a_dash() -> None:
    data = learned(1).isel(seed=0)
    data["overlap"][0] = np.nan
    assert table(data).splitlines()[4].split()[1:3] == ["-", "-"]


def test_a_column_for_each_ridge() -> None:
    from learnability import RandomFeatures

    learner = RandomFeatures(0.5, "tanh(z)", (0.01, 1.0))
    shown = table(learner.simulate("z", d=12, alpha=[1.0, 2.0], seeds=2)).splitlines()
    assert "error (0.01)" in shown[3] and "train error (1)" in shown[3] and len(shown) == 6
    assert "2 solved" in shown[4] and " +- " in shown[4]
