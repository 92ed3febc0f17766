"""The figures about one-pass SGD at a small size: theory and runs in numbers and pictures."""

from __future__ import annotations

import numpy as np
import xarray

from learnability.figures import (
    FIGURES,
    csq_staircase,
    draw,
    grand_staircase_sgd,
    hierarchy,
    online_exponents,
    repetita,
)
from learnability.figures import _sgd_staircase as staircase
from learnability.figures._online import OnlineSize

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
    assert online_exponents.FULL.dimensions[3] == (256, 512, 1024, 2048, 4096)


def test_repetita_writes_theory_and_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(repetita, "QUICK", SMALL)
    paths = {path.suffix: path for path in draw("repetita", tmp_path, quick=True)}
    assert paths[".png"].read_bytes().startswith(b"\x89PNG")
    with xarray.open_dataset(paths[".nc"], engine="h5netcdf") as data:
        theory = data["theory_overlap_He3_extragradient"].values
        assert theory.shape == (2, 9) and (theory[:, -1] > 0.7).all()
        assert (data["theory_overlap_He3_plain"].values[:, -1] < 0.1).all()
        assert data["runs_overlap_He4_plain"].shape == (2, 2, 3)


def test_exponents_of_the_small_figure():
    size = online_exponents.Size({1: (40, 80), 2: (40, 80), 3: (16, 32)}, 4, 4, 9)
    data = online_exponents.compute(size)
    for degree in (1, 2, 3):
        assert data[f"theory_overlap_{degree}"].values[:, -1].min() > 0.5
        assert 0.3 < data.attrs[f"exponent_{degree}"] < 4
    assert len(online_exponents.picture(data).axes) == 4


def test_pictures_of_made_up_staircases():
    share = np.random.default_rng(0).random((2, 2, 3, 5, 3))
    data = xarray.Dataset(
        {"runs_share": (("rule", "d", "seed", "x", "index"), share)},
        {"rule": list(staircase.RULES), "d": [10, 20], "x": np.geomspace(1, 9, 5)},
        {"theory_leap": 3, "theory_generative_exponent": 2},
    )
    for module in (csq_staircase, grand_staircase_sgd):
        assert "leap 3" in module.picture(data).axes[0].get_title()
    paths = {
        "theory_share": (("time", "index"), share[0, 0, 0]),
        "runs_share": (("seed", "runs_time", "index"), share[0, 0, :, :2]),
    }
    times = {"time": np.geomspace(1, 9, 5), "runs_time": np.geomspace(1, 9, 5)[::4]}
    picture = hierarchy.picture(xarray.Dataset(paths, times, {"runs_d": 10}))
    assert len(picture.axes[0].get_legend().get_texts()) == 3
