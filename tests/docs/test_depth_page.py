"""The page of the scenarios of depth: what its text says is in its table, or in the theory."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from learnability import Hierarchical
from learnability.learners.deep import best_kernel_error

PAGE = Path(__file__).parents[2] / "docs" / "gallery" / "depth-scenarios.md"


@pytest.fixture(scope="module")
def text() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def table(text: str) -> dict[str, dict[int, float]]:
    """Error by learner and n."""
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")]
            for line in text.splitlines() if line.startswith("| ")]  # fmt: skip
    sizes = [int(n) for n in rows[0][1:-1]]
    return {
        row[0]: dict(zip(sizes, map(float, row[1:-1]), strict=True))
        for row in rows[1:]
        if not row[0].startswith("---")
    }


def numbers(text: str, pattern: str) -> list[float]:
    found = re.search(pattern, text, flags=re.DOTALL)
    assert found, pattern
    return [float(number) for number in found.groups()]


def test_the_order_of_the_scenarios(table: dict[str, dict[int, float]]) -> None:
    two, three = "layer-wise: its two layers", "layer-wise"
    for n, kernel in table["Mehler kernel"].items():
        kappa = math.log(n) / math.log(64)
        if kappa >= 1.9:
            assert kernel > table[two][n] + 0.1 and table[two][n] > table[three][n] + 0.03
        elif 1.45 < kappa <= 1.8:  # Two and three layers do not separate.
            assert table[three][n] > table[two][n] - 0.03
        if n >= 2868:  # Joint training of three layers is best, and only from a layer-wise start.
            best = min(table, key=lambda name: table[name][n])
            assert best == "three layers, joint"
            assert table["three layers, from scratch"][n] > table[three][n]


def test_the_numbers_of_the_text(text: str, table: dict[str, dict[int, float]]) -> None:
    sizes = {round(math.log(n) / math.log(64), 2): n for n in table["layer-wise"]}
    kernel, theory, quadratic, two, three = numbers(
        text, r"2\.2\$ I is ([\d.]+) \(theory ([\d.]+); quadratic ([\d.]+)\), "
        r"II ([\d.]+) and III (\d\.\d+)"
    )  # fmt: skip
    n = sizes[2.2]
    assert kernel == table["Mehler kernel"][n] and quadratic == table["quadratic kernel"][n]
    assert two == table["layer-wise: its two layers"][n] and three == table["layer-wise"][n]
    target = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", N=8, normalisation="printed")
    found = best_kernel_error(target, 64, n) / target.variance
    assert found == pytest.approx(theory, abs=0.001)

    joint = numbers(text, r"trained jointly, two layers leave ([\d.]+) and three (\d\.\d+)")
    assert joint == [table[f"{depth} layers, joint"][n] for depth in ("two", "three")]
    scratch = numbers(text, r"leave ([\d.]+) with two layers and ([\d.]+) with three")
    assert scratch == [table[f"{depth} layers, from scratch"][n] for depth in ("two", "three")]

    kappa, two, three, both = numbers(
        text, r"At \$\\kappa = ([\d.]+)\$ II is ([\d.]+), III ([\d.]+), and both (\d\.\d+)"
    )
    n = sizes[kappa]
    assert (two, three) == (table["layer-wise: its two layers"][n], table["layer-wise"][n])
    assert both == table["two layers, joint"][n] == table["three layers, joint"][n]
    three, two, kappa = numbers(text, r"harm: ([\d.]+) against ([\d.]+) at \$\\kappa = ([\d.]+)\$")
    n = sizes[kappa]
    assert (two, three) == (table["layer-wise: its two layers"][n], table["layer-wise"][n])
    (floor,) = numbers(text, r"its floor is (\d\.\d+)")
    assert target.feature_floor / target.variance == pytest.approx(floor, abs=0.001)
