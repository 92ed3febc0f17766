"""The command line."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
import xarray

import learnability
from learnability import figures
from learnability.cli import main

from tests.reports.shared import report_on


class Done:
    """How a run ended: its exit code and what it printed."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["learnability", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        captured = capsys.readouterr()
        code = caught.value.code
        assert isinstance(code, int)
        return Done(code, captured.out, captured.err)

    return call


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
    assert (done.code, done.err) == (0, "")
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


def numbers(line: str) -> list[float]:
    return [float(word) for word in line.split() if word[0].isdigit()]


def test_a_prediction_as_a_table(run) -> None:  # type: ignore[no-untyped-def]
    done = run("predict", "bayes-amp", "abs(z)", "--alpha", "0.3:0.9:3")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "y = abs(z)" and lines[1].startswith("BayesAMP(")
    below, _, above = (numbers(line) for line in lines[4:7])
    assert below[:2] == [0.3, 0.0] and above[0] == 0.9 and 0.1 < above[1] < 1
    weak = next(line for line in lines if "alpha_weak" in line)
    assert numbers(weak) == [pytest.approx(0.5)]


def test_a_prediction_as_a_file(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "new" / "theory.nc"
    done = run("predict", "spectral", "abs(z)", "--alpha", "1", "--noise", "0", "--out", str(path))
    assert (done.code, done.out, done.err) == (0, "", "")
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        assert data["alpha"].shape == () and float(data["alpha"]) == 1.0
        assert float(data["overlap"].squeeze()) ** 2 == pytest.approx(0.2307, abs=1e-4)
        assert data.attrs["alpha_c"] == pytest.approx(0.5)


@pytest.mark.parametrize("learner", ["bayes-amp", "spectral"])
def test_runs_as_a_table_and_as_a_file(run, learner: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    call = ["simulate", learner, "abs(z)", "--d", "20", "--alpha", "1,4", "--seeds", "3,5"]
    done = run(*call)
    assert (done.code, done.err) == (0, "")
    head, first, second = done.out.splitlines()[3:6]
    assert head.split()[:3] == ["alpha", "overlap", "1"]
    assert "+-" in first and any(word in second for word in ("converged", "stopped"))
    path = tmp_path / "runs.csv"
    assert run(*call, "--out", str(path)).code == 0
    table = pandas.read_csv(path)
    assert set(table["seed"].dropna()) == {3, 5} and set(table["alpha"]) == {1.0, 4.0}
    own = table.query("variable == 'overlap' and alpha == 4 and estimate == 0 and index == 0")
    mean = own["value"].astype(float).mean()
    assert numbers(second)[1] == pytest.approx(mean, abs=1e-4)


def test_the_start_of_message_passing(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "runs.nc"
    done = run("simulate", "bayes-amp", "abs(z)", "--d", "60", "--alpha", "2", "--start",
               "informed", "--out", str(path))  # fmt: skip
    assert (done.code, done.err) == (0, "")
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        assert "start='informed'" in data.attrs["learner"] and data.attrs["d"] == 60
        assert float(data["overlap_trace"].isel(time=0).squeeze()) > 0.8


def test_runs_in_a_store(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    store = tmp_path / "runs.study"
    call = ["simulate", "spectral", "abs(z)", "--d", "20,30", "--alpha", "1,4", "--seeds", "2",
            "--set", "floor=none,-20", "--store", str(store)]  # fmt: skip
    done = run(*call)
    assert (done.code, done.err) == (0, "")
    assert "d = 20, floor = None\n" in done.out and "d = 30, floor = -20\n" in done.out
    told = run("study", "info", str(store))
    assert told.code == 0 and "16 of 16 runs finished, 0 failed" in told.out
    sizes = {"d": 2, "alpha": 2, "floor": 2, "seed": 2}
    for name in ("runs.nc", "runs.csv", "runs.zarr"):
        for _ in range(2):  # The second time in place of the first.
            done = run("study", "export", str(store), "--out", str(tmp_path / name))
            assert (done.code, done.out, done.err) == (0, "", "")
    with xarray.open_dataset(tmp_path / "runs.nc", engine="h5netcdf") as data:
        assert dict(data["subspace_overlap"].sizes) == sizes
        with xarray.open_dataset(tmp_path / "runs.zarr", engine="zarr") as zarr:
            xarray.testing.assert_equal(data["overlap"], zarr["overlap"])
            assert zarr["status"].values.tolist() == data["status"].values.tolist()
    table = pandas.read_csv(tmp_path / "runs.csv")
    assert set(table.query("variable == 'overlap'")["d"]) == {20, 30}
    before = store.stat().st_mtime_ns
    assert run("study", "export", str(store)).out == run(*call).out
    assert store.stat().st_mtime_ns >= before


def test_failed_runs_are_told_by_the_exit_code(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    store = tmp_path / "runs.study"
    done = run("simulate", "spectral", "z1*z2", "--d", "1,20", "--alpha", "2", "--seeds", "2",
               "--store", str(store))  # fmt: skip
    assert done.code == 1 and "d = 20" in done.out
    assert done.err.startswith("learnability: 2 of 4 runs failed:\n2 of them: `d` was given as 1")
    assert "2 failed: `d` was given as 1" in run("study", "info", str(store)).out


def test_a_stop_is_told(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(learnability.Spectral, "_run", stopped)
    store = str(tmp_path / "runs.study")
    done = run("simulate", "spectral", "abs(z)", "--d", "20", "--alpha", "2", "--store", store)
    assert (done.code, done.out) == (130, "")
    assert done.err == f"learnability: stopped: what is finished is in {store}, the same command " \
        "goes on.\n"  # fmt: skip


def test_a_script_for_slurm(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    job = tmp_path / "jobs" / "job.sh"
    done = run("simulate", "spectral", "z1*z2", "--d", "20", "--alpha", "2", "--workers", "40",
               f"--emit-slurm={job}", "--store", "runs.study")  # fmt: skip
    assert (done.code, done.err) == (0, "") and str(job) in done.out
    text = job.read_text()
    assert "#SBATCH --ntasks=40" in text and "emit-slurm" not in text and "--workers" not in text
    assert "simulate spectral 'z1*z2' --d 20 --alpha 2 --store runs.study --scheduler" in text


def test_figures_are_listed(run) -> None:  # type: ignore[no-untyped-def]
    done = run("figure", "--list")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()] == list(figures.FIGURES)


def test_a_figure(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    asked = []

    def draw(name: str, folder: Path, *, quick: bool) -> list[Path]:
        asked.append((name, folder, quick))
        return [folder / f"{name}.pdf", folder / f"{name}.png"]

    monkeypatch.setattr(figures, "draw", draw)  # Drawing itself is tested in tests/figures.
    done = run("figure", "parity-transition", "--quick", "--out", str(tmp_path / "new"))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        str(tmp_path / "new" / f"parity-transition.{kind}") for kind in ("pdf", "png")
    ]
    assert run("figure", "grand-staircase").code == 0
    assert asked == [
        ("parity-transition", tmp_path / "new", True),
        ("grand-staircase", Path(), False),
    ]


def test_online_learners_run_along_the_time(run) -> None:  # type: ignore[no-untyped-def]
    options = ["--time", "0.5,1", "--step", "0.3", "--activation", "tanh(z)", "--width", "2"]
    done = run("simulate", "online-sgd", "z1 + z2", "--d", "20", "--seeds", "2", *options)
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines() if line.startswith("  ")]
    assert rows[0][:3] == ["time", "overlap", "1"] and [row[0] for row in rows[1:]] == ["0.5", "1"]
    assert "2 finished" in done.out
    done = run("predict", "online-sgd", "z1 + z2", "--d", "20", *options)
    assert done.code == 0 and "solved" in done.out, done.err


RUN = ["simulate", "spectral", "z1*z2", "--d", "20", "--alpha", "2"]
BAD_WORK = {
    "an unknown learner": (["predict", "amp", "z", "--alpha", "1"], "bayes-amp and spectral"),
    "no learner": (["predict"], "LEARNER"),
    "no alpha": (["predict", "spectral", "z"], "--alpha"),
    "no time": (["predict", "online-sgd", "z", "--d", "9"], "needs `--time`"),
    "alpha for time": (["predict", "online-sgd", "z", "--alpha", "1"], "along `--time`"),
    "time for alpha": (["predict", "spectral", "z", "--time", "1"], "along `--alpha`"),
    "no start": (["predict", "online-sgd", "z", "--time", "1"], "either `d`"),
    "d without need": (["predict", "spectral", "z", "--alpha", "1", "--d", "9"], "needs none"),
    "another's option": (["predict", "spectral", "z", "--alpha", "1", "--look-ahead", "1"],
                         "`--look-ahead` was given with spectral"),
    "alpha zero": (["predict", "bayes-amp", "z", "--alpha", "0"], "above 0"),
    "alpha negative": (["predict", "spectral", "z", "--alpha", "-1:2:3"], "above 0"),
    "half a grid": (["predict", "spectral", "z", "--alpha", "1:2"], "`a:b:n`"),
    "a bad formula": (["predict", "spectral", "z +", "--alpha", "1"], "z +"),
    "negative noise": (["predict", "spectral", "z", "--alpha", "1", "--noise", "-1"], "noise"),
    "a hard link": (["predict", "spectral", "z**2*exp(-z**2)", "--alpha", "1"], "hardness"),
    "many directions": (["predict", "bayes-amp", "z1*z2*z3*z4", "--alpha", "1"], "at most 3"),
    "d below r": (["simulate", "spectral", "z1*z2", "--d", "1", "--alpha", "2"], "r = 2"),
    "no d": (["simulate", "spectral", "z1*z2", "--alpha", "2"], "--d"),
    "d that is no number": ([*RUN[:4], "many", *RUN[5:]], "`--d`"),
    "no dimension": ([*RUN[:4], "20,,30", *RUN[5:]], "`--d`"),
    "a setting without value": ([*RUN, "--set", "floor"], "NAME=GRID"),
    "an unknown setting": ([*RUN, "--set", "colour=1"], "`colour`"),
    "a setting twice": ([*RUN, "--set", "d=1"], "NAME=GRID"),
    "no worker": ([*RUN, "--workers", "0"], "`workers`"),
    "no such scheduler": ([*RUN, "--scheduler", "nowhere"], "No Dask scheduler"),
    "a store that is a folder": ([*RUN, "--store", "folder.nc"], "is a folder"),
    "a script without a store": ([*RUN, "--emit-slurm", "job.sh"], "--store"),
    "a study that is not there": (["study", "info", "none.study"], "none.study"),
    "a study that is none": (["study", "export", "taken"], "not the store"),
    "no seed": ([*RUN, "--seeds", "0"], "seeds"),
    "a seed twice": ([*RUN, "--seeds", "1,1"], "twice"),
    "seeds that are no numbers": ([*RUN, "--seeds", "a,b"], "--seeds"),
    "another suffix": ([*RUN, "--out", "runs.txt"], ".nc, .csv"),
    "no suffix": (["predict", "spectral", "z", "--alpha", "1", "--out", "theory"], ".nc, .csv"),
    "a file in the way": ([*RUN, "--out", "taken/runs.nc"], "taken"),
    "a folder in the way": ([*RUN, "--out", "folder.nc"], "is a folder"),
    "another start": (["predict", "bayes-amp", "z", "--alpha", "1", "--start", "x"], "informed"),
    "a start for another": ([*RUN, "--start", "random"], "belongs to bayes-amp"),
    "no figure": (["figure"], "--list"),
    "an unknown figure": (["figure", "staircase"], "parity-transition and grand-staircase"),
    "a figure where a file is": (["figure", "grand-staircase", "--out", "taken"], "taken"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_WORK)
def test_bad_work_ends_in_one_sentence(  # type: ignore[no-untyped-def]
    run, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    (tmp_path / "folder.nc").mkdir()
    arguments, words = BAD_WORK[case]
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("learnability: ") and done.err.count("\n") == 1
    assert words in done.err and "Traceback" not in done.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.nc", "taken"]


def test_an_unknown_verb(run) -> None:  # type: ignore[no-untyped-def]
    done = run("softness", "z")
    assert done.code == 2 and done.err.count("\n") == 1 and "softness" in done.err


def test_version_and_help(run) -> None:  # type: ignore[no-untyped-def]
    assert run("--version").out == f"learnability {learnability.__version__}\n"
    verbs = ("hardness", "predict", "simulate", "figure", "study")
    for arguments in ([], ["--help"], *([verb, "--help"] for verb in verbs)):
        done = run(*arguments)
        assert done.code == 0 and "Usage" in done.out and done.err == ""


def test_the_module_is_the_command(tmp_path: Path) -> None:
    def python(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "learnability", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )

    good = python("hardness", "abs(z)", "--json")
    assert good.returncode == 0 and json.loads(good.stdout)["kind"] == "easy"
    bad = python("hardness", "z +")
    assert bad.returncode == 2 and bad.stdout == "" and len(bad.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("learner", "options"),
    [
        ("random-features", ["--width", "0.5", "--activation", "tanh(z)", "--ridge", "0.1"]),
        ("kernel-ridge", ["--kernel", "1 + z + z**2", "--ridge", "0.1"]),
        ("giant-steps", ["--activation", "tanh(z)", "--batch", "2", "--step", "1", "--steps", "1"]),
    ],
)
def test_networks_and_kernels(run, learner: str, options: list[str]) -> None:  # type: ignore[no-untyped-def]
    theory = run("predict", learner, "z + z**3/9", "--alpha", "0.5,2", *options)
    assert (theory.code, theory.err) == (0, "") and "train error" in theory.out
    runs = run("simulate", learner, "z + z**3/9", "--d", "12", "--alpha", "2", *options)
    assert (runs.code, runs.err) == (0, "") and "1 solved" not in runs.out and "solved" in runs.out


def test_a_network_option_of_another_learner_ends_in_a_sentence(run) -> None:  # type: ignore[no-untyped-def]
    done = run("predict", "random-features", "z", "--alpha", "1", "--batch", "2")
    assert done.code == 2 and "belongs to online-sgd and giant-steps" in done.err


def test_hierarchical_targets(run) -> None:  # type: ignore[no-untyped-def]
    tree = ["tanh(3*z)", "--polynomial", "He2(z)"]
    report = run("hardness", *tree, "--json")
    assert report.code == 0 and json.loads(report.out)["compositional_exponent"] == 2
    theory = run("predict", "layerwise", *tree, "--d", "36", "--alpha", "20,40")
    assert (theory.code, theory.err) == (0, "") and "error" in theory.out
    runs = run("simulate", "layerwise", *tree, "--d", "16", "--alpha", "10")
    assert (runs.code, runs.err) == (0, "") and "trained" in runs.out
    options = ["--d", "16", "--alpha", "10", "--width", "40", "--steps", "3"]
    chosen = run("simulate", "layerwise", *tree, *options, "--ridge", "0.01")
    assert chosen.code == 0 and "ridge=0.01" in chosen.out and "width=40, steps=3" in chosen.out
    deficient = run("simulate", "layerwise", *tree, *options, "--ridge", "0")
    assert deficient.code == 2 and "use a ridge above 0" in deficient.err
    named = run("predict", "layerwise", *tree, *options)
    assert named.code == 0 and "SphericalFirstLayer(width=40, steps=3" in named.out
    missing = run("predict", "layerwise", *tree, "--alpha", "20")
    assert missing.code == 2 and "needs `--d`" in missing.err
    alone = run("predict", "bayes-amp", "z", "--alpha", "1", "--epsilon", "0.5")
    assert alone.code == 2 and "belongs to `--polynomial`" in alone.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--polynomial", "He2(z)", "--directions", "17"], "room for 16"),
        (["--polynomial", "He2(z)", "--epsilon", "1.5"], "between 0 and 1"),
        (["--polynomial", "He2(z)", "--epsilon", "0.5", "--directions", "4"], "both given"),
        (["--polynomial", "z**2"], "with a constant term"),
        (["--polynomial", "He2(z)", "--depth", "6"], "cannot hold it"),
        (["--polynomial", "He2(z)", "--depth", "9"], "from 3 to 8"),
    ],
)
def test_trees_that_cannot_be(run, options: list[str], words: str) -> None:  # type: ignore[no-untyped-def]
    for command in ("predict", "simulate"):
        done = run(command, "layerwise", "tanh(z)", *options, "--d", "16", "--alpha", "9")
        assert done.code == 2 and words in done.err and "Traceback" not in done.err


def test_a_table_is_fitted(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    table = rng.standard_normal((80, 3))
    rows = [f"{a},{b},{c},{a + 0.1 * b}" for a, b, c in table]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,c,y", *rows]))
    done = run("fit", str(tmp_path / "data.csv"), "--target", "y", "--components", "1")
    assert done.code == 0 and "1 direction found" in done.out
    bad = run("fit", str(tmp_path / "data.csv"), "--target", "x")
    assert bad.code == 2 and "the columns are a, b, c, y" in bad.err
