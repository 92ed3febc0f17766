"""Forecasts for more rows: the score of predictions, and the overlap of the directions.

score     is measured on rows that were left out, by fits to the m rows of the other folds and again
          to half of them. If the error falls as 1/m, as it does where a fixed number of directions
          improves, the score gains D = S(m) - S(m/2) from m to infinity, and D (1 - m/N) up to N
          rows. At the upper end the error falls as slowly as 1/sqrt(m), and at the lower end
          nothing more is gained, as above a threshold that was just passed; the ends include the
          standard errors of S and D.
overlap   odds q / (1 - q) grow in proportion to the rows, by the state evolution of a channel that
          stays as sharp as it is; a channel that becomes sharper with the direction makes them grow
          faster, so that upper ends use the power 3/2 of the rows.

Neither includes a direction of which nothing is seen yet.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from learnability.errors import LearnabilityError
from learnability.estimators._labels import weighted_mean
from learnability.estimators._prediction import IndexPredictor, fold_numbers, given_rows
from learnability.progress import tracked

__all__ = ["Forecast", "forecast"]

Array = NDArray[np.float64]
Interval = tuple[float, float, float]
_NINETY = 1.645
_LEAST_ROWS = 40
"""With fewer rows than this, half of them are too few to learn from."""
_FASTER = 1.5
"""Largest power of the rows with which the odds of an overlap are assumed to grow."""


@dataclass(frozen=True)
class Forecast:
    """What is expected of given numbers of rows.

    Attributes
    ----------
    rows : list of int
        Numbers of rows.
    score : list of (float, float, float)
        Score on unseen rows, and the two ends between which it is expected.
    overlap : list of lists
        Squared overlap of each direction and its two ends, None where the overlap of today's rows
        is not known. The ends follow from assumptions on how errors fall with the rows; how often
        those of overlaps hold has not been measured (``benchmarks/prediction_panel.py`` has that of
        scores).
    measured : tuple of (float, float)
        Score at the rows of the fits without a fold, and at half of them.
    """

    rows: list[int]
    score: list[Interval]
    overlap: list[list[Interval | None]]
    measured: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain numbers."""
        return asdict(self)

    def __str__(self) -> str:
        """Return one line for each number of rows, and what is not said."""
        lines = [
            "Forecast, if rows stay as they are and no further direction opens. The ends in",
            "brackets assume how errors fall: on real tables more than four of five scores",
            "were within theirs; those of overlaps have not been tried.",
        ]
        for n, (value, low, high), known in zip(self.rows, self.score, self.overlap, strict=True):
            words = f"  {n} rows: score {value:.2f} ({low:.2f} to {high:.2f})"
            told = [f"{q:.2f} ({a:.2f} to {b:.2f})" for q, a, b in filter(None, known)]
            lines.append(words + (f", overlap {', '.join(told)}" if told else "") + ".")
        lines.append(
            "Rows at which a further direction would open: undecided, nothing is seen of it."
        )
        return "\n".join(lines)


def forecast(
    model: IndexPredictor, X: Any, y: Any, sample_weight: Any = None,
    times: tuple[float, ...] = (2, 4, 10), overlap: list[Interval | None] | None = None,
) -> Forecast:  # fmt: skip
    """Forecast the score and the overlaps at more rows.

    Parameters
    ----------
    model : IndexRegressor or IndexClassifier
        A model that was fitted with `folds`.
    X, y, sample_weight
        The data to which it was fitted.
    times : tuple of float
        Numbers of rows, in units of the present number; at least 1.
    overlap : list, optional
        Overlaps of today's directions and the ends of their intervals, as in
        `IndexSubspace.report_`; those of the report of the model's subspace by default, if any.

    Returns
    -------
    Forecast

    Raises
    ------
    LearnabilityError
        When the model was fitted without `folds` or to other rows, when there are fewer than forty
        rows, or a number of rows is smaller than that at hand.
    """
    X, y, weights = given_rows(model, X, y, sample_weight)
    if len(X) < _LEAST_ROWS:
        raise LearnabilityError(
            f"{len(X)} rows are too few for a forecast: {_LEAST_ROWS} are needed."
        )
    if not times or min(times) < 1:
        raise LearnabilityError(
            f"`times` was given as {times!r}, but numbers of at least 1 are accepted."
        )
    full, half = model._rows, _scores_of_halves(model, X, y, weights)
    score, error = weighted_mean(full, weights)
    gain, gain_error = weighted_mean(full - half, weights)
    learned = 1 - 1 / (model.fold_.max() + 1)  # Share of the rows that a fold's fit has seen.
    known = _overlaps(model) if overlap is None else overlap
    return Forecast(
        rows=[round(m * len(X)) for m in times],
        score=[_score_at(m / learned, score, error, gain, gain_error) for m in times],
        overlap=[[_overlap_at(m, one) for one in known] for m in times],
        measured=(score, score - gain),
    )


def _scores_of_halves(model: Any, X: Array, y: NDArray[Any], weights: Array) -> Array:
    """Return terms of the score of fits to half of the rows outside each fold, shape (n,)."""
    predicted = np.zeros_like(model.held_out_)
    codes = np.unique(y, return_inverse=True)[1] if hasattr(model, "classes_") else None
    for fold in tracked(range(model.fold_.max() + 1), "forecast"):
        out = model.fold_ == fold
        rest = np.flatnonzero(~out)
        part = fold_numbers(len(rest), 2, fold, None if codes is None else codes[rest])
        some = rest[part == 0]
        again = clone(model).set_params(folds=None)
        again.fit(X[some], y[some], sample_weight=weights[some] if (weights != 1).any() else None)
        predicted[out] = model._of_fold(again, X[out])
    return np.asarray(model._gains(y, predicted, weights))


def _score_at(m: float, score: float, error: float, gain: float, gain_error: float) -> Interval:
    """Return score at m times the rows that were learned from, and the ends of its interval."""
    as_inverse = 1 - 1 / m
    as_root = (1 - 1 / np.sqrt(m)) / (np.sqrt(2) - 1)
    gain = max(gain, 0.0)  # It is assumed that more rows do no harm.
    high = _NINETY * np.hypot(error, gain_error * as_root)
    value = min(score + gain * as_inverse, 1.0)
    return value, score - _NINETY * error, float(min(score + gain * as_root + high, 1.0))


def _overlaps(model: Any) -> list[Interval | None]:
    """Return overlaps of today's directions, if a report has them."""
    report = getattr(model.subspace_, "report_", None)
    return [] if report is None else list(report.overlap)


def _overlap_at(m: float, known: Interval | None) -> Interval | None:
    """Return an overlap and its ends at m times the rows."""
    if known is None:
        return None
    q, low, high = (min(one, 1 - 1e-9) for one in known)
    powers = (1.0, 1.0, _FASTER)
    odds = [one / (1 - one) * m**power for one, power in zip((q, low, high), powers, strict=True)]
    first, second, third = (one / (1 + one) for one in odds)
    return first, second, third
