"""The report on a hierarchical target: samples of kernels, two and three layers; what opens what.

A kernel learns degree j of f with d^j samples. Two layers find the N directions of each feature
with n* of order d N samples and then fit degree j with N^j of them, as long as that is more. Three
layers need the degree k of the polynomial only, and refit g with few more. With N = d^epsilon these
are powers of d. For several features, one preconditioned step finds the part of g that is linear in
h, and each further step what then becomes linear: the CSQ staircase of g in function space, where
h is Gaussian; a feature that needs a leap above 1 is not found.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from learnability.errors import LearnabilityError
from learnability.labels.hermite import expand
from learnability.reports.costs import Cost
from learnability.reports.references import BIBTEX
from learnability.targets.hierarchical import Hierarchical
from learnability.theory.assumptions import Condition, conditions
from learnability.theory.compositional import Exponent, compositional_exponent
from learnability.theory.csq import leap_staircase
from learnability.theory.steps import Step

__all__ = ["HierarchicalHardness", "hierarchical_hardness"]

_REFERENCE = "dandi2025depth"


@dataclass(frozen=True, eq=False)
class HierarchicalHardness:
    """How many samples a hierarchical target takes with kernels, two and three layers.

    Attributes
    ----------
    target : Hierarchical
        The target.
    exponent : Exponent
        The compositional information exponent of the directions.
    costs : tuple of Cost
        One row for each learner and what it learns; n = constant d^exponent.
    function_staircase : tuple of Step
        The CSQ staircase of g in the features; None of its steps is needed beyond the first for
        r = 1.
    function_leap : int or None
        Its largest order; steps of order 1 are found one after another, others not.
    conditions : tuple of Condition
        The assumptions, with relu neurons.
    notes : tuple of str
        What the numbers leave out.
    """

    target: Hierarchical
    exponent: Exponent
    costs: tuple[Cost, ...]
    function_staircase: tuple[Step, ...]
    function_leap: int | None
    conditions: tuple[Condition, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, names and numbers, ready for JSON; infinities become None."""
        return {
            "link": self.target.link.text,
            "polynomial": self.target.polynomial.text,
            "r": self.target.r,
            "depth": self.target.depth,
            "noise": self.target.noise,
            "compositional_exponent": self.exponent.value,
            "costs": [cost.to_dict() for cost in self.costs],
            "function_staircase": [step.to_dict() for step in self.function_staircase],
            "function_leap": self.function_leap,
            "conditions": [
                {k: (None if v != v else v) for k, v in vars(c).items()} for c in self.conditions
            ],
            "notes": list(self.notes),
        }

    def cite(self) -> str:
        """Return the BibTeX of the results behind the numbers."""
        keys = dict.fromkeys(cost.reference for cost in self.costs)
        return "\n\n".join(BIBTEX[key] for key in keys)

    def plot(self, path: str | None = None) -> Any:
        """Say that this report has no picture.

        Parameters
        ----------
        path : str, optional
            Where the picture would go.
        """
        raise LearnabilityError(
            "The report on a hierarchical target has no picture: `learnability figure "
            "depth-scenarios` draws the scenarios."
        )

    def __str__(self) -> str:
        lines = [
            f"{self.target.link.text or self.target.link!r} of features of "
            f"{self.target.polynomial.text}",
            f"compositional information exponent of the directions: {self.exponent}",
            "",
        ]
        for cost in self.costs:
            power = "?" if cost.exponent is None else f"d^{cost.exponent:.3g}"
            factor = "" if cost.constant is None else f"{cost.constant:.3g} "
            lines.append(f"  {cost.algorithm:<14}{cost.learns:<44}n ~ {factor}{power}")
        if self.target.r > 1:
            lines += ["", "staircase in function space:"]
            for k, step in enumerate(self.function_staircase, 1):
                lines.append(f"  step {k}, order {step.order}: {step.directions.round(3).tolist()}")
        fails = [c for c in self.conditions if c.kind == "essential" and c.verdict == "fails"]
        lines += ["", *(f"fails: {c.name} ({c.advice})" for c in fails)]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines).rstrip()


def hierarchical_hardness(target: Hierarchical) -> HierarchicalHardness:
    """Report on a hierarchical target; `hardness` calls it.

    Parameters
    ----------
    target : Hierarchical
        With `epsilon`, or with N, when constants are those of that N and exponents those of
        epsilon = 1/2.
    """
    exponent = compositional_exponent(target)
    epsilon = 0.5 if target.epsilon is None else target.epsilon
    k, value = target.degree, exponent.value
    staircase = leap_staircase(target.link)
    leap = max((s.order for s in staircase.steps if s.order), default=None)
    notes = []
    found = sum(len(s.directions) for s in staircase.steps)
    if found < target.r or leap is None:
        leap = None
        notes.append("Not every feature is seen by the staircase in function space.")
    if leap is not None and (leap > 1 or len(staircase.steps) < target.r):
        notes.append(
            "One preconditioned step from zero weights finds one function of the features: those "
            "that share a step, or need an order above 1, are not told apart."
        )
    if target.N is not None:
        notes.append("N was given: exponents are those of N = d^(1/2).")
    if target.depth > 3:
        notes.append("Exponents are those of the last features, with the levels below as inputs.")
    first = None if value is None or value > 2 else 1 + epsilon
    if first is not None and expand(target.polynomial, 2).is_zero(2) is True:
        first = None  # The second moment of the labels sees at most the sum of the directions.
        notes.append("P has no part of degree 2, which shows the directions to a first layer.")
    constant = None if first is None else _first_layer_constant(target)
    two = None if first is None else max(first, k * epsilon)
    rows = [
        Cost("kernel", "the lowest degree of f", _float(value), 0, None, "mei2022"),
        Cost("kernel", f"degrees up to {k}", float(k), 0, None, "mei2022"),
        Cost("first layer", "the hidden directions", first, 0, constant, _REFERENCE),
        Cost("two layers", f"degrees up to {k} of f", two, 0, None, _REFERENCE),
        Cost("two layers", f"degrees up to {2 * k} of f", _most(first, 2 * k * epsilon), 0, None,
             _REFERENCE),
        Cost("three layers", "f, up to the floor of its N",
             two if leap == 1 and len(staircase.steps) == 1 and target.r == 1 else None,
             0, None, _REFERENCE),
    ]  # fmt: skip
    return HierarchicalHardness(
        target, exponent, tuple(rows), staircase.steps, leap, conditions(target), tuple(notes)
    )


def _first_layer_constant(target: Hierarchical) -> float | None:
    """Return n* / (d N), at the target's N or at 64."""
    from dataclasses import replace

    N = target.N[-1] if target.N is not None else 64
    small = replace(target, epsilon=None, depth=3, N=(N,))
    found = small.n_star(target.r * N) / (target.r * N * N)
    return found if math.isfinite(found) else None


def _most(first: float | None, other: float) -> float | None:
    return None if first is None else max(first, other)


def _float(value: int | None) -> float | None:
    return None if value is None else float(value)
