"""The figures about one-pass SGD at a small size: theory and runs in numbers and pictures."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from learnability import LearnabilityError, MultiIndex, SpikedIndex
from learnability.figures import (
    FIGURES,
    csq_staircase,
    draw,
    grand_staircase_sgd,
    hierarchy,
    online_exponents,
    repetita,
)
from learnability.figures._online import OnlineSize
from learnability.figures._sgd_staircase import Staircase

SMALL = OnlineSize(dimensions=(40, 60), runs=2, points=9)


def test_all_are_registered_with_two_sizes():
    for name in (
        "online-exponents",
        "repetita",
        "csq-staircase",
        "grand-staircase-sgd",
        "hierarchy",
    ):
        assert FIGURES[name]
    for module in (repetita, csq_staircase, grand_staircase_sgd, hierarchy):
        assert module.QUICK.dimensions[-1] < module.FULL.dimensions[-1]
    assert online_exponents.FULL.recoveries[3] == (256, 512, 1024, 2048, 4096)
    assert online_exponents.FULL.many_runs >= 128 and online_exponents.FULL.runs >= 32


def test_repetita_writes_theory_and_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(repetita, "QUICK", SMALL)
    paths = {path.suffix: path for path in draw("repetita", tmp_path, quick=True)}
    assert paths[".png"].read_bytes().startswith(b"\x89PNG")
    with xarray.open_dataset(paths[".nc"], engine="h5netcdf") as data:
        theory = data["theory_overlap_He3_extragradient"].values
        assert theory.shape == (2, 9) and (theory[:, -1] > 0.7).all()
        assert (data["theory_overlap_He3_plain"].values[:, -1] < 0.1).all()
        assert data["runs_overlap_He4_plain"].shape == (2, 2, 3)


def test_exponents_of_the_small_figure(tmp_path):
    pairs = {1: (30, 60), 2: (30, 60), 3: (16, 32)}  # One compiled loop does for both sizes.
    size = online_exponents.Size(pairs, pairs, 3, 3, 9)
    data = online_exponents.compute(size, tmp_path / "exponents.study")
    again = online_exponents.compute(size, tmp_path / "exponents.study")
    xarray.testing.assert_identical(data, again)
    for degree in (1, 2, 3):
        assert data[f"theory_overlap_{degree}"].values[:, -1].min() > 0.5
        assert 0.3 < data.attrs[f"exponent_{degree}"] < 4
    assert len(online_exponents.picture(data).axes) == 4


def test_slopes_and_their_errors():
    slope, error = online_exponents._slope(
        np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]), np.array([0.1, 7.0, 0.1])
    )
    assert slope == pytest.approx(2.0) and error == pytest.approx(0.1 / np.sqrt(2))


def test_a_staircase_begins_at_one_place_in_theory_and_runs(tmp_path):
    figure = Staircase("z1 + sign(z1*z2*z3)", "tanh(z)", step=0.2, look_ahead=0.1, last=0.5)
    data = figure.compute(OnlineSize(dimensions=(40,), runs=2, points=5), tmp_path / "s.study")
    np.testing.assert_allclose(data.theory_overlap[:, :, 0], 40**-0.5)
    np.testing.assert_allclose(data.runs_overlap.isel(x_runs=0), 40**-0.5, rtol=1e-6)
    assert (data.theory_overlap.isel(x=-1, direction=0) > 40**-0.5).all()
    panels = figure.picture(data).axes
    assert f"leap {data.attrs['theory_leap']}" in panels[0].get_title()
    assert (tmp_path / "s.study").exists()


def test_two_staircases_differ_by_their_link():
    links = [module._FIGURE.link for module in (csq_staircase, grand_staircase_sgd)]
    assert links[0].startswith("He2(z1)") and links[1].startswith("He4(z1)")


def test_picture_of_a_made_up_hierarchy():
    values = np.random.default_rng(0).random((3, 5, 3))
    data = {
        "theory_overlap": (("time", "index"), values[0]),
        "runs_overlap": (("seed", "runs_time", "index"), values[:, :2]),
        "runs_share": (("seed", "runs_time", "index"), values[:, :2]),
    }
    times = {"time": np.geomspace(1, 9, 5), "runs_time": np.geomspace(1, 9, 5)[::4]}
    picture = hierarchy.picture(xarray.Dataset(data, times, {"runs_d": 10}))
    assert [axes.get_xscale() for axes in picture.axes] == ["log", "log"]
    said = [text.get_text() for text in picture.legends[0].get_texts()]
    assert said[:3] == ["$z_1$", "$z_2$", "$z_3$"]


@pytest.mark.parametrize("module", [csq_staircase, repetita, hierarchy, online_exponents])
def test_figures_take_a_target_of_ones_own(module, tmp_path):
    single = module in (repetita, online_exponents)
    target = SpikedIndex("z + He2(z)/2", spike=1.0, alignment=0.3)
    if not single:
        target = MultiIndex("z1*z2 + z1")
    pairs = {k: (30, 60) for k in (1, 2, 3)}
    exponents = online_exponents.Size(pairs, pairs, 2, 2, 5)
    size = exponents if module is online_exponents else OnlineSize((40,), runs=2, points=5)
    data = module.compute(size, store=tmp_path / "own.study", target=target)
    figure = module.picture(data)
    assert figure.axes
    figure.canvas.draw()
    if module is online_exponents:
        with pytest.raises(LearnabilityError, match="information exponent from 1 to 3"):
            module.compute(size, target=MultiIndex("He4(z)"))
