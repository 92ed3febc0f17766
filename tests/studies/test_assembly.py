"""Many runs as one result."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from learnability import LearnabilityError
from learnability.studies.assembly import assemble
from learnability.studies.points import Layout

from tests.studies.test_encoding import encoded, run_of


def layout_of(keys: tuple[str, ...], **axes: list[float]) -> Layout:
    return Layout(dict(axes), {"d": 5}, keys, "Tiny()", "target")


def test_runs_of_different_length() -> None:
    layout = layout_of(("a", "b"), alpha=[1.0, 2.0], seed=[7])
    found = assemble(
        layout, {"a": encoded(run_of(2))[0], "b": encoded(run_of(4, 0.5))[0]}.items()
    ).to_dataset()
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
    found = assemble(layout, {"b": encoded(run_of(4, 0.5))[0]}.items()).to_dataset()
    assert np.isnan(found["overlap"].values[0]).all() and np.isnan(found["iterations"].values[0, 0])
    assert found["status"].values[:, 0].tolist() == ["missing", "converged"]
    assert found.attrs["missing"] == 1
    with pytest.raises(LearnabilityError, match="shape of its result"):
        assemble(layout, {}.items())


def test_a_run_over_an_axis_of_the_grid() -> None:
    wide = xarray.Dataset({"x": (("seed", "alpha"), [[1.0, 2.0]])}, {"seed": [0]})
    with pytest.raises(LearnabilityError, match="one is expected"):
        assemble(layout_of(("a",), alpha=[1.0], seed=[0]), {"a": encoded(wide)[0]}.items())
    (one,) = encoded(wide.isel(alpha=[1]))
    found = assemble(layout_of(("a",), alpha=[1.0], seed=[0]), {"a": one}.items()).to_dataset()
    assert found["x"].dims == ("alpha", "seed") and found["x"].item() == 2.0


def test_coordinates_that_all_runs_share_keep_their_order() -> None:
    ridges = ("seed", "ridge"), np.array([[1.0, 2.0]])
    one = xarray.Dataset({"error": ridges}, {"seed": [0], "ridge": [0.5, 0.1]})
    layout = layout_of(("a", "b"), seed=[0, 1])
    found = assemble(layout, {"a": encoded(one)[0], "b": encoded(3 * one)[0]}.items()).to_dataset()
    assert found["ridge"].values.tolist() == [0.5, 0.1]
    assert found["error"].values.tolist() == [[1.0, 2.0], [3.0, 6.0]]
    other = one.assign_coords(ridge=[0.1, 0.2])
    found = assemble(layout, {"a": encoded(one)[0], "b": encoded(other)[0]}.items()).to_dataset()
    assert found["ridge"].values.tolist() == [0.1, 0.2, 0.5]
    np.testing.assert_array_equal(found["error"], [[2.0, np.nan, 1.0], [1.0, 2.0, np.nan]])


def test_a_cell_that_is_asked_twice() -> None:
    layout = layout_of(("a", "a"), alpha=[2, 2.0], seed=[7])
    found = assemble(layout, {"a": encoded(run_of(3, 0.5))[0]}.items()).to_dataset()
    assert found["iterations"].values.tolist() == [[3], [3]]
