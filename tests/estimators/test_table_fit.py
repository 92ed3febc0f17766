import json

import numpy as np
import pandas
import pytest

from learnability.errors import LearnabilityError
from learnability.estimators.table_fit import apply_model, fit_table, law_of_table
from learnability.estimators.tables import read_table


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(y=X[:, 0] + 0.1 * X[:, 1] ** 2)
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def test_a_table_is_fitted_and_everything_is_written(table, tmp_path):
    fitted = fit_table(table, "y", "1", tmp_path / "out", 0)
    found = fitted.found
    assert abs(found.components_[0, 0]) > 0.9
    assert fitted.loadings.weights[0, 0] > 0.9 > fitted.loadings.errors.max()
    assert "a +1.00" in str(fitted)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "components.csv", "report.txt", "report.json", "summary.png", "blindness.png",
        "model.npz", "recipe.json",
    }  # fmt: skip
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["n_components"] == 1 and report["rows"] == 200


def test_predictions_are_compared_with_those_of_all_columns(table):
    pandas.read_csv(table).head(100)[["a", "b", "y"]].to_csv(table, index=False)
    fitted = fit_table(table, "y", "1", None, 0, compare=True)
    assert fitted.prediction.score > 0.9 and set(fitted.prediction.references) > {"ridge"}
    assert fitted.forecast.rows == [200, 400, 1000]
    assert "from all" in str(fitted) and "200 rows: score" in str(fitted)


@pytest.mark.parametrize(
    ("task", "measure", "said"),
    [("auto", "variance", "order counts"), ("classes", "right classes", "3 classes")],
)
def test_counts_are_numbers_unless_the_user_says_classes(table, task, measure, said):
    frame = pandas.read_csv(table).head(120)[["a", "b"]]
    frame.assign(y=np.digitize(frame.a, [-0.5, 0.8])).to_csv(table, index=False)
    fitted = fit_table(table, "y", "1", None, 0, compare=True, task=task)
    assert measure in fitted.prediction.measure
    assert said in str(fitted)


@pytest.mark.parametrize(("task", "said"), [("numbers", "holds words"), ("ranks", "accepted")])
def test_a_task_that_does_not_fit_is_refused(table, task, said):
    frame = pandas.read_csv(table)
    frame.assign(y=np.where(frame.a > 0, "up", "down")).to_csv(table, index=False)
    with pytest.raises(LearnabilityError, match=said):
        read_table(table, "y", task=task)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame.assign(word=[f"w{k}" for k in range(len(frame))]), "word .200 values"),
        (lambda frame: frame.assign(day="2024-05-01"), "columns day hold dates"),
        (lambda frame: frame.drop(columns=list("abcd")), "no column"),
        (lambda frame: frame.assign(y=np.nan), "missing"),
        (lambda frame: frame.rename(columns={"y": "z"}), "columns are"),
        (lambda frame: frame.set_axis(["a", "b", "c", "a", "y"], axis=1), "name a"),
        (lambda frame: frame.set_axis(["a", "b", "c", "y", "y"], axis=1), "name y"),
        (lambda frame: frame.assign(y=np.where(frame.index == 3, np.inf, 1.0)), "not finite"),
        (lambda frame: frame.head(4), "4 rows"),
        (lambda frame: frame.head(0), "0 rows"),
        (lambda frame: frame.assign(y=[f"day {k}" for k in range(len(frame))]), "no number"),
    ],
)
def test_bad_tables_get_a_sentence(table, tmp_path, change, said):
    change(pandas.read_csv(table)).to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(LearnabilityError, match=said):
        read_table(tmp_path / "bad.csv", "y")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame.assign(y=3.0), "one value"),
        (lambda frame: frame.assign(y="same"), "one value"),
        (lambda frame: frame.assign(a=1.0, b=2.0, c=0.0, d=0.0), "constant"),
        (lambda frame: frame.assign(c=np.nan, d=np.inf), "columns c, d"),
    ],
)
def test_tables_that_say_nothing_get_a_sentence(table, tmp_path, change, said):
    change(pandas.read_csv(table)).to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(LearnabilityError, match=said):
        fit_table(tmp_path / "bad.csv", "y", "auto", None, 0)


@pytest.mark.parametrize("name", ["junk.csv", "junk.parquet", "empty.csv", "ragged.csv"])
def test_files_that_are_no_table_get_a_sentence(tmp_path, name):
    junk = np.random.default_rng(0).bytes(2000)
    content = {"empty.csv": b"", "ragged.csv": b"a,y\n1,2\n1,2,3,4\n"}.get(name, junk)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LearnabilityError, match="cannot be read as a table"):
        read_table(tmp_path / name, "y")


def test_a_model_is_applied_to_new_rows_or_says_what_they_lack(table, tmp_path):
    fitted = fit_table(table, "y", "1", tmp_path / "out", 0)
    frame = pandas.read_csv(table)
    frame.drop(columns="y").head(7)[list("dcba")].to_csv(tmp_path / "new.csv", index=False)
    coordinates = apply_model(tmp_path / "out", tmp_path / "new.csv")
    assert np.allclose(coordinates, fitted.found.transform(fitted.table.X.head(7)))
    frame.drop(columns="b").to_csv(tmp_path / "less.csv", index=False)
    with pytest.raises(LearnabilityError, match="no column b"):
        apply_model(tmp_path / "out", tmp_path / "less.csv")
    with pytest.raises(LearnabilityError, match="no model"):
        apply_model(tmp_path, tmp_path / "new.csv")


def test_files_and_numbers_are_checked(table, tmp_path):
    with pytest.raises(LearnabilityError, match="no file"):
        read_table(tmp_path / "none.csv", "y")
    (tmp_path / "t.xls").write_text("a,y")
    with pytest.raises(LearnabilityError, match="parquet"):
        read_table(tmp_path / "t.xls", "y")
    for components in ("two", "0", "-1", "²", "٣", "", "1" * 5000):
        with pytest.raises(LearnabilityError, match="components"):
            fit_table(table, "y", components, None, 0)
    for seed in (-1, 2**32):
        with pytest.raises(LearnabilityError, match="seed"):
            fit_table(table, "y", "1", None, seed)


def test_the_law_of_a_table_comes_with_what_is_known_of_its_errors(table):
    frame = pandas.read_csv(table)
    frame.assign(y=2 * frame.a**3, twin=frame.a + 10).to_csv(table, index=False)
    frame = pandas.read_csv(table)[["b", "c", "twin", "y"]]
    frame.to_csv(table, index=False)
    law, said = law_of_table(table, "y", drop=["b"])
    text = " ".join(said.split())
    assert law.r == 1 and "0.6 to 1.1 times" in text
    assert "Caution: the column twin alone orders the rows" in text


def test_a_table_without_rows_has_no_coordinates(table, tmp_path):
    fit_table(table, "y", "1", tmp_path / "out", 0)
    pandas.read_csv(table).head(0).to_csv(table, index=False)
    with pytest.raises(LearnabilityError, match="has no rows"):
        apply_model(tmp_path / "out", table)
