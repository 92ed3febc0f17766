"""The verbs hardness and figure."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas
import pytest
import xarray

from learnability import figures, regimes
from learnability.labels import CATALOGUE
from learnability.targets import MultiIndex

from tests.reports.shared import report_on

NAMES = {
    "information_exponent", "generative_exponent", "leap", "kind", "alpha_c", "staircase",
    "csq_staircase", "floors", "costs", "notes", "undecided",
}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "kind", "alpha_c"),
    [
        (["abs(z)"], "easy", 0.5),
        (["abs(z)", "--noise", "0.1"], "easy", 0.604287681386758),
        (["z"], "trivial", 0.0),
        (["z**2*exp(-z**2)"], "hard", None),
        (["sign(z1*z2)"], "easy", math.pi**2 / 4),
        (["5"], None, None),
    ],
)
def test_json_is_one_object(run, arguments: list[str], kind: str, alpha_c: float | None) -> None:  # type: ignore[no-untyped-def]
    done = run("hardness", *arguments, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.out.count("\n") == 1
    report = json.loads(done.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert set(report) >= NAMES
    assert report["kind"] == kind
    assert report["alpha_c"] == (None if alpha_c is None else pytest.approx(alpha_c, abs=1e-7))
    for step in report["staircase"]:
        assert {"directions", "kind", "alpha", "order"} <= set(step)
        assert all(len(row) == report["r"] for row in step["directions"])
    for cost in report["costs"]:
        assert {"algorithm", "exponent", "log_power", "constant", "reference"} <= set(cost)


def test_json_is_the_report(run) -> None:  # type: ignore[no-untyped-def]
    text = "sign(z1) + 3*sign(abs(z2) - 1)"
    found = json.loads(run("hardness", text, "--json").out)
    expected = report_on(text).to_dict()
    assert found == json.loads(json.dumps(expected))


def test_the_table(run) -> None:  # type: ignore[no-untyped-def]
    done = run("hardness", "sign(z1*z2)")
    assert (done.code, done.err) == (0, "")
    assert done.out == str(report_on("sign(z1*z2)")) + "\n"


def test_citations(run) -> None:  # type: ignore[no-untyped-def]
    done = run("hardness", "abs(z)", "--cite")
    assert done.code == 0 and done.out == report_on("abs(z)").cite() + "\n"


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg", ".PNG"])
def test_a_picture_and_its_data(run, suffix: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    picture = tmp_path / "new" / f"report{suffix}"
    done = run("hardness", "sign(z1*z2)", "--plot", str(picture))
    assert done.code == 0 and str(picture) in done.err and "report.csv" in done.err
    assert sorted(p.name for p in picture.parent.iterdir()) == sorted(
        ["report.csv", "report.nc", picture.name]
    )
    assert picture.stat().st_size > 1000
    with xarray.open_dataset(picture.with_suffix(".nc"), engine="h5netcdf") as data:
        assert float(data["alpha"][0]) == pytest.approx(math.pi**2 / 4)
    assert "floor" in set(pandas.read_csv(picture.with_suffix(".csv"))["variable"])


BAD = {
    "not a formula": ["z +"],
    "an unknown name": ["foo(z)"],
    "an attribute": ["z.__class__"],
    "code": ["__import__('os').system('true')"],
    "too deep": ["(" * 300 + "z" + ")" * 300],
    "two lines": ["z\n+ q"],
    "nothing": [""],
    "not finite": ["log(z)"],
    "columns of no table": ["z", "--drop", "a"],
    "negative noise": ["z", "--noise", "-0.1"],
    "noise that is no number": ["z", "--noise", "much"],
    "noise nan": ["z", "--noise", "nan"],
    "noise infinite": ["z", "--noise", "inf"],
    "a picture without suffix": ["z", "--plot", "report"],
    "a picture of another kind": ["z", "--plot", "report.docx"],
    "a picture where a file is in the way": ["z", "--plot", "taken/report.png"],
    "an unknown option": ["z", "--fast"],
    "no formula": [],
    "two formulas": ["z", "z**2"],
    "inputs of another kind": ["z", "--inputs", "cubic"],
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_in_one_sentence(  # type: ignore[no-untyped-def]
    run, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    done = run("hardness", *BAD[case])
    assert done.code == 2
    assert done.out == "" or case == "a picture where a file is in the way"
    assert done.err.startswith("learnability: ") and done.err.count("\n") == 1
    assert "Traceback" not in done.err
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]


def test_figures_are_listed(run) -> None:  # type: ignore[no-untyped-def]
    done = run("figure", "--list")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()] == list(figures.FIGURES)


def test_a_figure(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    asked = []

    def draw(name: str, folder: Path, *, quick: bool, target: object) -> list[Path]:
        asked.append((name, folder, quick, target))
        return [folder / f"{name}.pdf", folder / f"{name}.png"]

    monkeypatch.setattr(figures, "draw", draw)  # Drawing itself is tested in tests/figures.
    done = run("figure", "parity-transition", "--quick", "--out", str(tmp_path / "new"))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        str(tmp_path / "new" / f"parity-transition.{kind}") for kind in ("pdf", "png")
    ]
    assert run("figure", "grand-staircase", "z1*z2", "--noise", "0.1").code == 0
    assert asked == [
        ("parity-transition", tmp_path / "new", True, None),
        ("grand-staircase", Path(), False, MultiIndex("z1*z2", noise=0.1)),
    ]


BAD_FIGURES = {
    "no figure": ([], "--list"),
    "an unknown figure": (["staircase"], "parity-transition and grand-staircase"),
    "a figure where a file is": (["grand-staircase", "--out", "taken"], "taken"),
    "a target for a figure without": (["scaling-laws", "z"], "those that take one are"),
    "an option without a target": (["grand-staircase", "--noise", "0.1"], "without EXPR"),
}


@pytest.mark.parametrize("case", BAD_FIGURES)
def test_bad_figures_end_in_one_sentence(  # type: ignore[no-untyped-def]
    run, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    words, sentence = BAD_FIGURES[case]
    done = run("figure", *words)
    assert (done.code, done.out) == (2, "") and done.err.count("\n") == 1
    assert sentence in done.err and [p.name for p in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["He3(z)", "--spike-exponent", "0.6"], "spiked"),
        (["z1*z2", "--inputs", "isotropic"], "isotropic"),
    ],
)
def test_hardness_of_any_inputs(run, words: list[str], kind: str) -> None:  # type: ignore[no-untyped-def]
    done = run("hardness", *words, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert kind != "spiked" or found["kernel_exponent"] == pytest.approx(1.2)


def test_several_links_side_by_side(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    picture = tmp_path / "new" / "compared.svg"
    done = run("compare", "abs(z)", "sign(z1*z2)", "--plot", str(picture))
    assert done.code == 0 and str(picture) in done.err and picture.exists()
    lines = done.out.splitlines()
    assert lines[0].split()[:3] == ["link", "kind", "alpha_c"]
    assert [line.split()[0] for line in lines if line.startswith("  ") and "easy" in line] == [
        "abs(z)", "sign(z1*z2)",
    ]  # fmt: skip
    rows = json.loads(run("compare", "abs(z)", "z", "--noise", "0.1", "--json").out)
    assert [row["noise"] for row in rows] == [0.1, 0.1] and rows[1]["kind"] == "trivial"
    assert run("compare", "z").code == 2


def test_the_catalogue(run) -> None:  # type: ignore[no-untyped-def]
    listed = run("catalogue").out
    assert all(f"  {entry.name} " in listed for entry in CATALOGUE)
    assert all(len(line) <= 80 for line in listed.splitlines())
    one = run("catalogue", "parity-2")
    assert one.code == 0 and "2.467" in one.out and "y = sign(z1*z2)" in one.out
    assert run("catalogue", "parity-99").code == 2


def test_regimes_after_steps_in_given_dimensions(run) -> None:  # type: ignore[no-untyped-def]
    words = ["regimes", "z1 + z1*z2", "--n", "4*d", "--p", "d"]
    done = run(*words, "--step", "1", "--d", "20,30", "--json")
    assert (done.code, done.err) == (0, "")
    found, expected = json.loads(done.out), regimes("z1 + z1*z2", n="4*d", step=1.0, d=[20, 30])
    assert found == expected.to_dict()
    undecided = run(*words, "--activation", "exp(z)", "--d", "20", "--json")
    assert undecided.code == 0 and json.loads(undecided.out)["error"] == [None]
    for wrong in (["--step", "nan"], ["--strength", "-1"], ["--d", "5"], ["--d", "1e300"]):
        refused = run(*words, *wrong)
        assert refused.code == 2 and "was given as" in refused.err
