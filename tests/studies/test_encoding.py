"""Runs as bytes."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from learnability import LearnabilityError
from learnability.results.labelled import Labelled
from learnability.studies.encoding import decode, encode


def encoded(dataset: xarray.Dataset) -> list[bytes]:
    variables, coords = (
        {str(name): (one.dims, one.values) for name, one in held.items()}
        for held in (dataset.data_vars, dataset.coords)
    )
    return encode(Labelled(variables, coords, {str(k): v for k, v in dataset.attrs.items()}))


def run_of(length: int, offset: float = 0.0) -> xarray.Dataset:
    return xarray.Dataset(
        {
            "overlap": (("seed", "estimate", "index"), np.full((1, 1, 2), offset)),
            "overlap_trace": (("seed", "time"), offset + np.arange(length, dtype=float)[None]),
            "seen": (("seed", "rank"), np.arange(length, dtype=np.float32)[None]),
            "iterations": (("seed",), [length]),
            "status": (("seed",), ["converged" if length > 2 else "stopped"]),
        },
        {"seed": [7], "time": np.arange(length), "alpha": 1.5},
        {"noise": 0.0, "d": np.int64(5), "offset": offset, "gap": float("nan")},
    )


def test_there_and_back() -> None:
    run = decode(encoded(run_of(3, 0.25))[0])
    dims, values = run.variables["overlap_trace"]
    assert dims == ("time",) and values.tolist() == [0.25, 1.25, 2.25]
    assert run.variables["status"][1].item() == "converged"
    assert run.variables["seen"][1].dtype == np.float32
    assert run.attrs["d"] == 5 and np.isnan(run.attrs["gap"]) and "seed" not in run.coordinates


def test_runs_do_not_depend_on_the_others_of_their_group() -> None:
    seeds = [run_of(3, 0.25), run_of(3, 0.5).assign(status=("seed", ["stopped"]))]
    both = xarray.concat(seeds, "seed", data_vars="minimal").assign_attrs(run_of(3).attrs)
    assert both["status"].dtype == "<U9"
    for one, found in zip(seeds, encoded(both), strict=True):
        assert found == encoded(one.assign_attrs(run_of(3).attrs))[0]


@pytest.mark.parametrize("place", [0, 5, 20, -1])
def test_a_flipped_bit_is_seen(place: int) -> None:
    data = bytearray(encoded(run_of(3))[0])
    data[place] ^= 1
    with pytest.raises(LearnabilityError, match="damaged"):
        decode(bytes(data))
    with pytest.raises(LearnabilityError, match="damaged"):
        decode(bytes(data[:7]))
