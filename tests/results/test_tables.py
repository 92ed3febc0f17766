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
               "alpha_full": np.nan, "alpha_algorithmic": 0.59375, "note": "Not so fast."},
    )  # fmt: skip


def test_the_table_of_runs() -> None:
    lines = table(learned(3)).splitlines()
    assert lines[:2] == ["y = z1*z2 + sqrt(0.1) xi", "Some(), d = 7, 3 seeds"]
    assert lines[3].split() == ["alpha", "overlap", "1", "overlap", "2", "error", "status"]
    # The mean of 0.5, 0.6, 0.7, and 0.1 / sqrt(3).
    assert "0.6000 +- 0.0577" in lines[5] and "0.2500 +- 0.0000" in lines[5]
    assert lines[4].endswith("3 converged") and lines[5].endswith("2 converged, 1 stopped")
    assert lines[7].split() == ["alpha_c", "infinite"] and lines[9].split() == ["alpha_full", "-"]
    assert lines[8].split() == ["alpha_algorithmic", "0.59375"]
    assert lines[-1] == "Note: Not so fast."


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


ABOUT = {"link": "z", "noise": 0.0, "learner": "Some()"}


def test_along_the_time_where_there_is_no_alpha() -> None:
    path = np.array([[[0.1], [0.2]], [[0.3], [0.6]]])[..., None]  # Seeds, times, neurons, indices.
    data = xarray.Dataset(
        {
            "overlap": (("seed", "estimate", "index"), path[:, -1]),
            "overlap_trace": (("seed", "time", "estimate", "index"), path),
            "status": ("seed", ["finished", "diverged"]),
        },
        {"time": [0.0, 0.5], "seed": [0, 1]},
        ABOUT,
    )
    lines = table(data).splitlines()
    assert lines[3].split() == ["time", "overlap", "1", "status"]
    assert lines[5].split()[:4] == ["0.5", "0.4000", "+-", "0.2000"]
    assert lines[5].endswith("1 finished, 1 diverged")
    one = table(data.isel(time=1)).splitlines()
    assert one[3:] == [lines[3], lines[5]]


def test_paths_at_several_ratios_are_several_tables() -> None:
    data = xarray.Dataset(
        {"error_trace": (("alpha", "time"), [[1.0, 0.5], [1.0, 0.25]])},
        {"alpha": [1.0, 2.0], "time": [0, 1]},
        ABOUT | {"inputs": "Spiked(strength=2.0)"},
    )
    first, second = table(data).split("\n\nalpha = 2.0\n")
    assert first.startswith("alpha = 1.0\ny = z, x from Spiked(strength=2.0)\n")
    assert second.splitlines()[-1].split() == ["1", "0.2500"]


def test_without_any_axis_there_is_one_row() -> None:
    values = {"recovery_time": ("seed", [3.0, np.inf]), "status": ("seed", ["recovered"] * 2)}
    data = xarray.Dataset(values, {"seed": [0, 1], "d": 50}, ABOUT)
    lines = table(data).splitlines()
    assert lines[1] == "Some(), d = 50, 2 seeds"
    assert lines[3].split() == ["recovery", "time", "status"]
    assert lines[4].split() == ["infinite", "2", "recovered"] and len(lines) == 5
    several = xarray.concat([data.drop_vars("d")] * 2, "d").assign_coords(d=[50, 100])
    lines = table(several).splitlines()
    assert lines[3].split()[0] == "d" and [line.split()[0] for line in lines[4:]] == ["50", "100"]


def test_the_standard_error_of_a_theory() -> None:
    values = {"error": ("alpha", [0.5, 0.25]), "error_stderr": ("alpha", [0.01, np.nan])}
    lines = table(xarray.Dataset(values, {"alpha": [1.0, 2.0]}, ABOUT)).splitlines()
    assert [line.split()[1:] for line in lines[4:]] == [["0.5000", "+-", "0.0100"], ["0.2500"]]


def test_fewer_neurons_than_directions() -> None:
    overlap = np.array([[[0.5, -0.25]]])
    data = xarray.Dataset({"overlap": (("alpha", "estimate", "index"), overlap)}, {"alpha": [1.0]})
    assert table(data.assign_attrs(ABOUT)).splitlines()[4].split() == ["1", "0.5000", "-0.2500"]


def test_of_many_neurons_the_best_and_of_many_numbers_none() -> None:
    overlap = np.zeros((1, 9, 1))
    overlap[0, 4] = -0.7
    data = xarray.Dataset(
        {
            "overlap": (("alpha", "estimate", "index"), overlap),
            "singular_values": (("alpha", "rank"), np.ones((1, 50))),
        },
        {"alpha": [1.0], "rank": np.arange(50)},
        ABOUT,
    )
    lines = table(data).splitlines()
    assert lines[3].split() == ["alpha", "overlap", "1"] and lines[4].split() == ["1", "0.7000"]
    alone = table(data.drop_vars("overlap").isel(alpha=0, drop=True)).splitlines()
    assert alone[3].split() == ["rank", "singular", "values"] and len(alone) == 54
