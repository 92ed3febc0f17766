"""How many samples each algorithm needs, from the exponents.

The form is n = constant * d^exponent * (log d)^log_power. The page "the map of exponents" of the
documentation derives it; every row names the result behind it. The last two rows are lower bounds:
for algorithms that correlate the label with functions of the input (CSQ), and for those that
transform the label first (statistical queries, low-degree polynomials).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Cost", "costs_of"]


@dataclass(frozen=True)
class Cost:
    """The sample complexity of one algorithm.

    Attributes
    ----------
    algorithm : str
        Its name.
    learns : str
        What it has learned with that many samples.
    exponent : float or None
        Power of d; None when no exponent is known.
    log_power : int
        Power of log d.
    constant : float or None
        The factor in front, where it is known.
    reference : str
        Key of the result in `cite()`.
    bound : {"", "lower", "upper"}
        Whether these are samples that are needed at least or at most, instead of those of an
        algorithm.
    """

    algorithm: str
    learns: str
    exponent: float | None
    log_power: int
    constant: float | None
    reference: str
    bound: str = ""

    def __getitem__(self, name: str) -> Any:
        """Return a field by its name, as in the JSON report."""
        return self.to_dict()[name]

    def to_dict(self) -> dict[str, Any]:
        """Return plain names and numbers."""
        return asdict(self)


def costs_of(
    information: int | None,
    generative: int | None,
    leap: int | None,
    alpha_c: float | None,
    grand_orders: Sequence[int | None],
    directions: int = 1,
) -> tuple[Cost, ...]:
    """Return one row for each algorithm.

    Parameters
    ----------
    information, generative, leap : int or None
        The exponents; None when unknown.
    alpha_c : float or None
        The weak-recovery threshold; None when undecided.
    grand_orders : sequence of int or None
        Orders of the steps of the grand staircase.
    directions : int
        Number of relevant directions.
    """
    repeated = (
        None if not grand_orders or None in grand_orders else max(k for k in grand_orders if k)
    )
    return (
        Cost(
            "kernel or random features",
            "the lowest-degree part of f",
            _float(information),
            0,
            None,
            "mei2022",
        ),
        Cost(
            "one giant step",
            "the directions visible at the lowest order",
            _float(information),
            0,
            None,
            "dandi2024giant",
        ),
        Cost("T giant steps", "all relevant directions", _float(leap), 0, None, "dandi2024giant"),
        Cost(
            "one-pass SGD",
            "all relevant directions",
            *_online(leap),
            None,
            "benarous2021" if directions == 1 else "abbe2023",
        ),
        Cost(
            "SGD with repetition",
            "all relevant directions",
            *_online(repeated),
            None,
            "arnaboldi2024",
        ),
        Cost(
            "message passing",
            "the first directions",
            _half(generative),
            0,
            alpha_c if generative == 2 else None,
            "troiani2024" if (generative or 0) <= 2 else "damian2024",
        ),
        Cost(
            "CSQ lower bound",
            "all relevant directions, by correlations",
            _half(leap),
            0,
            None,
            "damian2022" if directions == 1 else "abbe2023",
            "lower",
        ),
        Cost(
            "SQ and low-degree bound",
            "all relevant directions, in polynomial time",
            _half(repeated),
            0,
            None,
            "damian2024" if directions == 1 else "damian2025",
            "lower",
        ),
    )


def _float(value: int | None) -> float | None:
    return None if value is None else float(value)


def _half(exponent: int | None) -> float | None:
    """Return the exponent k/2 of the lower bounds, at least 1."""
    return None if exponent is None else max(1.0, exponent / 2)


def _online(exponent: int | None) -> tuple[float | None, int]:
    """Return the exponent and log power of online gradient descent: d, d log d, d^(l-1)."""
    if exponent is None:
        return None, 0
    return float(max(1, exponent - 1)), int(exponent == 2)
