"""Saving labelled results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
import xarray

from learnability import LearnabilityError
from learnability.results import save

from tests.reports import report_on


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
    with pytest.raises(LearnabilityError, match=r"but \.nc and \.csv are accepted\.$"):
        save(result, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
