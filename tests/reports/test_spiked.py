"""What a spike adds to a report."""

from __future__ import annotations

import json

import numpy as np
import pytest

from learnability import LearnabilityError, MultiIndex, SpikedIndex, hardness
from learnability.inputs import Inputs, PowerLaw, Signs, Spiked
from learnability.reports.spiked import start_exponent


@pytest.mark.parametrize(
    ("spike", "alignment", "x"),
    [
        (0, 0, 1), (0.15, 0.3, 1), (0.4, 0.3, 0.8), (0.5, 0.3, 0.6), (0.7, 0.3, 0.3),
        (0.5, 0, 0.5), (1.4, 0, 0),
    ],
)  # fmt: skip
def test_the_start_is_that_of_random_weights(spike: float, alignment: float, x: float) -> None:
    """Medians of |rho_0| between d = 10^4 and 10^12; the weights are normal along e1 and e2."""
    assert start_exponent(spike, alignment) == pytest.approx(x)
    e1, e2 = np.random.default_rng(0).standard_normal((2, 20_000))
    medians = []
    for d in (1e6, 1e12):
        theta, a = d**spike, d**-alignment
        s, m = e1 / np.sqrt(d), (a * e1 + np.sqrt(1 - a * a) * e2) / np.sqrt(d)
        rho = (m + theta * a * s) / np.sqrt((1 + theta * s**2) * (1 + theta * a * a))
        medians.append(np.median(np.abs(rho)))
    assert -2 * np.log(medians[1] / medians[0]) / np.log(1e6) == pytest.approx(x, abs=0.03)


def test_the_report() -> None:
    report = hardness(SpikedIndex("He3(z)", spike_exponent=0.7, alignment_exponent=0.3))
    rows = {cost.algorithm: cost.exponent for cost in report.costs}
    assert report.information_exponent == 3 and report.kernel_exponent == pytest.approx(0.9)
    assert rows["one-pass SGD"] == 2.0
    assert rows["one-pass SGD, whitened"] == pytest.approx(1.3)
    assert rows["flow on n samples (at most)"] == pytest.approx(1.6)
    told = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert told["start_exponent"] == pytest.approx(0.3) and told["spike_exponent"] == 0.7
    assert "d^-0.15" in str(report) and "mousavi2023" in report.cite()


def test_degrees_of_a_kernel() -> None:
    for gamma, degree in ((0.4, 1), (0.5, 2), (0.7, 3)):
        notes = " ".join(hardness(SpikedIndex("He2(z)", spike_exponent=gamma)).notes)
        assert f"degrees up to {degree}" in notes


def test_spikes_that_do_not_help() -> None:
    fixed = hardness(SpikedIndex("He2(z)", spike=4.0))
    assert fixed.start_exponent == 1 and "changes constants" in " ".join(fixed.notes)
    crossed = hardness(SpikedIndex("He3(z)", alignment=0.0, spike_exponent=0.8))
    assert crossed.kernel_exponent == 3 and "does not help" in " ".join(crossed.notes)
    with pytest.raises(LearnabilityError, match="belong to the target"):
        hardness(SpikedIndex("z", spike=1.0), noise=0.1)


def test_several_spikes_or_directions_are_not_given_the_exponents_of_one() -> None:
    plane = MultiIndex("z1*z2", inputs=Spiked(exponent=0.5, alignment=0.5))
    pair = MultiIndex("He3(z)", inputs=Spiked(exponent=(0.5, 0.3), alignment=(0.6, 0.3)))
    for target in (plane, pair):
        report = hardness(target)
        assert report.start_exponent is report.kernel_exponent is None and report.costs == ()
        assert {"costs", "start_exponent", "kernel_exponent"} <= set(report.undecided)
        assert "known for one spike and one hidden direction" in " ".join(report.notes)
        json.dumps(report.to_dict(), allow_nan=False)
        plain = hardness(MultiIndex(target.link))
        assert report.information_exponent == plain.information_exponent
        assert report.to_dict()["staircase"] == plain.to_dict()["staircase"]
    assert hardness(plane).spike_exponent == 0.5 and hardness(pair).spike_exponent is None


def test_several_spikes_that_do_not_grow_leave_the_exponents() -> None:
    report = hardness(MultiIndex("z1*z2", inputs=Spiked((4.0, 1.0), alignment=(0.5, 0.2))))
    assert report.start_exponent == 1 and report.kernel_exponent == 2 and report.undecided == ()
    assert report.costs == hardness("z1*z2").costs
    assert "changes constants" in " ".join(report.notes)


@pytest.mark.parametrize("inputs", [PowerLaw(), Signs()])
def test_inputs_without_a_theory_are_refused(inputs: Inputs) -> None:
    with pytest.raises(LearnabilityError, match=f"{inputs.kind} inputs.*isotropic and spiked"):
        hardness(MultiIndex("z1*z2", inputs=inputs))
