"""Runs as bytes, and many of them as one result."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from learnability import LearnabilityError
from learnability.studies.encoding import assemble, decode, encode
from learnability.studies.points import Layout


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


def layout_of(keys: tuple[str, ...], **axes: list[float]) -> Layout:
    return Layout(dict(axes), {"d": 5}, keys, "Tiny()", "target")


def test_there_and_back() -> None:
    run = decode(encode(run_of(3, 0.25))[0])
    dims, values = run.variables["overlap_trace"]
    assert dims == ("time",) and values.tolist() == [0.25, 1.25, 2.25]
    assert run.variables["status"][1].item() == "converged"
    assert run.variables["seen"][1].dtype == np.float32
    assert run.attrs["d"] == 5 and np.isnan(run.attrs["gap"]) and "seed" not in run.coordinates


def test_runs_do_not_depend_on_the_others_of_their_group() -> None:
    seeds = [run_of(3, 0.25), run_of(3, 0.5).assign(status=("seed", ["stopped"]))]
    both = xarray.concat(seeds, "seed", data_vars="minimal").assign_attrs(run_of(3).attrs)
    assert both["status"].dtype == "<U9"
    for one, found in zip(seeds, encode(both), strict=True):
        assert found == encode(one.assign_attrs(run_of(3).attrs))[0]


@pytest.mark.parametrize("place", [0, 5, 20, -1])
def test_a_flipped_bit_is_seen(place: int) -> None:
    data = bytearray(encode(run_of(3))[0])
    data[place] ^= 1
    with pytest.raises(LearnabilityError, match="damaged"):
        decode(bytes(data))
    with pytest.raises(LearnabilityError, match="damaged"):
        decode(bytes(data[:7]))


def test_runs_of_different_length() -> None:
    layout = layout_of(("a", "b"), alpha=[1.0, 2.0], seed=[7])
    found = assemble(layout, {"a": encode(run_of(2))[0], "b": encode(run_of(4, 0.5))[0]})
    assert dict(found.sizes) == {
        "alpha": 2,
        "seed": 1,
        "estimate": 1,
        "index": 2,
        "time": 4,
        "rank": 4,
    }
    assert found["overlap_trace"].values[0, 0].tolist() == [0, 1, 1, 1]  # It stays where it was.
    np.testing.assert_array_equal(found["seen"].values[0, 0], [0, 1, np.nan, np.nan])
    assert found["seen"].dtype == np.float32 and found["iterations"].values.tolist() == [[2], [4]]
    assert found.attrs["noise"] == 0.0 and "offset" not in found.attrs and "gap" in found.attrs
    assert found.attrs["learner"] == "Tiny()" and "missing" not in found.attrs
    assert float(found["d"]) == 5 and found["alpha"].values.tolist() == [1.0, 2.0]


def test_missing_runs() -> None:
    layout = layout_of(("a", "b"), alpha=[1.0, 2.0], seed=[7])
    found = assemble(layout, {"b": encode(run_of(4, 0.5))[0]})
    assert np.isnan(found["overlap"].values[0]).all() and np.isnan(found["iterations"].values[0, 0])
    assert found["status"].values[:, 0].tolist() == ["missing", "converged"]
    assert found.attrs["missing"] == 1
    with pytest.raises(LearnabilityError, match="no shape"):
        assemble(layout, {})


def test_a_run_over_an_axis_of_the_grid() -> None:
    wide = xarray.Dataset({"x": (("seed", "alpha"), [[1.0, 2.0]])}, {"seed": [0]})
    with pytest.raises(LearnabilityError, match="one is expected"):
        assemble(layout_of(("a",), alpha=[1.0], seed=[0]), {"a": encode(wide)[0]})
    (one,) = encode(wide.isel(alpha=[1]))
    found = assemble(layout_of(("a",), alpha=[1.0], seed=[0]), {"a": one})
    assert found["x"].dims == ("alpha", "seed") and found["x"].item() == 2.0
