"""Saving labelled results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
import xarray

from learnability import LearnabilityError
from learnability.results import save, table, whole_file

from tests.reports.shared import report_on


@pytest.fixture
def result() -> xarray.Dataset:
    return xarray.Dataset(
        {
            "overlap": (("alpha", "seed"), np.arange(6.0).reshape(3, 2)),
            "error": ("alpha", np.array([1.0, np.nan, np.inf])),
        },
        coords={"alpha": [0.5, 1.0, 2.0], "seed": [0, 1], "d": 500},
        attrs={"link": "abs(z)", "alpha_c": np.inf},
    )


def test_netcdf_comes_back(result: xarray.Dataset, tmp_path: Path) -> None:
    save(result, tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as again:
        xarray.testing.assert_identical(again.load(), result)


def test_csv_has_one_row_a_point(result: xarray.Dataset, tmp_path: Path) -> None:
    save(result, str(tmp_path / "run.csv"))
    table = pandas.read_csv(tmp_path / "run.csv")
    assert len(table) == 6 + 3
    overlap = table[table["variable"] == "overlap"].set_index(["alpha", "seed"])["value"]
    assert overlap[(2.0, 1)] == 5.0 and overlap[(0.5, 0)] == 0.0
    error = table[table["variable"] == "error"].set_index("alpha")["value"]
    assert error[0.5] == 1.0 and np.isnan(error[1.0]) and np.isinf(error[2.0])


def test_zarr_comes_back(result: xarray.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "run.zarr"
    result["status"] = ("alpha", ["converged", "stopped", "missing"])
    for _ in range(2):
        save(result, path)
    with xarray.open_dataset(path, engine="zarr") as again:
        xarray.testing.assert_equal(again.load(), result)
        assert again.attrs["link"] == "abs(z)"
    assert [p.name for p in tmp_path.iterdir()] == ["run.zarr"]


def test_a_folder_of_another_kind_stays(result: xarray.Dataset, tmp_path: Path) -> None:
    (tmp_path / "run.zarr").mkdir()
    (tmp_path / "run.zarr" / "mine").write_text("")
    with pytest.raises(LearnabilityError, match="no Zarr folder"):
        save(result, tmp_path / "run.zarr")
    assert (tmp_path / "run.zarr" / "mine").exists()


def test_a_single_number_as_csv(result: xarray.Dataset, tmp_path: Path) -> None:
    save(result.isel(alpha=0, seed=1), tmp_path / "run.csv")
    table = pandas.read_csv(tmp_path / "run.csv")
    assert table["value"].tolist() == [1.0, 1.0] and set(table["alpha"]) == {0.5}


@pytest.mark.parametrize("text", ["sign(z1*z2)", "z**2*exp(-z**2)", "5"])
@pytest.mark.parametrize("suffix", [".nc", ".csv"])
def test_every_report_can_be_saved(text: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"report{suffix}"
    data = report_on(text).to_dataset()
    save(data, path)
    if suffix == ".nc":
        with xarray.open_dataset(path, engine="h5netcdf") as again:
            xarray.testing.assert_equal(again.load(), data)
            assert again.attrs["kind"] == data.attrs["kind"]
    else:
        assert set(pandas.read_csv(path)["variable"]) == {
            name for name, variable in data.data_vars.items() if variable.size
        }


@pytest.mark.parametrize("name", ["run.txt", "run", "run.NC.zip"])
def test_other_suffixes_end_in_a_sentence(
    result: xarray.Dataset, name: str, tmp_path: Path
) -> None:
    with pytest.raises(LearnabilityError, match=r"but \.nc, \.csv, \.zarr are accepted\.$"):
        save(result, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".nc", ".csv", ".NC"])
def test_a_failure_leaves_the_old_file(
    result: xarray.Dataset, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"run{suffix}"
    save(result, path)
    before = path.read_bytes()

    def half(self: object, target: Path, **_: object) -> None:
        Path(target).write_bytes(b"half a file")
        raise KeyboardInterrupt

    monkeypatch.setattr(xarray.Dataset, "to_netcdf", half)
    monkeypatch.setattr(pandas.DataFrame, "to_csv", half)
    with pytest.raises(KeyboardInterrupt):
        save(2 * result, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_appears_at_the_end(tmp_path: Path) -> None:
    with whole_file(tmp_path / "run.txt") as part:
        part.write_text("all of it")
        assert part.parent == tmp_path and not (tmp_path / "run.txt").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["run.txt"]
    assert (tmp_path / "run.txt").read_text() == "all of it"


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


def test_single_numbers_are_saved_too(tmp_path: Path) -> None:
    data = xarray.Dataset({"one": ((), 2.5), "two": ("x", [1.0, 3.0])}, {"alpha": 0.5})
    save(data, tmp_path / "both.csv")
    found = pandas.read_csv(tmp_path / "both.csv")
    assert found["variable"].tolist() == ["one", "two", "two"]
    assert found["value"].tolist() == [2.5, 1.0, 3.0] and set(found["alpha"]) == {0.5}
