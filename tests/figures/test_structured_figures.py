"""The figures on structured data, at small sizes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from learnability.figures import FIGURES
from learnability.figures._literature import SpikeSize
from learnability.figures.alignment_map import MapSize
from learnability.figures.flow_exponents import FlowMapSize
from learnability.figures.flows import FlowSize
from learnability.figures.mean_field_parity import ParitySize
from learnability.figures.scaling_laws import LawSize

TINY: dict[str, Any] = {
    "spiked-staircase": SpikeSize((60,), 1, (0.0, 0.7), 2),
    "spiked-one-step": SpikeSize((80,), 2, (0.1, 0.8), 3),
    "spiked-spectrum": SpikeSize((60,), 1, (0.0, 0.7), 4),
    "spiked-alignment": SpikeSize((40,), 2, (0.1, 0.8), 2),
    "flows": FlowSize(d=1000, runs=2, batch=400, points=5, landscape=41),
    "alignment-map": MapSize((32, 64), 8, (0.0,), (0.8,)),
    "flow-exponents": FlowMapSize(
        (32, 64, 128), 8, tuple(1.25 * 1.8**k for k in range(8)), (0.0,), (0.0, 0.5)
    ),
    "mean-field-parity": ParitySize((4, 6, 8), 2, 64, (2,), (0.0, 0.5), 400, 50),
    "scaling-laws": LawSize((20, 40), 3, 300, 9, 9),
}


@pytest.mark.parametrize("name", TINY)
def test_it_computes_and_draws(name: str) -> None:
    module = import_module(f"learnability.figures.{name.replace('-', '_')}")
    data = module.compute(TINY[name])
    assert FIGURES[name] and data.data_vars
    for variable in data.data_vars.values():
        if variable.dtype.kind == "f":
            assert np.isfinite(variable).all(), variable.name
    figure = module.picture(data)
    assert all(axes.get_xlabel() or axes.get_ylabel() for axes in figure.axes)
    figure.canvas.draw()
    check = CHECKS.get(name)
    assert check is None or check(data)


def test_the_staircase_of_ones_own_link() -> None:
    from learnability import MultiIndex
    from learnability.figures import spiked_staircase

    target = MultiIndex("sign(z)", noise=0.5)
    data = spiked_staircase.compute(TINY["spiked-staircase"], target=target)
    assert data.link.values.tolist() == ["sign(z)"] and (data.theory_error > 0.5).all()
    assert spiked_staircase.picture(data).axes[0].get_lines()


CHECKS = {
    "spiked-staircase": lambda data: (
        data.theory_error.isel(gamma=-1) < data.theory_error.isel(gamma=0)
    ).all(),
    "spiked-one-step": lambda data: (
        data.runs_correlation.mean("seed")[-1, 0] > data.runs_correlation.mean("seed")[-1, 2]
    ),
    "flows": lambda data: (
        abs(data.attrs["separatrix"] - 0.2139) < 5e-4
        and data.theory_spherical[0, -1] < 0.2 < 0.9 < data.theory_normalised[0, -1]
    ),
    "alignment-map": lambda data: (data.runs_slope_error > 0).all(),
    "flow-exponents": lambda data: (
        (data.runs_share[..., 0] < data.runs_share[..., -1]).all() and (data.theory_bound > 1).all()
    ),
    "scaling-laws": lambda data: float(data.theory_regime.max()) <= data.attrs["best_exponent"],
}
