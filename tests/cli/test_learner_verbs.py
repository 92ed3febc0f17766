"""The verbs that ask a learner."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pytest
import xarray

import learnability


def numbers(line: str) -> list[float]:
    return [float(word) for word in line.split() if word[0].isdigit()]


def test_a_prediction_as_a_table(run) -> None:  # type: ignore[no-untyped-def]
    done = run("predict", "bayes-amp", "abs(z)", "--alpha", "0.3:0.9:3")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "y = abs(z)" and lines[1].startswith("BayesAMP(")
    below, _, above = (numbers(line) for line in lines[4:7])
    assert below[:2] == [0.3, 0.0] and above[0] == 0.9 and 0.1 < above[1] < 1
    weak = next(line for line in lines if "alpha_c" in line)
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


def test_online_learners_run_along_the_time(run) -> None:  # type: ignore[no-untyped-def]
    options = ["--time", "0.5,1", "--step", "0.3", "--activation", "tanh(z)", "--width", "2"]
    done = run("simulate", "online-sgd", "z1 + z2", "--d", "20", "--seeds", "2", *options)
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines() if line.startswith("  ")]
    assert rows[0][:3] == ["time", "overlap", "1"] and "error" in rows[0]
    assert [row[0] for row in rows[1:3]] == ["0.5", "1"]
    assert "2 finished" in done.out
    done = run("predict", "online-sgd", "z1 + z2", "--d", "20", *options)
    assert done.code == 0 and "solved" in done.out, done.err


RUN = ["simulate", "spectral", "z1*z2", "--d", "20", "--alpha", "2"]
BAD_WORK = {
    "an unknown learner": (["predict", "amp", "z", "--alpha", "1"], "but batch-gd, bayes-amp,"),
    "no learner": (["predict"], "LEARNER"),
    "no alpha": (["predict", "spectral", "z"], "--alpha"),
    "no time": (["predict", "online-sgd", "z", "--d", "9"], "needs `--time`"),
    "alpha for time": (["predict", "online-sgd", "z", "--alpha", "1"], "`--alpha` was given with"),
    "time for alpha": (["predict", "spectral", "z", "--time", "1"], "it belongs to"),
    "no start": (["predict", "online-sgd", "z", "--time", "1"], "either `d`"),
    "d without need": (["predict", "spectral", "z", "--alpha", "1", "--d", "9"], "takes `alpha`"),
    "another's option": (["predict", "spectral", "z", "--alpha", "1", "--look-ahead", "1"],
                         "`--look-ahead` was given with predict spectral, but it belongs to"),
    "alpha zero": (["predict", "bayes-amp", "z", "--alpha", "0"], "above 0"),
    "alpha negative": (["predict", "spectral", "z", "--alpha", "-1:2:3"], "above 0"),
    "half a grid": (["predict", "spectral", "z", "--alpha", "1:2"], "`a:b:n`"),
    "a bad formula": (["predict", "spectral", "z +", "--alpha", "1"], "z +"),
    "negative noise": (["predict", "spectral", "z", "--alpha", "1", "--noise", "-1"], "noise"),
    "a hard link": (["predict", "spectral", "z**2*exp(-z**2)", "--alpha", "1"], "hardness"),
    "many directions": (["predict", "bayes-amp", "z1*z2*z3*z4*z5", "--alpha", "1"], "at most 4"),
    "d below r": (["simulate", "spectral", "z1*z2", "--d", "1", "--alpha", "2"], "r = 2"),
    "no d": (["simulate", "spectral", "z1*z2", "--alpha", "2"], "--d"),
    "d that is no number": ([*RUN[:4], "many", *RUN[5:]], "`--d`"),
    "no dimension": ([*RUN[:4], "20,,30", *RUN[5:]], "`--d`"),
    "a setting without value": ([*RUN, "--set", "floor"], "NAME=VALUE"),
    "an unknown setting": ([*RUN, "--set", "colour=1"], "`colour`"),
    "a setting twice": ([*RUN, "--set", "d=1"], "an option of its own"),
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
    "a start for another": ([*RUN, "--start", "random"], "belongs to"),
    "an option before the learner": (["predict", "--alpha", "1", "spectral", "z"], "LEARNER EXPR"),
    "an unknown option": ([*RUN, "--fast"], "`learnability simulate spectral --help`"),
    "an unknown question": ([*RUN, "--question", "why"], "which answers values"),
    "a learner without theory": (["predict", "joint-adamw", "z", "--alpha", "1", "--d", "9"],
                                 "no theory of jointly trained networks"),
    "an option of another verb": (["simulate", "kernel-ridge", "z", "--degree", "1"],
                                  "it belongs to predict kernel-ridge"),
    "a field out of range": (["predict", "bayes-amp", "z", "--alpha", "1", "--damping", "2"],
                             "`--damping` was given as 2"),
    "an unknown field": (["predict", "spectral", "z", "--alpha", "1", "--set", "colour=1"],
                         "`colour`"),
    "a plot of another kind": (["plot", "spectral", "z", "--alpha", "1,2", "--out", "curve.txt"],
                               ".png, .pdf"),
    "inputs that are not supported": (["predict", "bayes-amp", "z", "--alpha", "1", "--spike", "2"],
                                      "accepts isotropic inputs"),
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
    assert done.code == 2 and "belongs to" in done.err and "giant-steps" in done.err


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
    assert named.code == 0 and "not a Mehler kernel" in named.out
    missing = run("predict", "layerwise", *tree, "--alpha", "20")
    assert missing.code == 2 and "needs `--d`" in missing.err
    alone = run("predict", "bayes-amp", "z", "--alpha", "1", "--epsilon", "0.5")
    assert alone.code == 2 and "it accepts multi-index targets" in alone.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--polynomial", "He2(z)", "--directions", "17"], "room for 16"),
        (["--polynomial", "He2(z)", "--epsilon", "1.5"], "above 0 and below 1"),
        (["--polynomial", "He2(z)", "--epsilon", "0.5", "--directions", "4"], "both given"),
        (["--polynomial", "z**2"], "with a constant term"),
        (["--polynomial", "He2(z)", "--depth", "6"], "cannot hold it"),
        (["--polynomial", "He2(z)", "--depth", "9"], "of at most 8"),
    ],
)
def test_trees_that_cannot_be(run, options: list[str], words: str) -> None:  # type: ignore[no-untyped-def]
    for command in ("predict", "simulate"):
        done = run(command, "layerwise", "tanh(z)", *options, "--d", "16", "--alpha", "9")
        assert done.code == 2 and words in done.err and "Traceback" not in done.err


def test_settings_on_predict_as_on_simulate(run) -> None:  # type: ignore[no-untyped-def]
    words = ["kernel-ridge", "z", "--inputs", "spiked", "--spike", "1", "--alpha", "1", "--d", "90"]
    by_option = run("predict", *words, "--ridge", "0.5", "--noise", "0.1", "--alignment", "0.5")
    by_name = ["--set", "ridge=0.5", "--set", "noise=0.1", "--set", "alignment=0.5"]
    assert by_option.code == 0, by_option.err
    assert run("predict", *words, *by_name).out == by_option.out
    words[words.index("90")] = "20"
    runs = run("simulate", *words, *by_name)
    assert runs.code == 0 and "ridge=0.5" in runs.out and "alignment=0.5" in runs.out
    axis = run("simulate", *words, "--set", "strength=1,4")
    assert axis.code == 0 and "strength = 4\n" in axis.out, axis.err


def test_another_question(run) -> None:  # type: ignore[no-untyped-def]
    words = ["bayes-amp", "abs(z)", "--alpha", "1", "--question", "path"]
    theory = run("predict", *words, "--steps", "3")
    assert theory.code == 0 and theory.out.splitlines()[3].split()[:3] == ["time", "overlap", "1"]
    assert "needs `--steps`" in run("predict", *words).err
    runs = run("simulate", *words, "--d", "20", "--iterations", "4")
    assert runs.code == 0 and runs.out.splitlines()[3].split()[0] == "time"


def test_help_lists_only_what_applies(run) -> None:  # type: ignore[no-untyped-def]
    spectral = run("predict", "spectral", "--help").out
    assert "--floor" in spectral and "--alpha GRID" in spectral and "--noise" in spectral
    for other in ("--damping", "--spike", "--polynomial", "--d ", "--time", "--seeds", "--inputs"):
        assert other not in spectral
    kernels = run("simulate", "kernel-ridge", "--help").out
    for own in ("--kernel", "--spike", "--power-law", "--polynomial", "--d GRID", "--seeds"):
        assert own in kernels
    listed = run("predict", "--help").out
    assert "bayes-amp" in listed and "joint-adamw" not in listed  # It has no theory.
    assert "joint-adamw" in run("simulate", "--help").out


def test_a_field_and_a_target_of_the_same_name(run) -> None:  # type: ignore[no-untyped-def]
    told = run("simulate", "joint-adamw", "--help").out
    assert "--depth N" in told and "--target-depth N" in told
    words = ["simulate", "joint-adamw", "tanh(z)", "--d", "40", "--alpha", "4", "--steps", "2"]
    done = run(*words, "--depth", "2", "--start", "random", "--target-depth", "9")
    assert done.code == 2 and "`--depth` was given as 9" in done.err


@pytest.mark.parametrize("verb", ["predict", "simulate"])
def test_a_result_and_its_picture(run, verb: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    picture = tmp_path / "new" / "curve.svg"
    size = ["--d", "20"] if verb == "simulate" else []
    done = run(verb, "spectral", "abs(z)", "--alpha", "1,2", *size, "--plot", str(picture))
    assert done.code == 0 and "overlap" in done.out and str(picture) in done.err
    assert picture.exists() and picture.with_suffix(".csv").exists()


def test_a_picture_without_a_name_gets_one(run, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    done = run("plot", "spectral", "sign(z1*z2)", "--alpha", "2,4")
    assert done.code == 0 and "spectral-sign-z1-z2.png" in done.out
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"spectral-sign-z1-z2.{kind}" for kind in ("png", "nc", "csv")}


def test_a_picture_of_theory_and_runs(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    words = ["plot", "spectral", "abs(z)", "--alpha", "0.8:2:3"]
    done = run(*words, "--out", str(tmp_path / "new" / "line.pdf"))
    assert (done.code, done.err) == (0, "") and (tmp_path / "new" / "line.nc").exists()
    picture = tmp_path / "both.png"
    done = run(*words, "--d", "20", "--seeds", "2", "--out", str(picture))
    assert (done.code, done.err) == (0, "")
    assert str(picture) in done.out and str(picture.with_suffix(".csv")) in done.out
    with xarray.open_dataset(picture.with_suffix(".nc"), engine="h5netcdf") as data:
        assert data["theory_overlap"].sizes["theory_alpha"] == 3
        assert data["runs_overlap"].sizes["seed"] == 2 and data["d"] == 20
    theory_only = run("plot", "joint-adamw", "z", "--alpha", "1", "--out", str(picture))
    assert theory_only.code == 2 and "Nothing was given to draw" in theory_only.err


SIMULATE = ("simulate", "spectral", "abs(z)", "--d", "10", "--alpha", "1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        *[((*SIMULATE, "--set", f"{name}=3"), "it sets fields of the learner")
          for name in ("seeds", "store", "workers", "question", "target", "learner", "longest")],
        ((*SIMULATE, "--set", "alpha=3"), "`alpha` has an option of its own"),
        ((*SIMULATE, "--noise", "1", "--set", "noise=3"), "`noise` has an option of its own"),
        ((*SIMULATE, "--floor", "-1", "--set", "floor=-2"), "`floor` has an option of its own"),
        (("predict", "spectral", "z", "--alpha", "1", "--set", "alpha=3"), "an option of its own"),
        (("predict", "spectral", "abs(z)", "--alpha", "1e308"), "out of range"),
        (("predict", "kernel-ridge", "z", "--alpha", "1e300"), "out of range"),
        (("simulate", "giant-steps", "z", "--d", "10", "--alpha", "1", "--steps", "1000000000"),
         "at most 10000"),
        (("simulate", "online-sgd", "z", "--d", "10", "--time", "1e12", "--yes"),
         "days are accepted"),
        (("simulate", "batch-gd", "z", "--d", "1000", "--alpha", "10", "--steps", "10000000000",
          "--yes"), "days are accepted"),
        (("simulate", "batch-gd", "z", "--d", "1000", "--alpha", "10", "--steps", "1000000"),
         "--yes"),
        (("simulate", "layerwise", "z", "--d", "10", "--alpha", "1", "--polynomial", ""), "empty"),
    ],
    ids=lambda one: " ".join(one[-2:]) if isinstance(one, tuple) else "",
)  # fmt: skip
def test_bad_words_end_in_one_sentence(run, words: tuple[str, ...], said: str) -> None:  # type: ignore[no-untyped-def]
    done = run(*words)
    assert done.code == 2 and done.out == "" and said in done.err
    assert done.err.count("\n") == 1 and "Traceback" not in done.err
