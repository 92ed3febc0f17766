"""The figure of batch reuse at a small size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
import xarray

from learnability import MultiIndex
from learnability.figures import batch_reuse, draw
from learnability.figures.batch_reuse import CURVES, FULL, QUICK, STEPS, Size

TINY = Size(d=40, runs=3, samples=2**13)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("figure")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_reuse, "QUICK", TINY)
        paths = draw("batch-reuse", made, quick=True)
    assert {path.name for path in paths} == {
        f"batch-reuse.{e}" for e in ("pdf", "png", "nc", "csv")
    }
    return made


@pytest.fixture(scope="module")
def data(folder: Path) -> xarray.Dataset:
    with xarray.open_dataset(folder / "batch-reuse.nc", engine="h5netcdf") as found:
        return found.load()


def test_sizes() -> None:
    assert (FULL.d, FULL.runs) == (5000, 32)
    assert QUICK.d**2 * QUICK.runs < FULL.d**2 * FULL.runs / 20


def test_the_numbers(data: xarray.Dataset, folder: Path) -> None:
    assert data.runs_overlap.sizes == {"curve": len(CURVES), "seed": TINY.runs, "time": STEPS + 1}
    assert data.theory_error.sizes == {"case": 3, "time": STEPS + 1}
    assert data.attrs["runs_d"] == TINY.d and data.attrs["alpha"] == 3
    theory, error = data.theory_overlap, data.theory_overlap_stderr
    np.testing.assert_allclose(theory.isel(time=0), 0)
    he3 = theory.sel(curve="He3")
    assert abs(float(he3[1])) < 4 * float(error.sel(curve="He3")[1])
    assert float(he3[-1]) < -4 * float(error.sel(curve="He3")[-1])
    assert (theory.sel(curve=["tanh", "z1"])[:, 1:] > 0.05).all()
    assert (theory.sel(curve="z2")[1:] < -0.05).all()
    assert set(pandas.read_csv(folder / "batch-reuse.csv")["variable"]) == set(data.data_vars)


def test_the_picture_shows_them(data: xarray.Dataset) -> None:
    figure = batch_reuse.picture(data)
    drawn = [
        tuple(np.asarray(line.get_ydata(), dtype=float)) for ax in figure.axes for line in ax.lines
    ]
    for curve in CURVES:
        assert tuple(data.theory_overlap.sel(curve=curve).values) in drawn
        assert tuple(data.runs_overlap.sel(curve=curve).mean("seed").values) in drawn
    assert tuple(data.theory_error.sel(case="published").values) in drawn
    said = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert said[0].startswith("mean-field theory") and f"$d = {TINY.d}$, 3 runs" in said[1]
    assert all(axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)


@pytest.mark.parametrize(("link", "curves"), [("He2(z)", ["z"]), ("z1 + z1*z2", ["z1", "z2"])])
def test_a_target_of_ones_own(link: str, curves: list[str]) -> None:
    found = batch_reuse.compute(TINY, target=MultiIndex(link, noise=0.1))
    assert found["curve"].values.tolist() == curves and found.sizes["case"] == 1
    assert found.attrs["cases"].startswith(f"own: {link}, width {len(curves)}")
    axes = batch_reuse.picture(found).axes
    drawn = [tuple(np.asarray(line.get_ydata(), dtype=float)) for line in axes[0].lines]
    for curve in curves:
        assert tuple(found.theory_overlap.sel(curve=curve).values) in drawn
