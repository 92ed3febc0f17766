"""The report on a multi-index target: what can be said of it before any algorithm runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.reports.costs import Cost, costs_of
from learnability.reports.forms import Forms, labels_latex
from learnability.reports.references import BIBTEX
from learnability.targets import Target
from learnability.theory.correlations import MOST_DIRECTIONS
from learnability.theory.csq import HIGHEST_KAPPA, leap_staircase, regression, risk_floors
from learnability.theory.grand import grand_staircase
from learnability.theory.steps import Staircase, Step, finite
from learnability.theory.subspaces import (
    hermite_orders,
    is_square_integrable,
    refuse_spikes,
    relevant_subspace,
)

if TYPE_CHECKING:
    from learnability.drawing.picture import Picture
    from learnability.reports.tables import Table

__all__ = ["Hardness", "multi_index_hardness"]


_CONSTANT = "The label does not depend on z: there is nothing to learn."
_SEEN_CONSTANT = (
    "The function took one value wherever it was tried. Whether it is constant, or changes in a "
    "cell that samples do not meet, is not known: give it as text, or with its `breaks`."
)


@dataclass(frozen=True, eq=False)
class Hardness(Forms):
    """How many samples a target takes, and which algorithm gets there.

    Attributes
    ----------
    target : Target
        The target.
    relevant : array, shape (k, r)
        Orthonormal rows: the directions that g depends on.
    information_exponent, generative_exponent, leap : int or None
        The exponents; None for a constant link or when undecided.
    kind : {"trivial", "easy", "hard"} or None
        The class of the first thing that can be learned; None for a constant link or when
        undecided.
    alpha_c, alpha_c_error : float or None
        Weak-recovery threshold in samples over dimension (0.0 trivial, inf hard) and its error;
        None when undecided.
    staircase, csq_staircase : tuple of Step
        The grand staircase, and the greedy CSQ staircase with the order of each step.
    floors : tuple of tuple of float
        ``floors[t][kappa]``: what stays unlearned when the first t CSQ steps are known and
        degrees up to kappa are fitted.
    costs : tuple of Cost
        One row for each algorithm.
    notes : tuple of str
        Hypotheses that fail, and how the numbers were made.
    undecided : tuple of str
        Quantities that neither the numerics nor the theory settle.
    """

    target: Target
    relevant: NDArray[np.float64] = field(repr=False)
    information_exponent: int | None
    generative_exponent: int | None
    leap: int | None
    kind: str | None
    alpha_c: float | None
    alpha_c_error: float | None
    staircase: tuple[Step, ...]
    csq_staircase: tuple[Step, ...]
    floors: tuple[tuple[float, ...], ...] = field(repr=False)
    costs: tuple[Cost, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, names and numbers, ready for JSON; infinities become None."""
        return {
            "link": self.target.link.text,
            "r": self.target.r,
            "noise": self.target.noise,
            "information_exponent": self.information_exponent,
            "generative_exponent": self.generative_exponent,
            "leap": self.leap,
            "kind": self.kind,
            "alpha_c": finite(self.alpha_c),
            "alpha_c_error": None if finite(self.alpha_c) is None else self.alpha_c_error,
            "relevant": self.relevant.tolist(),
            "staircase": [step.to_dict() for step in self.staircase],
            "csq_staircase": [step.to_dict() for step in self.csq_staircase],
            "floors": [list(row) for row in self.floors],
            "costs": [cost.to_dict() for cost in self.costs],
            "notes": list(self.notes),
            "undecided": list(self.undecided),
        }

    def cite(self) -> str:
        """Return the BibTeX of the results behind the numbers."""
        keys = dict.fromkeys(
            [*(cost.reference for cost in self.costs), "troiani2024", "damian2024"]
        )
        return "\n\n".join(BIBTEX[key] for key in keys)

    def to_dataset(self) -> Any:
        """Return the numbers of the picture as an `xarray.Dataset`."""
        from learnability.reports.tables import dataset

        return dataset(self)

    def tables(self) -> list[Table]:
        """Return the tables of the report: facts, the two staircases, costs."""
        from learnability.reports.tables import tables

        return tables(self)

    @property
    def formula(self) -> str:
        """What the labels are, in LaTeX."""
        return labels_latex(self.target.link.latex, self.target.noise)

    def draw(self) -> Picture:
        """Draw the grand staircase, the risk floors and the costs; `plot` also writes and shows."""
        from learnability.reports.pictures import draw

        return draw(self)

    def to_text(self, width: int = 80) -> str:
        """Return the report as text."""
        from learnability.reports.tables import table

        return table(self, width)


def multi_index_hardness(target: Target) -> Hardness:
    """Report on a multi-index target with isotropic inputs; `hardness` calls it.

    Parameters
    ----------
    target : Target
        A MultiIndex; the report uses only that its hidden coordinates are standard normal.
    """
    link = target.link
    refuse_spikes(link)
    notes: list[str] = []
    undecided: list[str] = []
    relevant, note = relevant_subspace(link)
    notes += [note] if note else []
    expandable = is_square_integrable(link)
    if not expandable:
        notes.append("No information exponent, leap or floors are given.")
        undecided += ["information_exponent", "leap"]
    if not len(relevant):
        return _constant(target)
    correlated, _ = relevant_subspace(regression(link))
    if len(correlated) < len(relevant):
        notes.append(
            f"E[y | z] depends on {len(correlated)} of the {len(relevant)} directions of the law: "
            "gradient steps on fresh labels never see the others, so the leap is not finite."
        )
    if len(relevant) < link.r:
        notes.append(
            f"g depends on {len(relevant)} of its {link.r} directions only; the others cannot be "
            "learned and are left out."
        )
    grand = grand_staircase(link, target.noise)
    first = grand.steps[0]
    information = None
    if expandable and len(correlated):
        information = _information_exponent(regression(link), first.order, undecided)
    csq = Staircase(())
    floors: tuple[tuple[float, ...], ...] = ()
    if len(relevant) > MOST_DIRECTIONS:
        undecided.append("leap")
        notes.append(f"The CSQ staircase is computed for at most {MOST_DIRECTIONS} directions.")
    elif expandable:
        csq = leap_staircase(link)
        floors = risk_floors(link, csq)
    leap = max((s.order for s in csq.steps if s.order), default=None)
    if sum(len(s.directions) for s in csq.steps) < len(relevant):
        leap = None
        if "leap" not in undecided and len(correlated) == len(relevant):
            undecided.append("leap")
    undecided += [*grand.doubts, *csq.doubts]
    if leap is not None and information is not None and leap < information:
        leap = None
        undecided.append("leap")
    generative = first.order
    undecided += [
        name
        for name, value in (
            ("kind", first.kind),
            ("alpha_c", first.alpha),
            ("generative_exponent", generative),
        )
        if value is None
    ]
    alpha_c = first.alpha
    if "regression" in grand.methods:
        notes.append("Thresholds come from samples of the label; their errors are in alpha_error.")
    if len(grand.steps) > 1 and any(s.kind == "easy" for s in grand.steps[1:]):
        notes.append(
            "The alpha of a later step takes the earlier directions as known; where they are known "
            "only in part at that alpha, the true one is larger."
        )
    return Hardness(
        target=target,
        relevant=relevant,
        information_exponent=information,
        generative_exponent=generative,
        leap=leap,
        kind=first.kind,
        alpha_c=alpha_c,
        alpha_c_error=None if alpha_c is None else first.alpha_error or 0.0,
        staircase=grand.steps,
        csq_staircase=csq.steps,
        floors=floors,
        costs=costs_of(
            information, generative, leap, alpha_c, [s.order for s in grand.steps], len(relevant)
        ),
        notes=tuple(notes),
        undecided=tuple(dict.fromkeys(undecided)),
    )


def _information_exponent(link: Link, generative: int | None, undecided: list[str]) -> int | None:
    """Return the smallest order with a nonzero tensor; none below the generative exponent has."""
    for order in hermite_orders(link.r):
        found = expand(link, order).exponent_from(generative or 1)
        if found is not None:
            return found
    undecided.append("information_exponent")
    return None


def _constant(target: Target) -> Hardness:
    """Report on a link with one observed value; without known breaks that is no proof."""
    known = target.link.breaks is not None
    return Hardness(
        target=target,
        relevant=np.zeros((0, target.r)),
        information_exponent=None,
        generative_exponent=None,
        leap=None,
        kind=None,
        alpha_c=math.inf if known else None,
        alpha_c_error=0.0 if known else None,
        staircase=(),
        csq_staircase=(),
        floors=((0.0,) * (HIGHEST_KAPPA + 1),),
        costs=(),
        notes=(_CONSTANT if known else _SEEN_CONSTANT,),
        undecided=() if known else ("kind", "alpha_c", "information_exponent", "leap"),
    )
