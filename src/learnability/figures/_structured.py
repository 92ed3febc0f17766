"""What the figures on structured data share: links by the degree that they are, sizes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LINKS", "SpikeSize"]

LINKS = {"He1": "z", "He2": "He2(z)/sqrt(2)", "He3": "He3(z)/sqrt(6)"}
"""Hermite polynomials of unit variance."""


@dataclass(frozen=True)
class SpikeSize:
    """How much a figure over exponents of the spike computes.

    Attributes
    ----------
    dimensions : tuple of int
        Dimensions of the runs.
    runs : int
        Runs at each point.
    exponents : tuple of float
        Exponents gamma of the spike of the runs.
    theory : int
        Points of a line of theory.
    """

    dimensions: tuple[int, ...]
    runs: int
    exponents: tuple[float, ...]
    theory: int
