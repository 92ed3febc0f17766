"""Studies: one call, one result, nothing computed twice."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray

import learnability as lb
from learnability import LearnabilityError
from learnability.inputs import Spiked
from learnability.studies import Store, StudyWarning

from tests.studies.learners import Clock, Short, value_of


def runs_in(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_a_grid_of_everything() -> None:
    found = lb.study(
        Short(), "abs(z)", alpha=[1.0, 2.0], shift=[0.5, 1.0, 2.0], noise=[0.0, 1.0], seeds=[3, 5]
    )
    assert dict(found["status"].sizes) == {"alpha": 2, "shift": 3, "noise": 2, "seed": 2}
    assert found["length"].dims == ("alpha", "shift", "noise", "seed", "estimate")
    for alpha in (1.0, 2.0):
        for shift in (0.5, 1.0, 2.0):
            for noise in (0.0, 1.0):
                for seed in (3, 5):
                    own = found["length"].sel(alpha=alpha, shift=shift, noise=noise, seed=seed)
                    expected = value_of(alpha, shift, noise, seed)
                    np.testing.assert_array_equal(own.values, expected)
    assert "shift" not in found.attrs["learner"] and "d" not in found.attrs


def test_one_value_is_a_coordinate() -> None:
    found = lb.study(Short(), lb.MultiIndex("z"), alpha=1.5, d=7, mood="wild", seeds=1)
    assert found["length"].dims == ("seed", "estimate")
    assert (float(found["alpha"]), int(found["d"]), str(found["mood"].values)) == (1.5, 7, "wild")


def test_categories_are_labels() -> None:
    found = lb.study(Short(), "z", alpha=1.0, mood=["calm", "wild"], broken_at=[None, 3.0])
    assert found["mood"].values.tolist() == ["calm", "wild"]
    assert found["broken_at"].values.tolist() == ["None", "3.0"]


def test_times_belong_to_a_run() -> None:
    found = lb.study(Clock(), "z", d=4, time=[0.0, 1.0, 4.0], step=[0.1, 0.2], seeds=2)
    assert dict(found["error_trace"].sizes) == {"step": 2, "seed": 2, "time": 3}
    expected = 1 - np.exp(-0.2 * 4.0 * 2)
    assert found["error_trace"].sel(step=0.2, seed=1, time=4.0).item() == pytest.approx(expected)


def test_only_what_is_missing_is_computed(tmp_path: Path) -> None:
    path, log = tmp_path / "runs.study", tmp_path / "log"
    learner = Short(log=str(log))
    first = lb.study(learner, "z", alpha=[1.0, 2.0], seeds=2, store=path)
    assert runs_in(log) == 4
    again = lb.study(learner, "z", alpha=[1.0, 2.0], seeds=2, store=path)
    assert runs_in(log) == 4
    xarray.testing.assert_identical(first, again)
    larger = lb.study(learner, "z", alpha=[0.5, 1, 2], seeds=3, shift=[1.0, 2.0], store=path)
    assert runs_in(log) == 18  # 3 x 3 x 2, of which four were there.
    part = larger.sel(alpha=[1.0, 2.0], seed=[0, 1], shift=1.0)
    np.testing.assert_array_equal(part["length"], first["length"])
    lb.study(learner, "abs(z)", alpha=[1.0, 2.0], seeds=2, store=path)  # Another one shares it.
    assert runs_in(log) == 22
    lb.study(learner, "z", alpha=2.0, seeds=[1], store=path)
    assert runs_in(log) == 22
    with Store(path, write=False) as store:
        assert len(store.studies()) == 4


def test_a_new_version_of_the_numerics_computes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, log = tmp_path / "runs.study", tmp_path / "log"
    lb.study(Short(log=str(log)), "z", alpha=1.0, store=path)
    monkeypatch.setattr(Short, "numerics_version", 2)
    lb.study(Short(log=str(log)), "z", alpha=1.0, store=path)
    assert runs_in(log) == 2
    monkeypatch.setattr(lb.MultiIndex, "numerics_version", 99)
    lb.study(Short(log=str(log)), "z", alpha=1.0, store=path)
    assert runs_in(log) == 3


def test_failed_runs_are_recorded_and_tried_again(tmp_path: Path) -> None:
    path, log = tmp_path / "runs.study", tmp_path / "log"
    learner = Short(log=str(log), broken_at=2.0)
    with pytest.warns(StudyWarning, match=r"2 of 4 runs failed:\n2 of them: RuntimeError: alpha"):
        found = lb.study(learner, "z", alpha=[1.0, 2.0], seeds=2, store=path)
    assert found["status"].sel(alpha=2.0).values.tolist() == ["missing", "missing"]
    assert np.isnan(found["length"].sel(alpha=2.0)).all() and found.attrs["missing"] == 2
    assert not np.isnan(found["length"].sel(alpha=1.0)).any()
    with Store(path, write=False) as store:
        (layout,) = store.studies().values()
        assert set(store.failures(layout.keys).values()) == {
            "RuntimeError: alpha = 2.0 is out of order"
        }
    with pytest.warns(StudyWarning):
        lb.study(learner, "z", alpha=[1.0, 2.0], seeds=2, store=path)
    assert runs_in(log) == 6


def test_seeds_side_by_side_are_stored_one_by_one(tmp_path: Path) -> None:
    path, log = tmp_path / "runs.study", tmp_path / "log"
    grid = {"d": 4, "time": [0.0, 1.0, 4.0], "store": path}
    lb.study(Clock(log=str(log)), "z", **grid, seeds=[1, 3])
    lb.study(Clock(log=str(log)), "z", **grid, seeds=5)
    groups = [line.split()[3:] for line in log.read_text().splitlines()]
    assert groups == [["1", "3"], ["0", "2", "4"]]
    found = lb.study(Clock(log=str(log)), "z", **grid, seeds=[3, 0])
    assert runs_in(log) == 2
    direct = Clock().simulate("z", d=4, time=[0.0, 1.0, 4.0], seeds=[3, 0])
    for name in direct.data_vars:
        xarray.testing.assert_equal(found[name].drop_vars("d"), direct[name])


def test_a_bad_seed_of_a_group_fails_alone(tmp_path: Path) -> None:
    grid = {"d": 4, "time": [0.0, 1.0], "seeds": 4, "store": tmp_path / "runs.study"}
    with pytest.warns(StudyWarning, match=r"1 of 4 runs failed:\n1 of them: RuntimeError: seed 2"):
        found = lb.study(Clock(bad_seed=2), "z", **grid)
    assert found["status"].values.tolist() == ["stopped", "finished", "missing", "finished"]


def test_fields_of_the_inputs_vary(tmp_path: Path) -> None:
    target = lb.MultiIndex("z", inputs=Spiked(strength=1.0))
    path, log = tmp_path / "runs.study", tmp_path / "log"
    for strengths in ([1.0, 4.0], [4.0, 9.0]):
        learner = Short(log=str(log))
        found = lb.study(learner, target, alpha=1.0, strength=strengths, store=path)
    assert found["strength"].values.tolist() == [4.0, 9.0] and runs_in(log) == 3


def test_nothing_but_failures_is_an_error() -> None:
    with pytest.raises(LearnabilityError, match=r"^`d` was given as 1, but"):
        lb.study(lb.Spectral(), "z1*z2", d=1, alpha=[1.0, 2.0])


def test_links_that_are_functions(tmp_path: Path) -> None:
    path, log = tmp_path / "runs.study", tmp_path / "log"
    for factor in (1.0, 2.0, 1.0):
        target = lb.MultiIndex(lambda z, factor=factor: factor * z[..., 0], r=1)
        lb.study(Short(log=str(log)), target, alpha=1.0, store=path)
    assert runs_in(log) == 2
    hidden = object()
    with pytest.raises(LearnabilityError, match="leave out `store`"):
        target = lb.MultiIndex(lambda z: z[..., 0] + (hidden is None), r=1)
        lb.study(Short(), target, alpha=1.0, store=tmp_path / "other.study")
    assert not (tmp_path / "other.study").exists()
    lb.study(Short(), target, alpha=1.0)


BAD = {
    "an unknown name": ({"alpha": 1.0, "colour": 2}, "`colour` was given.*shift"),
    "no alpha": ({}, "simulate short needs `alpha`"),
    "no worker": ({"alpha": 1.0, "workers": 0}, "`workers` was given as 0"),
    "two kinds of workers": ({"alpha": 1.0, "workers": 2, "scheduler": "tcp://x:1"}, "both given"),
    "a bad seed": ({"alpha": 1.0, "seeds": -1}, "seeds"),
    "an unknown question": ({"alpha": 1.0, "question": "why"}, "which answers values, theory"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_calls_touch_nothing(case: str, tmp_path: Path) -> None:
    arguments, words = BAD[case]
    with pytest.raises(LearnabilityError, match=words):
        lb.study(Short(), "z", store=tmp_path / "runs.study", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_an_unreachable_scheduler_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learnability.studies.cluster._TIMEOUT", 0.3)
    path, log = tmp_path / "runs.study", tmp_path / "log"
    learner = Short(log=str(log))
    lb.study(learner, "z", alpha=1.0, store=path)
    with pytest.raises(LearnabilityError, match="No Dask scheduler was reached"):
        lb.study(learner, "z", alpha=[1.0, 2.0], store=path, scheduler="tcp://127.0.0.1:9")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lb.study(learner, "z", alpha=[1.0, 2.0], store=path)
    assert runs_in(log) == 2


def test_what_is_no_learner_or_target() -> None:
    with pytest.raises(LearnabilityError, match="BayesAMP"):
        lb.study("bayes-amp", "z", alpha=1.0)  # type: ignore[arg-type]
    with pytest.raises(LearnabilityError, match="given as int, but a target"):
        lb.study(Short(), 3, alpha=1.0)  # type: ignore[arg-type]
