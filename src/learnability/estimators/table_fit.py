"""The fit of a table in a file, and its output: the work of ``learnability fit``."""

from __future__ import annotations

import json
import textwrap
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from learnability.errors import LearnabilityError, refuse
from learnability.estimators._labels import read_labels
from learnability.estimators.fitted_law import fitted_law
from learnability.estimators.forecasts import Forecast, forecast
from learnability.estimators.index_classifier import IndexClassifier
from learnability.estimators.index_regressor import IndexRegressor
from learnability.estimators.index_subspace import IndexSubspace
from learnability.estimators.loadings import Loadings, loadings
from learnability.estimators.model_file import load_model, save_model
from learnability.estimators.moment_subspace import MomentSubspace
from learnability.estimators.prediction_reports import PredictionReport, prediction_report
from learnability.estimators.staircase_displays import BlindnessDisplay, LandingsDisplay
from learnability.estimators.summary_display import SummaryDisplay
from learnability.estimators.tables import Recipe, Table, open_table, read_table
from learnability.labels import FiniteLaw
from learnability.randomness import checked_seed
from learnability.results import whole_file

__all__ = ["TableFit", "apply_model", "fit_table", "law_of_table"]

_MODEL, _RECIPE = "model.npz", "recipe.json"
_FOLDS = 5
_LEAST, _COMPARED = 20, 5000
"""The fewest and the most rows on which predictions are compared."""
_FORECAST = 100
"""The fewest rows for which there is a forecast."""
_OFF = {
    1: "on planted tables the true thresholds of the same parts were 0.6 to 1.1 times those of the "
    "learned law in nine of ten cases.",
    2: "how far off its thresholds are has not been measured for two directions.",
}
"""What is known about thresholds of learned laws of one and of two directions."""
_CHOSEN_BEFORE = (
    "The finder and the number of directions were chosen on all rows before: the score\n"
    "from the directions may be too high by what that choice gained."
)


@dataclass(frozen=True)
class TableFit:
    """What was found in a table.

    Attributes
    ----------
    found : IndexSubspace
        The fitted estimator.
    table : Table
        The table as it was read.
    loadings : Loadings or None
        Standardised weights of the columns, where there is a direction.
    prediction : PredictionReport or None
        A comparison of predictions from the directions with models of all columns, if requested.
        The finder and the number of directions were chosen on all rows.
    forecast : Forecast or None
        What more rows would bring to these predictions.
    """

    found: IndexSubspace
    table: Table
    loadings: Loadings | None
    prediction: PredictionReport | None = None
    forecast: Forecast | None = None

    def __str__(self) -> str:
        """Return the report, with the columns that make the directions."""
        lines = [*self.table.notes, str(self.found.report_)]
        if self.loadings is not None:
            lines.append(str(self.loadings))
        if self.prediction is not None:
            lines += [str(self.prediction), _CHOSEN_BEFORE]
        if self.forecast is not None:
            lines.append(str(self.forecast))
        return "\n".join(lines)


def fit_table(
    path: Path, target: str, components: str, out: Path | None, seed: int, *,
    compare: bool = False, **reading: Any,
) -> TableFit:  # fmt: skip
    """Fit `IndexSubspace` to a file, and write components, report, pictures and model.

    Parameters
    ----------
    path, target
        As in `read_table`.
    components : str
        "auto" or a whole number.
    out : Path, optional
        Folder for components.csv, report.txt, report.json, model.npz, recipe.json and pictures:
        summary.png, blindness.png, and landings.png where a staircase was climbed.
    seed : int
        The seed of all random choices.
    compare : bool
        Whether predictions are compared with those of models that use all columns.
    **reading
        Other arguments of `read_table`.

    Returns
    -------
    TableFit

    Raises
    ------
    LearnabilityError
        When the table or an argument cannot be used.
    """
    whole = components.isascii() and components.isdigit() and 0 < len(components) < 10
    if components != "auto" and not (whole and int(components) > 0):
        raise LearnabilityError(
            f"`--components` was given as {components!r}, but auto or a whole number is accepted."
        )
    seed = checked_seed(seed)
    if seed >= 2**32:
        raise refuse("--seed", seed, "a whole number from 0 and below 2**32")
    table = read_table(path, target, **reading)
    count: Any = "auto" if components == "auto" else int(components)
    found = IndexSubspace(count, random_state=seed).fit(table.X, table.y, table.weights)
    weights = None
    if len(found.components_):
        weights = loadings(found, table.X, table.y, seed=seed, sample_weight=table.weights)
    prediction, later = _compared(found, table, seed) if compare else (None, None)
    fitted = TableFit(found, table, weights, prediction, later)
    if out is not None:
        _write(fitted, out)
    return fitted


def _compared(
    found: IndexSubspace, table: Table, seed: int
) -> tuple[PredictionReport | None, Forecast | None]:
    """Return how predictions compare with those of models of all columns, and a forecast.

    Both are None where rows are few, or where two classes cannot be in every fold.
    """
    y = np.asarray(table.y)
    counts = None if table.weights is None else np.asarray(table.weights, dtype=float)
    some = np.sort(np.random.default_rng(seed).permutation(len(y))[:_COMPARED])
    X, y = np.asarray(table.X, dtype=float)[some], y[some]
    counts = None if counts is None else counts[some]
    labels = read_labels(y, np.ones(len(y)))
    numbers = table.task == "numbers" or labels.kind == "numbers"
    if len(y) < _LEAST or np.sort(np.bincount(labels.codes))[-2] < _FOLDS * (not numbers):
        return None, None
    nothing = found.estimator_ is None
    finder: Any = MomentSubspace("sir", 1) if nothing else found.estimator_.for_folds()
    given: dict[str, Any] = {"folds": _FOLDS, "random_state": seed}
    if numbers:
        mean = DummyRegressor() if nothing else None
        model: Any = IndexRegressor(finder, mean, **given)
    else:
        y = y.astype(str)
        model = IndexClassifier(finder, DummyClassifier() if nothing else None, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # A fold may show fewer directions.
        model.fit(X, y, sample_weight=counts)
        report = prediction_report(model, X, y, counts)
        if nothing or not _FORECAST <= len(y) < _COMPARED:
            return report, None
        return report, forecast(model, X, y, counts, overlap=found.report_.overlap)


def apply_model(model: Path, path: Path) -> Any:
    """Return coordinates of the rows of another table.

    Parameters
    ----------
    model : Path
        The folder that ``learnability fit --out`` wrote.
    path : Path
        A table with the columns that were fitted.

    Returns
    -------
    DataFrame
        One column for each direction.

    Raises
    ------
    LearnabilityError
        When there is no model, or the table does not follow its recipe.
    """
    import pandas

    try:
        recipe = Recipe(**json.loads((model / _RECIPE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise LearnabilityError(
            f"{str(model)!r} holds no model: give the folder that `learnability fit --out` wrote."
        ) from error
    found = load_model(model / _MODEL)
    if not len(found.components_):
        raise LearnabilityError(
            f"The model in {str(model)!r} found no direction: there are no coordinates to give."
        )
    X = recipe.inputs(open_table(path)[0])
    if not len(X):
        raise LearnabilityError(f"{path.name!r} has no rows.")
    return pandas.DataFrame(found.transform(X), columns=found.get_feature_names_out())


def law_of_table(path: Path, target: str, **reading: Any) -> tuple[FiniteLaw, str]:
    """Return the law of a target given the directions that were found in its table.

    Parameters
    ----------
    path, target, **reading
        As in `read_table`.

    Returns
    -------
    tuple
        The law, and a paragraph about it.

    Raises
    ------
    LearnabilityError
        When the table cannot be read, or no law can be learned from it.
    """
    fitted = fit_table(path, target, "auto", None, 0, **reading)
    found, table = fitted.found, fitted.table
    law = fitted_law(found, table.y, table.weights)
    report = found.report_
    parts = "classes" if len(np.unique(table.y)) == len(law.labels) else "fifths"
    said = (
        f"Of {report.rows} rows of {target}: d is {report.rank} here, the number of independent "
        f"columns. The law of its {len(law.labels)} {parts} given {law.r} "
        f"direction{'s' * (law.r > 1)} was learned from held-out coordinates; reflections that the "
        "rows do not contradict are taken as exact, and inputs as Gaussian. Errors below are those "
        f"of the theory of this law, not of the law itself: {_OFF[law.r]}"
    )
    lines = [said, *table.notes, *(f"Caution: {warning}" for warning in report.warnings)]
    return law, "\n".join(textwrap.fill(line, 80) for line in lines)


def _write(fitted: TableFit, out: Path) -> None:
    import pandas

    found, X, y = fitted.found, fitted.table.X, fitted.table.y
    names = found.get_feature_names_out()[: len(found.components_)]
    table = pandas.DataFrame(found.components_, index=names, columns=X.columns)
    report = found.report_.to_dict()
    if fitted.prediction is not None:
        report["prediction"] = fitted.prediction.to_dict()
    if fitted.forecast is not None:
        report["forecast"] = fitted.forecast.to_dict()
    words = json.dumps(report, default=_plain, indent=1)
    recipe = json.dumps(fitted.table.recipe.to_dict(), indent=1)
    with whole_file(out / "components.csv") as part:
        table.to_csv(part)
    texts = {"report.txt": str(fitted), "report.json": words, _RECIPE: recipe}
    for name, text in texts.items():
        with whole_file(out / name) as part:
            part.write_text(f"{text}\n", encoding="utf-8")
    pictures: dict[str, Any] = {"summary": SummaryDisplay.from_estimator(found, X, y)}
    if len(found.components_):
        pictures["blindness"] = BlindnessDisplay.from_estimator(found, X, y)
    if len(getattr(found.estimator_, "landings_", [])) > 1:
        pictures["landings"] = LandingsDisplay.from_estimator(found)
    for name, display in pictures.items():
        with whole_file(out / f"{name}.png") as part:
            display.figure_.savefig(part, dpi=200, bbox_inches="tight")
    save_model(found, out / _MODEL)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
