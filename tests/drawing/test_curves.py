"""The one plot function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import xarray

import learnability as lb
from learnability import LearnabilityError
from learnability.drawing.style import COLOURS, WIDTHS

ALPHAS = np.linspace(0.5, 4, 15)
RATIOS = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def theory() -> xarray.Dataset:
    overlap = np.clip(ALPHAS / 2 - 0.5, 0, 1)[:, None, None] * np.eye(2)
    attrs = {"alpha_c": 1.0, "alpha_full": 3.0, "alpha_algorithmic": np.nan}
    attrs |= {"alpha_information": 9.0, "alpha_of_something": 2.0}
    return xarray.Dataset(
        {
            "overlap": (("alpha", "estimate", "index"), overlap),
            "error": ("alpha", 1 / ALPHAS),
            "status": ("alpha", ["converged"] * len(ALPHAS)),
        },
        {"alpha": ALPHAS},
        attrs,
    )


@pytest.fixture
def runs() -> xarray.Dataset:
    rng = np.random.default_rng(0)
    return xarray.Dataset(
        {
            "overlap": (
                ("d", "alpha", "seed", "estimate", "index"),
                rng.normal(size=(2, 3, 4, 2, 2)),
            ),
            "error": (("d", "alpha", "seed"), rng.random((2, 3, 4))),
            "error_trace": (("d", "alpha", "seed", "time"), rng.random((2, 3, 4, 5))),
            "status": (("d", "alpha", "seed"), np.full((2, 3, 4), "converged")),
        },
        {"d": [100, 200], "alpha": RATIOS, "seed": range(4), "time": range(5)},
    )


def drawn(axes: Any) -> list[tuple[list[float], list[float], str, str]]:
    """x, y, colour and marker of every line that is not vertical."""
    found = []
    for line in axes.lines:
        x, y = (np.asarray(v, dtype=float).tolist() for v in (line.get_xdata(), line.get_ydata()))
        if len(set(x)) > 1:
            found.append((x, y, line.get_color(), line.get_marker()))
    return found


def test_lines_and_crosses(theory: xarray.Dataset, runs: xarray.Dataset) -> None:
    one = runs.sel(d=100)
    axes = lb.plot(theory, one).axes[0]
    assert axes.get_xlabel() == r"$\alpha = n/d$" and axes.get_ylabel() == "overlap"
    lines = drawn(axes)
    for k in range(2):  # One colour an index, the same for the line and the crosses.
        x, y, colour, _ = lines[k]
        assert x == ALPHAS.tolist() and colour == COLOURS[k]
        assert y == theory["overlap"].values[:, k, k].tolist()
    crosses = [line for line in lines if line[3] == "x"]
    assert [line[2] for line in crosses] == list(COLOURS[:2])
    mean = one["overlap"].isel(estimate=1, index=1).mean("seed").values
    np.testing.assert_allclose(crosses[1][1], mean)
    bars = axes.containers[1].lines[2][0].get_segments()
    spread = one["overlap"].isel(estimate=1, index=1).std("seed", ddof=1).values / 2
    np.testing.assert_allclose([bar[1, 1] - bar[0, 1] for bar in bars], 2 * spread)


def test_thresholds_are_marked(theory: xarray.Dataset, runs: xarray.Dataset) -> None:
    axes = lb.plot(theory, runs.sel(d=100), variable="error").axes[0]
    vertical = [
        float(line.get_xdata()[0]) for line in axes.lines if len(set(line.get_xdata())) == 1
    ]
    assert vertical == [1.0, 3.0]  # Neither NaN nor what lies outside.
    said = [text.get_text() for text in axes.texts]
    assert said == [r"$\alpha_{\mathrm{c}}$", r"$\alpha_{\mathrm{full}}$"]


def test_other_dimensions_get_markers(theory: xarray.Dataset, runs: xarray.Dataset) -> None:
    figure = lb.plot(theory, runs, variable="error", width="text")
    assert {line[3] for line in drawn(figure.axes[0])} == {"None", "x", "+"}
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert said == ["$d$ = 100", "$d$ = 200", "theory"]
    assert figure.get_size_inches()[0] == WIDTHS["text"]


def test_paths_are_drawn_against_time(runs: xarray.Dataset) -> None:
    axes = lb.plot(runs=runs.sel(d=100, alpha=[1.0, 2.0]), variable="error_trace").axes[0]
    assert axes.get_xlabel() == "$t$" and len(drawn(axes)) == 2


def test_an_axis_that_theory_does_not_have(theory: xarray.Dataset, runs: xarray.Dataset) -> None:
    figure = lb.plot(theory.isel(alpha=3), runs.sel(alpha=2.0), variable="error", x="d")
    (line, crosses) = drawn(figure.axes[0])
    assert set(line[1]) == {theory["error"].values[3]} and crosses[0] == [100, 200]


def test_neurons_that_know_a_direction_best() -> None:
    overlap = np.zeros((2, 1, 5, 2))
    overlap[:, 0, 3, 1] = -0.7
    runs = xarray.Dataset(
        {"overlap": (("alpha", "seed", "estimate", "index"), overlap)}, {"alpha": [1.0, 2.0]}
    )
    axes = lb.plot(runs=runs).axes[0]
    assert [line[1] for line in drawn(axes)] == [[0.0, 0.0], [0.7, 0.7]]
    assert axes.get_ylabel() == "largest absolute overlap of any neuron"
    alone = lb.plot(runs=runs.isel(estimate=[3, 4])).axes[0]
    assert alone.get_ylabel() == "overlap" and drawn(alone)[1][1] == [0.0, 0.0]


def test_the_error_of_a_theory_is_shaded(theory: xarray.Dataset) -> None:
    assert lb.plot(theory, variable="error").axes[0].collections[:] == []
    theory["error_stderr"] = ("alpha", np.full(len(ALPHAS), 0.1))
    axes = lb.plot(theory, variable="error").axes[0]
    (band,) = axes.collections
    edge = band.get_paths()[0].vertices
    assert edge[:, 1].max() == pytest.approx(1 / ALPHAS[0] + 0.2)
    assert axes.get_ylabel() == "mean squared error"


def test_labels_are_those_of_the_schema(runs: xarray.Dataset) -> None:
    data = runs.sel(d=100)[["error"]].rename(error="train_error")
    assert lb.plot(runs=data).axes[0].get_ylabel() == "error on the samples"
    figure = lb.plot(runs=runs[["error"]].isel(alpha=[0, 1]), x="d")
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert said == [r"$\alpha$ = 1.0", r"$\alpha$ = 2.0"]


@pytest.mark.parametrize("suffix", ["pdf", "svg", "png"])
def test_the_picture_and_its_data(
    theory: xarray.Dataset, runs: xarray.Dataset, suffix: str, tmp_path: Path
) -> None:
    lb.plot(theory, runs, variable="error", file=tmp_path / f"figure.{suffix}")
    assert {p.name for p in tmp_path.iterdir()} == {f"figure.{suffix}", "figure.nc", "figure.csv"}
    with xarray.open_dataset(tmp_path / "figure.nc", engine="h5netcdf") as data:
        np.testing.assert_array_equal(data["theory_error"], theory["error"])
        np.testing.assert_array_equal(data["runs_error"], runs["error"])
        assert data["threshold"].values.tolist() == [1.0, 3.0]
        assert data["runs_error"].dims == ("d", "runs_alpha", "seed")
    assert "runs_overlap" in set(pandas.read_csv(tmp_path / "figure.csv")["variable"])


def test_what_cannot_be_drawn(theory: xarray.Dataset, runs: xarray.Dataset) -> None:
    many = xarray.concat([runs] * 4, "noise").assign_coords(noise=range(4))
    for arguments, words in [
        ((None, None, {}), "Nothing was given"),
        ((theory, runs, {"variable": "status"}), "variables are overlap, error, status"),
        ((theory, runs, {"variable": "loss"}), "'loss'"),
        ((theory, runs, {"x": "kappa"}), "'kappa'"),
        ((theory, runs, {"width": "page"}), "`width` was given as 'page'"),
        ((theory, runs, {"file": "figure.docx"}), r"\.pdf, \.svg, \.png"),
        ((theory, many, {"variable": "error"}), "8 curves along noise, d"),
    ]:
        with pytest.raises(LearnabilityError, match=words):
            lb.plot(arguments[0], arguments[1], **arguments[2])
