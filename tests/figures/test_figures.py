"""The registry of figures, and every figure at a small size."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas
import pytest
import xarray
from matplotlib.figure import Figure

from learnability import LearnabilityError, MultiIndex
from learnability.drawing.theory_and_runs import against, mean_overlap
from learnability.figures import FIGURES, draw, takes_target
from learnability.figures._message_passing import Size

MESSAGE_PASSING = ("parity-transition", "grand-staircase")
TINY = Size(d=30, runs=2, alphas=(1.0, 5.0), theory=4)


def module(name: str) -> ModuleType:
    return import_module(f"learnability.figures.{name.replace('-', '_')}")


def made_up_staircase(size: Size) -> xarray.Dataset:
    """Numbers of the shape of the grand staircase, which takes long to compute."""
    thresholds = np.array([0.575, math.pi**2 / 4])

    def result(alpha: np.ndarray) -> xarray.Dataset:
        opened = np.clip(alpha[:, None] / thresholds[[0, 1, 1]] - 1, 0, 1)
        overlap = opened[:, :, None] * np.eye(3)
        data = {
            "overlap": (("alpha", "estimate", "index"), overlap),
            "error": ("alpha", 3 - overlap.trace(axis1=1, axis2=2)),
        }
        return xarray.Dataset(data, {"alpha": alpha})

    theory = result(np.unique([*np.linspace(0.1, 6, size.theory), *thresholds]))
    runs = result(np.array(size.alphas)).expand_dims(seed=np.arange(size.runs), axis=1)
    runs = runs.transpose("alpha", "seed", ...)
    data = against(
        theory.assign_attrs(verb="predict"), runs.assign_attrs(d=size.d), thresholds.tolist()
    )
    return data.assign(group=("index", [0, 1, 1]))


@pytest.fixture(scope="module", params=MESSAGE_PASSING)
def drawn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """A figure's name and the files of a small version of it."""
    name, folder = request.param, tmp_path_factory.mktemp("figures") / "new"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module(name), "QUICK", TINY)
        if name == "grand-staircase":
            patch.setattr(module(name), "compute", made_up_staircase)
        paths = draw(name, folder, quick=True)
    return name, {path.suffix: path for path in paths}, folder


@pytest.mark.parametrize("name", MESSAGE_PASSING)
def test_every_figure_has_its_sizes(name: str) -> None:
    full, quick = module(name).FULL, module(name).QUICK
    assert (full.d, full.runs, len(full.alphas)) == (500, 72, 20)
    assert quick.d * quick.runs * len(quick.alphas) < full.d * full.runs * len(full.alphas) / 20
    assert FIGURES[name]


def test_an_unknown_figure_ends_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(LearnabilityError, match="parity-transition and grand-staircase and"):
        draw("parity", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_target_goes_to_the_figures_that_take_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def compute(size: Size, target: object = None) -> xarray.Dataset:
        seen.append(target)
        return xarray.Dataset({"error": ("alpha", [1.0])})

    def picture(data: xarray.Dataset) -> Figure:
        return Figure()

    for name in ("compute", "picture"):
        monkeypatch.setattr(module("parity-transition"), name, locals()[name])
    draw("parity-transition", tmp_path, quick=True, target="z1 + z2")
    draw("parity-transition", tmp_path, quick=True)
    assert seen == [MultiIndex("z1 + z2"), None]
    own = [name for name in FIGURES if takes_target(name)]
    assert {"grand-staircase", "batch-reuse", "lazy-polynomial"} <= set(own) < set(FIGURES)
    with pytest.raises(LearnabilityError, match=r"scaling-laws.*those that take one are parity-"):
        draw("scaling-laws", tmp_path / "new", target="z")
    assert not (tmp_path / "new").exists()


def test_the_files(drawn) -> None:  # type: ignore[no-untyped-def]
    name, paths, folder = drawn
    kept = set() if name == "grand-staircase" else {folder / f"{name}.study"}
    assert set(paths.values()) | kept == set(folder.iterdir())
    assert {path.name for path in paths.values()} == {
        f"{name}.{kind}" for kind in ("pdf", "png", "nc", "csv")
    }
    assert paths[".png"].read_bytes().startswith(b"\x89PNG")
    assert paths[".pdf"].read_bytes().startswith(b"%PDF")


def test_the_numbers_hold_theory_and_runs(drawn) -> None:  # type: ignore[no-untyped-def]
    _, paths, _ = drawn
    with xarray.open_dataset(paths[".nc"], engine="h5netcdf") as data:
        assert data["runs_overlap"].sizes["seed"] == TINY.runs
        np.testing.assert_allclose(data["runs_alpha"], TINY.alphas)
        assert data.attrs["runs_d"] == TINY.d and data.attrs["theory_verb"] == "predict"
        assert data["threshold"].values[-1] == pytest.approx(math.pi**2 / 4)
        assert set(data["threshold"].values) <= set(data["theory_alpha"].values)
        kept = np.einsum("aii->ai", data["theory_overlap"].values)
        first = float(data["threshold"][0])
        assert (kept[data["theory_alpha"].values <= first] < 1e-3).all()
        assert (kept[-1] > 0.5).all()
        assert not [name for name in data.variables if "trace" in str(name)]
        names = set(data.data_vars)
    assert set(pandas.read_csv(paths[".csv"])["variable"]) == names


def test_the_picture_shows_them(drawn) -> None:  # type: ignore[no-untyped-def]
    name, paths, _ = drawn
    with xarray.open_dataset(paths[".nc"], engine="h5netcdf") as data:
        data.load()
    figure = module(name).picture(data)
    axes = figure.axes[0]
    lines = {tuple(np.asarray(line.get_xdata(), dtype=float)) for line in axes.lines}
    assert tuple(data["theory_alpha"].values) in lines and TINY.alphas in lines
    for alpha in data["threshold"].values:
        assert (alpha, alpha) in lines
    said = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert len(said) == 2 and f"$d = {TINY.d}$, {TINY.runs} runs" in said[1]
    assert all(axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)


def test_equal_numbers_give_equal_files(drawn, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    name, paths, _ = drawn
    from learnability.drawing.files import write

    with xarray.open_dataset(paths[".nc"], engine="h5netcdf") as data:
        data.load()
    again = write(module(name).picture(data), data, tmp_path / name)
    for path in again:
        if path.suffix != ".nc":
            assert path.read_bytes() == paths[path.suffix].read_bytes()


def test_theory_and_runs_may_share_a_ratio() -> None:
    theory = xarray.Dataset(
        {"overlap": (("alpha", "estimate", "index"), np.array([[[0.2, 0.0], [0.0, 0.4]]]))},
        {"alpha": [1.0]},
        {"r": 2},
    )
    runs = theory.expand_dims(seed=[0, 1], axis=1).assign_attrs(d=9)
    runs["overlap_trace"] = (("alpha", "time"), np.zeros((1, 3)))
    data = against(theory, runs, [0.5])
    assert set(data.variables) == {
        "theory_overlap", "theory_alpha", "runs_overlap", "runs_alpha", "seed", "threshold",
    }  # fmt: skip
    assert data.attrs == {"theory_r": 2, "runs_r": 2, "runs_d": 9}
    assert mean_overlap(data, "theory", (0, 1)).item() == pytest.approx(0.3)
    np.testing.assert_allclose(mean_overlap(data, "runs", (1,)), [[0.4, 0.4]])


@pytest.mark.parametrize(
    ("name", "target", "groups", "thresholds"),
    [
        ("parity-transition", MultiIndex("abs(z)"), [0], [0.5]),
        ("grand-staircase", MultiIndex("abs(z)"), [0], [0.5]),
        ("grand-staircase", MultiIndex("sign(z1) + 3*sign(abs(z2) - 1)"), [0, 1], None),
        ("parity-transition", MultiIndex("sign(z1) + 3*sign(z2)"), [0, 0], []),
    ],
)
def test_a_target_of_ones_own(
    name: str, target: MultiIndex, groups: list[int], thresholds: list[float] | None
) -> None:
    data = module(name).compute(TINY, target=target)
    assert data["group"].values.tolist() == groups and data.attrs["runs_link"] == target.link.text
    found = data["threshold"].values.tolist() if "threshold" in data else []
    assert thresholds is None or found == pytest.approx(thresholds)
    # Ratios of the runs reach as far beyond the last threshold as those of the literature do.
    stretch = max(found, default=math.pi**2 / 4) / (math.pi**2 / 4)
    np.testing.assert_allclose(data["runs_alpha"], np.multiply(TINY.alphas, stretch))
    figure = module(name).picture(data)
    figure.canvas.draw()


def test_every_figure_is_drawn_by_a_test() -> None:
    tests = " ".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert [name for name in FIGURES if name not in tests.replace("_", "-")] == []
