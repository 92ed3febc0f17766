"""What an estimator says in words: what was found, who is blind to it, and what it is worth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.estimators._labels import Labels, weighted_mean
from learnability.estimators._whitening import Whitening
from learnability.estimators.dimension import DimensionReport

__all__ = [
    "METHODS_SEEN",
    "IndexReport",
    "blind_methods",
    "moment_strengths",
    "rows_needed",
    "warnings_of",
]

Array = NDArray[np.float64]
METHODS_SEEN = ("sir", "phd", "save", "dr")
"""Moment methods whose blindness is reported."""
_UNITS = {
    "information": "nats a row that the coordinates say about the target",
    "cv": "explained variance or accuracy above chance of a machine on the coordinates",
}
_GOOD = 0.9
"""Overlap that the advice on the number of rows aims at."""
_HEAVY = 2.0
"""Fourth moment of the rows, in units of that of Gaussian ones, from which tails are heavy."""


@dataclass(frozen=True)
class IndexReport:
    """The report of `IndexSubspace`.

    Attributes
    ----------
    rows, columns, rank, n_components : int
        Sizes: of the table, of its white coordinates, and of what was found.
    chosen : str
        Name of the candidate that won.
    judge : {"information", "cv"}
        What the scores are: nats a row, or explained variance (accuracy above chance) of a machine.
    scores : dict
        Candidate -> (held-out score, its standard error).
    dimension : dict or None
        Number of directions by each rule, where it was asked for.
    overlap : list of float
        Predicted squared overlap of each direction, where message passing ran.
    rows_for_good_overlap : int or None
        Rows at which the weakest direction should reach an overlap of 0.9, roughly.
    blind : dict
        Moment method -> why it would miss a direction.
    warnings : list of str
        Reasons not to trust the answer.
    """

    rows: int
    columns: int
    rank: int
    n_components: int
    chosen: str
    judge: str
    scores: dict[str, tuple[float, float]]
    dimension: dict[str, Any] | None
    overlap: list[float]
    rows_for_good_overlap: int | None
    blind: dict[str, str]
    warnings: list[str]

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain numbers and words."""
        return asdict(self)

    def __str__(self) -> str:
        """Sentences, one a line."""
        lines = [f"{self.rows} rows, {self.columns} columns of rank {self.rank}."]
        if self.n_components == 0:
            lines.append(
                "No direction was found: on rows that were held out, no coordinate says anything "
                "about the target."
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
        if self.overlap:
            known = ", ".join(f"{q:.2f}" for q in self.overlap)
            lines.append(f"Predicted overlap with the true directions: {known}.")
        if self.rows_for_good_overlap is not None:
            lines.append(f"About {self.rows_for_good_overlap} rows would bring all of them to 0.9.")
        lines += [f"{method} is blind here: {why}." for method, why in self.blind.items()]
        lines += [f"Caution: {warning}" for warning in self.warnings]
        return "\n".join(lines)


def moment_strengths(labels: Labels, coordinates: Array) -> dict[str, Array]:
    """Method -> change with y of the moments that it uses, of each coordinate (n, r).

    In each slice of y a coordinate has a mean and a variance. sir takes the spread of the means
    over the slices, save that of the variances, dr the larger, phd the slope of the variance in
    the normal score of y (for unordered classes what save takes); each in units of what chance
    gives n rows, at five standard errors.
    """
    weights = labels.weights
    codes = labels.slices(10)
    counts = np.bincount(codes, weights=weights)
    total, H = counts.sum(), len(counts)
    null = H - 1 + 5 * np.sqrt(2 * (H - 1))
    score = labels.scores - weights @ labels.scores / total
    found: dict[str, list[float]] = {method: [] for method in METHODS_SEEN}
    for column in coordinates.T:
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
        found["phd"].append(slope / (1 + 5 * np.sqrt(2)) if ordered else second)
    return {method: np.array(values) for method, values in found.items()}


def blind_methods(labels: Labels, coordinates: Array) -> dict[str, str]:
    """Moment methods that would miss one of the coordinates (n, r), and why."""
    why = {
        "sir": "the mean of coordinate {} does not change with y",
        "phd": "the spread of coordinate {} does not rise or fall with y",
        "save": "the spread of coordinate {} does not change with y",
        "dr": "no first or second moment of coordinate {} changes with y",
    }
    strengths = moment_strengths(labels, coordinates)
    return {
        method: text.format(1 + int(np.flatnonzero(strengths[method] <= 1)[0]))
        for method, text in why.items()
        if (strengths[method] <= 1).any()
    }


def rows_needed(overlap: Array, n: int) -> int | None:
    """Rows at which the weakest direction has overlap 0.9, by the state evolution of its channel.

    q / (1 - q) = n E[g^2] / k, the information per row being held at today's: an upper figure while
    the overlap is smaller, because the channel gets sharper.
    """
    q = float(np.min(overlap, initial=1.0))
    if not 0.02 < q < 1:
        return None
    return round(n * _GOOD / (1 - _GOOD) * (1 - q) / q)


def warnings_of(
    n: float, whitening: Whitening, tails: float, best: float, error: float
) -> list[str]:
    """Reasons not to trust the answer: few rows, heavy tails, a score that is not above zero."""
    found = []
    if whitening.has_few_rows(n):
        found.append(
            f"{n:.0f} rows for {whitening.rank} independent columns are fewer than three each: "
            "only first moments (sir) were tried."
        )
    if tails > _HEAVY:
        found.append(
            f"the rows have heavy tails (fourth moment {tails:.1f} times that of Gaussian ones): "
            "predicted overlaps assume Gaussian inputs; use bootstrap_subspace for errors."
        )
    if error > 0 and best <= 3 * error:
        found.append("the held-out score is not above zero: the directions may be noise.")
    return found
