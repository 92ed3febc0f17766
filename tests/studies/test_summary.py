"""What a store tells about itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray

import learnability as lb
from learnability import LearnabilityError
from learnability.studies import Store, StudyWarning, export, info

from tests.studies.learners import Short


def test_info_and_export(tmp_path: Path) -> None:
    path = tmp_path / "runs.study"
    first = lb.study(Short(), "z", alpha=[1.0, 2.0], seeds=8, d=7, store=path)
    with pytest.warns(StudyWarning):
        second = lb.study(Short(broken_at=2.0), "abs(z)", alpha=[1.0, 2.0], store=path)
    told = info(path)
    assert "runs.study: 17 finished runs" in told
    assert "study 1: Short(" in told and "MultiIndex(link=z, noise=0.0, inputs=Isotropic())" in told
    assert "16 of 16 runs finished, 0 failed" in told and "1 of 2 runs finished, 1 failed" in told
    assert "0, 1, 2, ..., 7 (8 values)" in told and "out of order" in told
    xarray.testing.assert_identical(export(path, 1), first)
    xarray.testing.assert_identical(export(path), second)
    with pytest.raises(LearnabilityError, match=r"Study 3 was asked for, but .* holds 1, 2"):
        export(path, 3)


def test_an_empty_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.study"
    Store(path, write=True).close()
    assert "0 finished runs" in info(path)
    with pytest.raises(LearnabilityError, match="no study yet"):
        export(path)
