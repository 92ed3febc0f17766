"""Saving labelled results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
import xarray

from learnability import LearnabilityError
from learnability.results import save

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


@pytest.mark.parametrize("foreign", ["notes.txt", "overlap/photo.png", "7/mine"])
def test_a_foreign_file_in_the_old_folder_stays(
    result: xarray.Dataset, foreign: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.zarr"
    save(result, path)
    (path / foreign).parent.mkdir(exist_ok=True)
    (path / foreign).write_text("mine")
    before = sorted(str(p) for p in path.rglob("*"))
    with pytest.raises(LearnabilityError, match="not of a Zarr result"):
        save(result, path)
    assert sorted(str(p) for p in path.rglob("*")) == before
    (path / foreign).unlink()
    save(result, path)


def test_links_stay_links(result: xarray.Dataset, tmp_path: Path) -> None:
    for suffix in (".nc", ".csv", ".zarr"):
        real, link = tmp_path / "far" / f"real{suffix}", tmp_path / f"run{suffix}"
        link.symlink_to(real)
        for _ in range(2):
            save(result, link)
            assert link.is_symlink() and real.exists() and not real.is_symlink()
    assert sorted(p.name for p in (tmp_path / "far").iterdir()) == [
        "real.csv", "real.nc", "real.zarr",
    ]  # fmt: skip


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


def test_single_numbers_are_saved_too(tmp_path: Path) -> None:
    data = xarray.Dataset({"one": ((), 2.5), "two": ("x", [1.0, 3.0])}, {"alpha": 0.5})
    save(data, tmp_path / "both.csv")
    found = pandas.read_csv(tmp_path / "both.csv")
    assert found["variable"].tolist() == ["one", "two", "two"]
    assert found["value"].tolist() == [2.5, 1.0, 3.0] and set(found["alpha"]) == {0.5}
