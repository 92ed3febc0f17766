"""What a worker answers: the numbers are those of the library, for every verb."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import xarray

import learnability as lb
from learnability.errors import LearnabilityError
from learnability.explorer.asking import python_of
from learnability.explorer.frames import as_line, plain
from learnability.explorer.jobs import VERBS, answer, coarse_to_fine
from learnability.explorer.limits import read_request
from learnability.theory.sketch import sketched_fixed_point

from tests.explorer.hostile import TABLES

CURVE = {
    "expression": "abs(z)", "alpha": "0.4:1.6:5", "runs": "0.8:1.6:2", "d": "20",
    "seeds": "2",
}  # fmt: skip


def ask(verb: str, values: dict[str, str], learner: str = "", blob: bytes = b"") -> list[Any]:
    """The events, as the page has them after JSON, each with its bytes."""
    request = {"verb": verb, "learner": learner, "values": values}
    return [(json.loads(as_line(plain(m))), b) for m, b in answer(request, blob)]


def test_the_formula_is_typeset() -> None:
    [(found, _)] = ask("parse", {"expression": "z1**2 + sign(z1*z2)", "noise": "0.5"})
    assert found["r"] == 2 and found["mathml"].startswith("<math") and "<script" not in str(found)


def test_a_warm_reader_loads_nothing_more_for_formulas_of_the_catalogue() -> None:
    code = (
        "import sys; from learnability.explorer import jobs; jobs.warm('reader');"
        "from learnability.labels import CATALOGUE; before = set(sys.modules);"
        "values = [{'expression': entry.text} for entry in CATALOGUE];"
        "told = [list(jobs.answer({'verb': 'parse', 'learner': '', 'values': one}, b''))"
        " for one in values];"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "values, word",
    [
        ({"expression": "z1 +"}, "formula"),
        ({"expression": "z", "noise": "-1"}, "--noise"),
        ({"expression": "z", "colour": "red"}, "colour"),
        ({}, "No function"),
        ({"expression": "z", "spike": "2", "power-law": "1"}, "different inputs"),
    ],
)
def test_a_bad_target_is_a_sentence(values: dict[str, str], word: str) -> None:
    with pytest.raises(LearnabilityError, match=word):
        ask("parse", values)


@pytest.mark.parametrize(
    "values, target",
    [
        ({"expression": "He3(z)"}, lb.MultiIndex("He3(z)")),
        ({"expression": "sign(z1*z2)", "noise": "0.2"}, lb.MultiIndex("sign(z1*z2)", noise=0.2)),
        ({"expression": "z", "spike": "2"}, lb.MultiIndex("z", inputs=lb.Spiked(2.0))),
        ({"expression": "tanh(z)", "depth": "3"}, lb.Hierarchical("tanh(z)")),
    ],
)
def test_facts_are_those_of_the_report(values: dict[str, str], target: Any) -> None:
    *_, (found, _) = ask("hardness", values)
    assert found["facts"] == json.loads(json.dumps(plain(lb.hardness(target).to_dict())))
    assert found["bibtex"] == lb.hardness(target).cite()
    assert found["latex"] == lb.hardness(target).to_latex()


def test_the_threshold_comes_first_from_few_samples_with_errors_that_shrink() -> None:
    *first, (whole, _) = ask("hardness", {"expression": "z1*z2"})
    found = [event for event, _ in first if event["event"] == "estimate"]
    errors = [event["alpha_c_error"] for event in [*found, whole["facts"]]]
    assert len(errors) == 3 and errors == sorted(errors, reverse=True) and errors[-1] > 0
    for event in found:
        assert event["kind"] == "easy"
        gap = abs(event["alpha_c"] - whole["facts"]["alpha_c"])
        assert gap < 4 * (event["alpha_c_error"] + errors[-1])


def test_a_trivial_direction_is_told_before_the_report() -> None:
    request = {"verb": "hardness", "learner": "", "values": {"expression": "z1 + abs(z2)"}}
    messages = answer(request, b"")
    assert next(messages)[0] == {"event": "started"}
    found = {"event": "estimate", "kind": "trivial", "alpha_c": 0.0, "alpha_c_error": 0.0}
    assert next(messages)[0] == found


def test_a_grid_is_computed_from_coarse_to_fine() -> None:
    for count in (1, 2, 3, 7, 24, 400):
        places = [place for level in coarse_to_fine(count) for place in level]
        assert sorted(places) == list(range(count))
    assert len(coarse_to_fine(24)[0]) == 1


def test_theory_comes_in_parts_that_are_the_whole() -> None:
    (sketch, _), *parts, (whole, blob) = ask("predict", CURVE, "bayes-amp")
    assert [event["event"] for event, _ in parts] == ["points"] * 3
    theory = lb.BayesAMP().predict("abs(z)", alpha=np.linspace(0.4, 1.6, 5))
    [curve] = whole["curves"]["overlap"]["curves"]
    assert curve["x"] == theory.alpha.values.tolist()
    assert curve["y"] == theory.overlap.values[:, 0, 0].tolist()
    kept = xarray.load_dataset(io.BytesIO(blob), engine="h5netcdf")
    assert np.array_equal(kept.overlap, theory.overlap)
    assert whole["thresholds"]["alpha_c"] == theory.attrs["alpha_c"]
    [first] = sketch["curves"]["overlap"]["curves"]
    assert first["x"] == [1.6] and 0 < first["error"][0] < 0.2
    assert abs(first["y"][0] - curve["y"][-1]) < first["error"][0]
    seen = {x: y for event, _ in parts
            for curve in event["curves"]["overlap"]["curves"]
            for x, y in zip(curve["x"], curve["y"], strict=True)}  # fmt: skip
    assert seen == dict(zip(curve["x"], curve["y"], strict=True))


def test_a_sketch_of_another_point_comes_where_the_last_has_none() -> None:
    """One direction is known exactly at the last ratio, and the other is not."""
    values = {"expression": "z1 + 2*z2 + z1*z2 + 3*z2**2", "alpha": "0.4:1.6:3"}
    target = lb.MultiIndex(values["expression"])
    assert sketched_fixed_point(target.channel, 1.6) is None
    event, _ = next(answer({"verb": "predict", "learner": "bayes-amp", "values": values}, b""))
    assert event["event"] == "sketch"
    [one, two] = event["curves"]["overlap"]["curves"]
    point = sketched_fixed_point(target.channel, 1.0)
    assert point is not None and one["x"] == two["x"] == [1.0]
    assert [curve["y"][0] for curve in (one, two)] == np.diag(point.M).tolist()
    assert [curve["error"][0] for curve in (one, two)] == np.diag(point.error).tolist()


def test_crosses_are_runs_of_those_seeds() -> None:
    (started, _), *parts, (whole, _) = ask("simulate", CURVE, "bayes-amp")
    assert started["runs"] == len(parts) == 4
    runs = lb.BayesAMP().simulate("abs(z)", d=20, alpha=np.linspace(0.8, 1.6, 2), seeds=2)
    [curve] = whole["curves"]["overlap"]["curves"]
    assert curve["runs"] == runs.overlap.values[:, :, 0, 0].T.tolist()
    first = parts[0][0]["curves"]["overlap"]["curves"][0]
    assert first["runs"][0][0] == runs.overlap.sel(seed=0, alpha=first["x"][0]).item()


def test_paths_along_the_time_are_runs_too() -> None:
    values = {"expression": "He2(z)", "time": "0:2:5", "d": "30", "seeds": "3,5"}
    *_, (whole, _) = ask("simulate", values, "online-sgd")
    runs = lb.OnlineSGD().simulate("He2(z)", d=30, time=np.linspace(0, 2, 5), seeds=[3, 5])
    [curve] = whole["curves"]["overlap_trace"]["curves"]
    assert curve["seeds"] == [3, 5]
    assert curve["runs"] == runs.overlap_trace.values[:, :, 0, 0].tolist()


@pytest.mark.parametrize(
    "more, word",
    [
        ({"seeds": "1000"}, "seeds"),
        ({"d": "1000000"}, "too much for a page"),
        ({"alpha": "0.1:2:5000"}, "points"),
        ({"d": "10,20"}, "one is accepted"),
        ({"damping": "7"}, "--damping"),
        ({"question": "why"}, "why"),
        ({"width": "3"}, "width"),
    ],
)
def test_too_much_or_unknown_is_refused_before_the_work(more: dict[str, str], word: str) -> None:
    with pytest.raises(LearnabilityError, match=word):
        ask("simulate", {**CURVE, **more}, "bayes-amp")


def test_what_is_copied_gives_the_same_numbers() -> None:
    """Python bit for bit, and command lines that are accepted as they are."""
    [(words, _)] = ask("words", CURVE, "bayes-amp")
    *_, (theory, _) = ask("predict", CURVE, "bayes-amp")
    *_, (runs, _) = ask("simulate", CURVE, "bayes-amp")
    names: dict[str, Any] = {}
    exec(words["python"], names)
    assert (
        theory["curves"]["overlap"]["curves"][0]["y"]
        == names["theory"].overlap.values[:, 0, 0].tolist()
    )
    assert (
        runs["curves"]["overlap"]["curves"][0]["runs"]
        == names["runs"].overlap.values[:, :, 0, 0].T.tolist()
    )
    hardness, predict, simulate = words["command"].splitlines()
    assert predict.startswith("learnability predict bayes-amp 'abs(z)'")
    assert "--alpha 0.8:1.6:2" in simulate and "--seeds 2" in simulate
    done = subprocess.run([sys.executable, "-m", *shlex.split(hardness), "--json"],
                          capture_output=True, text=True)  # fmt: skip
    assert json.loads(done.stdout) == lb.hardness(names["target"]).to_dict()


@pytest.mark.parametrize(
    "record",
    [
        lb.MultiIndex("z1*z2", noise=0.25, inputs=lb.Spiked(2.0, alignment=0.5)),
        lb.Hierarchical("tanh(z)", polynomial="He3(z)", depth=4),
        lb.OnlineSGD(step=0.5, activation="tanh(z)"),
        lb.GiantSteps(),
    ],
)
def test_a_record_is_written_as_python(record: Any) -> None:
    assert eval(python_of(record), {"lb": lb}) == record


@pytest.mark.parametrize("kind, first", [("csv", b"variable"), ("nc", b"\x89HDF"),
                                         ("svg", b"<?xml"), ("pdf", b"%PDF")])  # fmt: skip
def test_files_are_made_of_results(kind: str, first: bytes) -> None:
    theory = ask("predict", {**CURVE, "alpha": "1,2"}, "bayes-amp")[-1][1]
    [(_, made)] = ask("file", {"kind": kind, "first": str(len(theory))}, blob=theory)
    assert made.startswith(first)


def test_files_hold_the_numbers_of_the_page() -> None:
    values = {**CURVE, "alpha": "1,2"}
    sides = [ask(verb, values, "bayes-amp")[-1] for verb in ("predict", "simulate")]
    theory, runs = (found["curves"]["overlap"]["curves"][0] for found, _ in sides)
    blobs = [blob for _, blob in sides]
    asked = {"kind": "csv", "first": str(len(blobs[0]))}
    [(_, made)] = ask("file", asked, blob=b"".join(blobs))
    rows = [line.split(",") for line in made.decode().splitlines()]
    value = rows[0].index("value")
    told = [float(row[value]) for row in rows if row[0] == "theory_overlap"]
    assert told == theory["y"]
    told = [float(row[value]) for row in rows if row[0] == "runs_overlap"]
    assert sorted(told) == sorted(y for one in runs["runs"] for y in one)
    [(_, made)] = ask("file", {**asked, "kind": "nc"}, blob=b"".join(blobs))
    kept = xarray.load_dataset(io.BytesIO(made), engine="h5netcdf")
    assert kept["theory_overlap"].values.ravel().tolist() == theory["y"]


def test_a_table_has_columns_and_directions() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4))
    rows = np.column_stack([X, X[:, 0] + 0.1 * rng.standard_normal(400)])
    text = "a,b,c,d,y\n" + "\n".join(",".join(f"{v:.6f}" for v in row) for row in rows)
    [(columns, _)] = ask("columns", {"name": "x.csv"}, blob=text.encode())
    assert [column["name"] for column in columns["columns"]] == ["a", "b", "c", "d", "y"]
    values = {"name": "x.csv", "target": "y", "components": "1"}
    [(found, _)] = ask("fit", values, blob=text.encode())
    assert found["directions"] == 1 and abs(found["weights"][0][0]) > 0.95
    assert len(found["points"]["target"]) == 400


@pytest.mark.parametrize("name", TABLES)
def test_a_hostile_table_is_a_sentence_or_a_table(name: str) -> None:
    try:
        [(found, _)] = ask("columns", {"name": name}, blob=TABLES[name])
    except LearnabilityError as error:
        assert len(str(error)) < 2000
    else:
        assert found["rows"] >= 0


def test_a_store_is_watched(tmp_path: Any) -> None:
    path = tmp_path / "runs.study"
    lb.study(lb.BayesAMP(), "abs(z)", d=20, alpha=[1.0, 2.0], seeds=2, store=path, workers=1)
    [(state, _)] = ask("study", {"store": str(path)})
    assert state["studies"][0]["done"] == state["studies"][0]["runs"] == 4
    assert "overlap" in state["curves"]
    with pytest.raises(LearnabilityError, match="store"):
        ask("study", {"store": str(tmp_path / "none")})


def test_the_declarations_have_every_learner_and_no_number_that_json_lacks() -> None:
    [(found, _)] = ask("declarations", {})
    from learnability.learners import LEARNERS

    assert [one["name"] for one in found["learners"]] == list(LEARNERS)
    assert {entry["name"] for entry in found["catalogue"]} >= {"perceptron", "hermite-3"}


@pytest.mark.parametrize(
    "given",
    [[], "x", {"verb": 1}, {"verb": "parse", "values": []}, {"verb": "parse", "values": {"a": 1}},
     {"verb": "x", "more": 1}, {"verb": "x" * 3000}, {"verb": "parse", "values": {"a": "b" * 3000}},
     {"verb": "parse", "values": {str(k): "" for k in range(99)}}],
)  # fmt: skip
def test_a_request_of_another_form_is_refused(given: Any) -> None:
    with pytest.raises(LearnabilityError):
        read_request(given)
    assert "parse" in VERBS


def test_spectra_are_drawn_against_their_values() -> None:
    """The densities of the last ratio; the bins of runs hold all values but those far beyond."""
    values = {"expression": "tanh(z)", "question": "spectrum", "alpha": "0.5,1", "runs": "0.5,1",
              "d": "60", "seeds": "2"}  # fmt: skip
    theory, blob = ask("predict", values, "giant-steps")[-1]
    runs, _ = ask("simulate", values, "giant-steps")[-1]
    learner = lb.GiantSteps()
    exact = learner.predict("tanh(z)", question="spectrum", d=60, alpha=[0.5, 1.0])
    found = learner.simulate("tanh(z)", question="spectrum", d=60, alpha=[0.5, 1.0], seeds=2)
    for k in (0, 1):
        line = theory["curves"]["layer_density"]["curves"][k]
        assert line["y"] == exact.layer_density.values[1, k].tolist()
        assert line["x"] == exact.singular_value.values.tolist()
        bars = runs["curves"]["layer_density"]["curves"][k]
        width = bars["x"][1] - bars["x"][0]
        end = bars["x"][-1] + width / 2
        for seed in (0, 1):
            inside = (found.layer_singular_values.values[1, seed, k] <= end).mean()
            assert sum(bars["runs"][seed]) * width == pytest.approx(inside, abs=1e-6)
    asked = {"kind": "svg", "first": str(len(blob)), "variable": "layer_density"}
    [(_, picture)] = ask("file", asked, "", blob)
    assert b"<svg" in picture
