"""The report of an estimator in words: what was found, its quality, and what other methods miss."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._confidence import known_overlap, rows_for
from learnability.estimators._labels import Labels, weighted_mean
from learnability.estimators.dimension import DimensionReport
from learnability.markup import card, html_table

__all__ = [
    "METHODS_SEEN",
    "IndexReport",
    "blind_methods",
    "moment_strengths",
    "overlaps",
    "rows_needed",
]

Array = NDArray[np.float64]
METHODS_SEEN = ("sir", "phd", "save", "dr")
"""Moment methods whose blindness is reported."""
_UNITS = {
    "information": "nats per row that the coordinates say about the target",
    "cv": "explained variance or accuracy above chance of a machine on the coordinates",
}
_GOOD = 0.9
"""Overlap that the advice on the number of rows aims at."""
_FAR = 4.0
"""Quartile ranges from the median beyond which a coordinate counts as this far."""
_MANY = 500
"""Number of rows from which moments are taken in ten slices of y, and not in six."""
_SHOWN = 0.15
"""Share of the variance which a change that is not seen would have to stay below."""


@dataclass(frozen=True)
class IndexReport:
    """The report of `IndexSubspace`.

    Attributes
    ----------
    rows, columns, rank, n_components : int
        Sizes of the table, number of its white coordinates, and number of directions found.
    chosen : str
        Name of the candidate that won.
    judge : {"information", "cv"}
        What the scores are: nats per row, or explained variance (accuracy above
        chance) of a machine.
    scores : dict
        Candidate -> (held-out score, its standard error).
    dimension : dict or None
        Number of directions by each rule, where it was asked for.
    supported : int or None
        Number of directions, the first ones, that held-out rows support: the others are not
        distinguishable from none. None where that is undecided.
    overlap : list of (float, float, float) or None
        Squared overlap of each direction with the true ones, and the ends of its 90 % interval;
        None where it is not distinguishable from none, or undecided.
    rows_for_good_overlap : (int, int) or None
        Rows at which the weakest supported direction should reach an overlap of 0.9: the ends of a
        90 % interval. None where it is there already, and where it is undecided.
    undecided : dict
        What is not said -> the reason.
    blind : dict
        Moment method -> why it would miss a supported direction.
    warnings : list of str
        Reasons not to trust the answer.
    target : str
        A sentence on how the target was read.
    """

    rows: int
    columns: int
    rank: int
    n_components: int
    chosen: str
    judge: str
    scores: dict[str, tuple[float, float]]
    dimension: dict[str, Any] | None
    supported: int | None
    overlap: list[tuple[float, float, float] | None]
    rows_for_good_overlap: tuple[int, int] | None
    undecided: dict[str, str]
    blind: dict[str, str]
    warnings: list[str]
    target: str = ""

    @property
    def counted(self) -> int:
        """Number of directions of fewer columns for which there is very strong evidence."""
        if self.chosen != "elimination" or self.dimension is None:
            return 0
        return int(self.dimension.get("criterion") or 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain numbers and words."""
        return asdict(self)

    def _repr_html_(self) -> str:
        """Return the sentences and the table of scores, for notebooks."""
        ranked = sorted(self.scores.items(), key=lambda item: -item[1][0])
        rows = [(escape(name), f"{score:.3f} ± {error:.3f}") for name, (score, error) in ranked]
        scores = html_table(("candidate", f"held out, {_UNITS[self.judge]}"), rows) if rows else ""
        told = [line for line in str(self).splitlines() if not line.startswith(("  ", "Held out"))]
        count = f"{self.n_components} direction{'s' * (self.n_components != 1)}"
        body = "".join(f"<p>{escape(line)}</p>" for line in told)
        return card(f"{count} found", body, scores)

    def __str__(self) -> str:
        """Return sentences, one per line."""
        columns = f"{self.columns} column{'s' * (self.columns != 1)}"
        lines = [f"{self.rows} rows, {columns} of rank {self.rank}."]
        lines += [self.target] if self.target else []
        if self.n_components == 0:
            lines.append(
                "No direction was found: on rows that were held out, no coordinate says clearly "
                "more than nothing about the target."
            )
        else:
            count = f"{self.n_components} direction{'s' * (self.n_components > 1)}"
            lines.append(f"{count} found by {self.chosen}.")
        if self.dimension is not None:
            lines.append(f"Number of {DimensionReport(**self.dimension)}.")
        if self.scores:
            lines.append(f"Held out, {_UNITS[self.judge]}:")
        for name, (score, error) in sorted(self.scores.items(), key=lambda item: -item[1][0]):
            lines.append(f"  {name:<16} {score:8.3f} ± {error:.3f}")
        for number, known in enumerate(self.overlap, start=1):
            if known is not None:
                q, low, high = known
                lines.append(
                    f"Direction {number}: squared overlap with the truth {q:.2f} "
                    f"({low:.2f} to {high:.2f}, 90 %)."
                )
            elif self.supported is not None and number > self.supported:
                lines.append(
                    f"Direction {number}: "
                    + (
                        "found by the criterion; halves of the rows are too few to show it."
                        if number <= self.counted
                        else "not distinguishable from none."
                    )
                )
        if self.supported is not None and 0 < self.supported < self.n_components:
            lines.append(
                f"Held-out rows support {self.supported} of these {self.n_components} directions."
            )
        if self.rows_for_good_overlap is not None:
            low_rows, high_rows = self.rows_for_good_overlap
            which = "supported directions" if self.supported != 1 else "first direction"
            lines.append(
                f"{low_rows} to {high_rows} rows would bring the {which} to 0.9 (90 %, if the law "
                "of the target given them stays as sharp as it is now)."
            )
        lines += [f"Undecided, {what}: {why}." for what, why in self.undecided.items()]
        lines += [f"{method} is blind here: {why}." for method, why in self.blind.items()]
        lines += [f"Caution: {warning}" for warning in self.warnings]
        return "\n".join(lines)


def moment_strengths(labels: Labels, coordinates: Array) -> dict[str, Array]:
    """Return method -> how much the moments that it uses change with y, for each coordinate.

    In each slice of y a coordinate (n, r) has a mean and a variance. "sir" uses the spread of the
    means over the slices, "save" that of the variances, "dr" the larger, "phd" the slope of the
    variance in the normal score of y (for unordered classes the same as "save"); each is divided by
    the value that chance gives n rows, plus five standard errors.
    """
    weights = labels.weights
    codes = _slices(labels)
    counts = np.bincount(codes, weights=weights)
    total, H = counts.sum(), len(counts)
    null = _null(H - 1)
    score = labels.scores - weights @ labels.scores / total
    found: dict[str, list[float]] = {method: [] for method in METHODS_SEEN}
    for column in coordinates.T:
        column = _near(column)
        mean, _ = weighted_mean(column, weights)
        spread = np.sqrt(weighted_mean((column - mean) ** 2, weights)[0]) + 1e-12
        t = np.clip((column - mean) / spread, -4, 4)
        square = t**2 - weighted_mean(t**2, weights)[0]
        width = max(weighted_mean(square**2, weights)[0], 1e-12)
        means = np.bincount(codes, weights=weights * t) / counts
        seconds = np.bincount(codes, weights=weights * square) / counts
        first = float(counts @ means**2) / null
        second = float(counts @ seconds**2) / width / null
        slope = float(weights @ (score * square)) ** 2 / (float(weights @ score**2) * width)
        ordered = labels.kind == "numbers" or H == 2
        found["sir"].append(first)
        found["save"].append(second)
        found["dr"].append(max(first, second))
        found["phd"].append(slope / _null(1) if ordered else second)
    return {method: np.array(values) for method, values in found.items()}


def _near(column: Array) -> Array:
    """Return a coordinate without what is far out: one such row would hide all others."""
    low, middle, high = np.quantile(column, (0.25, 0.5, 0.75))
    return (
        np.clip(column, middle - _FAR * (high - low), middle + _FAR * (high - low))
        if high > low
        else column
    )


def _slices(labels: Labels) -> NDArray[np.intp]:
    """Return the slice of y in which each row is: ten of many rows, else six; or its class."""
    return labels.slices(10 if labels.weights.sum() >= _MANY else 6)


def _null(freedom: int) -> float:
    """Return what a sum of squares of chance is below: its mean and five standard errors."""
    return float(freedom + 5 * np.sqrt(2 * freedom))


def blind_methods(labels: Labels, coordinates: Array) -> dict[str, str]:
    """Return the moment methods that would miss one of the coordinates (n, r), and why.

    Nothing is said of a method where rows are too few to show that it is not blind.
    """
    why = {
        "sir": "the mean of coordinate {} is not seen to change with y",
        "phd": "the spread of coordinate {} is not seen to rise or fall with y",
        "save": "the spread of coordinate {} is not seen to change with y",
        "dr": "no first or second moment of coordinate {} is seen to change with y",
    }
    strengths = moment_strengths(labels, coordinates)
    freedom = len(np.unique(_slices(labels))) - 1
    ordered = labels.kind == "numbers" or freedom == 1
    enough = _SHOWN * float(labels.weights.sum())
    return {
        method: text.format(1 + int(np.flatnonzero(strengths[method] <= 1)[0]))
        for method, text in why.items()
        if (strengths[method] <= 1).any()
        and _null(1 if method == "phd" and ordered else freedom) <= enough
    }


def overlaps(
    agreement: Array, supported: int, times: float, k: int, *, dropped: bool = False
) -> list[tuple[float, float, float] | None]:
    """Return the overlap of each direction with its interval, None if it is not supported."""
    known = [known_overlap(float(c), times, k, dropped=dropped) for c in agreement[:supported]]
    return [*known, *[None] * (len(agreement) - supported)]


def rows_needed(
    overlap: list[tuple[float, float, float] | None], n: float
) -> tuple[int, int] | None:
    """Return the rows at which the weakest known direction has overlap 0.9, as an interval.

    It is None where the overlap is that large already: the effect of fewer rows is not known,
    because the law of the target given a worse direction is less sharp.
    """
    known = [one for one in overlap if one is not None]
    if not known:
        return None
    q, low, high = min(known)
    if q >= _GOOD:
        return None
    return round(max(rows_for(high, _GOOD, n), n)), round(rows_for(low, _GOOD, n))
