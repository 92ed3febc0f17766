import gzip

import numpy as np
import pandas
import pytest

from learnability.errors import LearnabilityError
from learnability.estimators.tables import open_table, read_table


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pandas.DataFrame(
        {"größe": rng.standard_normal(40).round(3), "n": rng.integers(0, 9, 40),
         "city": rng.choice(["Zürich", "Genève", "Basel"], 40), "y": rng.standard_normal(40)}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "how", "encoding"),
    [
        ("a.csv", {}, "utf-8"),
        ("a.csv", {"sep": ";", "decimal": ","}, "latin-1"),
        ("a.tsv", {"sep": "\t"}, "utf-8-sig"),
        ("a.tsv", {"sep": "\t", "decimal": ","}, "utf-8"),
        ("a.txt", {"sep": "|"}, "cp1252"),
        ("a.csv", {}, "utf-16"),
    ],
)
def test_separators_decimals_and_encodings(frame, tmp_path, name, how, encoding):
    frame.to_csv(tmp_path / name, index=False, encoding=encoding, **how)
    table = read_table(tmp_path / name, "y")
    assert np.allclose(table.y, frame["y"])
    assert list(table.X) == ["größe", "n", "city=Basel", "city=Genève", "city=Zürich"]
    assert np.allclose(table.X["größe"], frame["größe"])
    assert (table.X.filter(like="city").sum(axis=1) == 1).all()


def test_packed_tables_and_row_numbers(frame, tmp_path):
    with gzip.open(tmp_path / "a.csv.gz", "wt", encoding="utf-8") as file:
        file.write(frame.to_csv())
    table = read_table(tmp_path / "a.csv.gz", "y")
    assert next(iter(table.X)) == "größe" and "left out" in table.notes[0]


def test_columns_are_chosen_and_weights_taken(frame, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    table = read_table(tmp_path / "a.csv", "y", columns=["n", "city"], drop=["city"])
    assert list(table.X) == ["n"] and table.weights is None
    assert np.allclose(read_table(tmp_path / "a.csv", "y", weights="n").weights, frame["n"])
    with pytest.raises(LearnabilityError, match=r"--drop.*'wrong'"):
        read_table(tmp_path / "a.csv", "y", drop=["wrong"])
    with pytest.raises(LearnabilityError, match="weights 'größe'"):
        read_table(tmp_path / "a.csv", "y", weights="größe")


def test_missing_values_are_refused_by_name_or_marked(frame, tmp_path):
    frame.loc[3, "größe"] = np.nan
    frame.loc[5, "city"] = None
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(LearnabilityError, match="columns größe, city have missing"):
        read_table(tmp_path / "a.csv", "y")
    X = read_table(tmp_path / "a.csv", "y", missing="impute").X
    assert X.loc[3, "größe"] == pytest.approx(frame["größe"].median())
    assert list(np.flatnonzero(X["größe missing"])) == [3]
    assert list(np.flatnonzero(X["city=missing"])) == [5]


def test_new_rows_follow_the_recipe(frame, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    recipe = read_table(tmp_path / "a.csv", "y").recipe
    with pytest.raises(LearnabilityError, match="new value 'Bern'"):
        recipe.inputs(frame.assign(city="Bern"))
    with pytest.raises(LearnabilityError, match="column n has 40 values"):
        recipe.inputs(frame.assign(n=np.nan))


def test_names_beyond_the_first_letters_are_read_whole(tmp_path):
    names = [f"column{j}" for j in range(20_000)]
    lines = [",".join([*names, "y"]), *(",".join(["1"] * 20_000 + [str(i)]) for i in range(3))]
    (tmp_path / "wide.csv").write_text("\n".join(lines))
    table, notes = open_table(tmp_path / "wide.csv")
    assert list(table)[-2:] == ["column19999", "y"] and not notes
    (tmp_path / "wider.csv").write_text(",".join(f"x{j}" for j in range(200_000)) + "\n1\n")
    with pytest.raises(LearnabilityError, match="200000 names"):
        open_table(tmp_path / "wider.csv")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n missing": 1.0}, "'n missing'.*rename"),
        ({"city=Basel": 2.0}, "'city=Basel'.*rename"),
        ({"gone": np.nan}, "gone hold no finite value"),
    ],
)
def test_columns_that_cannot_be_made_are_refused(frame, tmp_path, change, said):
    frame["n"] = frame["n"].astype(float)
    frame.loc[3, "n"] = np.nan
    frame.assign(**change).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(LearnabilityError, match=said):
        read_table(tmp_path / "a.csv", "y", missing="impute")


@pytest.mark.parametrize("counts", ["words", 0.0, -1.0, np.inf])
def test_weights_that_are_none_are_refused(frame, tmp_path, counts):
    frame.assign(w=counts).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(LearnabilityError, match="weights 'w' must be finite numbers"):
        read_table(tmp_path / "a.csv", "y", weights="w")


def test_numbers_with_other_signs_among_them_are_named(frame, tmp_path):
    frame["n"] = frame["n"].astype(object)
    frame.loc[3, "n"] = "?"
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert "'?', 1 value of 40" in read_table(tmp_path / "a.csv", "y").notes[0]
    frame["größe"] = frame["größe"].astype(object)
    frame.loc[7, "größe"] = "n/k"
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(LearnabilityError, match="'n/k', 1 value of 40"):
        read_table(tmp_path / "a.csv", "y")
    frame.head(1).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(LearnabilityError, match="has 1 row,"):
        read_table(tmp_path / "a.csv", "y")
