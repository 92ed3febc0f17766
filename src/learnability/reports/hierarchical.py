"""The report on a hierarchical target: samples for kernels and for two, three and more layers.

A kernel learns degree j of f with d^j samples. Two layers find the N directions of each feature
with n* of order d N samples and then fit degree j with N^j samples, where that is more: a g of
degree m needs all degrees up to k m. Three layers need the degree k of the polynomial only, and
refit g with few more. With N = d^epsilon these are powers of d. The directions of a feature are
seen when g has a linear part in it, P a part of degree 2 and, in deeper trees, a linear part that
carries it up the levels; each feature has its own exponent. For several features, one
preconditioned step finds the part of g that is linear in h, and each further step what then becomes
linear: the CSQ staircase of g in function space, where h is Gaussian; a feature that needs a leap
above 1 is not found. A network has as many layers as the tree is deep: with fewer of them f is not
represented beyond polynomials of a level, whatever the samples.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from learnability.labels.hermite import expand
from learnability.reports.costs import Cost
from learnability.reports.forms import Forms, labels_latex
from learnability.reports.references import BIBTEX
from learnability.reports.tables import Table, cost_table, directions_text, wrapped
from learnability.targets.hierarchical import Hierarchical
from learnability.theory.assumptions import Condition, conditions
from learnability.theory.compositional import (
    Exponent,
    compositional_exponent,
    standardised_link,
)
from learnability.theory.csq import leap_staircase
from learnability.theory.steps import Step

if TYPE_CHECKING:
    from learnability.drawing.picture import Picture

__all__ = ["HierarchicalHardness", "Layer", "hierarchical_hardness"]

_REFERENCE = "dandi2025depth"


@dataclass(frozen=True)
class Layer:
    """What the theorems give for one layer, up to constants, logarithms and d^delta.

    Attributes
    ----------
    layer : int
        Its number, from 1.
    finds : str
        What it finds.
    samples, width : float or None
        Exponents of d for all samples and for the neurons; None where no theorem is known.
    steps : str
        Number and kind of the steps.
    batch : float or None
        Exponent of d for the samples of one step. Steps are few: it is that of all samples.
    """

    layer: int
    finds: str
    samples: float | None
    width: float | None
    steps: str
    batch: float | None


@dataclass(frozen=True, eq=False)
class HierarchicalHardness(Forms):
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
        The CSQ staircase of g in the features; no step beyond the first is needed for r = 1.
    function_leap : int or None
        The largest order of its steps; only steps of order 1 are found, one after another.
    conditions : tuple of Condition
        The assumptions, with relu neurons.
    layers : tuple of Layer
        Samples, width and steps of every layer of the theorems.
    notes : tuple of str
        What the numbers leave out.
    """

    target: Hierarchical
    exponent: Exponent
    costs: tuple[Cost, ...]
    function_staircase: tuple[Step, ...]
    function_leap: int | None
    conditions: tuple[Condition, ...]
    layers: tuple[Layer, ...]
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
            "compositional_exponents": list(self.exponent.by_feature),
            "layers": [dict(vars(layer)) for layer in self.layers],
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

    def to_dataset(self) -> Any:
        """Return the numbers of the picture as an `xarray.Dataset`."""
        import xarray

        exponents = [math.nan if c.exponent is None else c.exponent for c in self.costs]
        names = [f"{c.algorithm}: {c.learns}" for c in self.costs]
        return xarray.Dataset({"exponent": ("learner", exponents)}, coords={"learner": names})

    @property
    def formula(self) -> str:
        """What the labels are, in LaTeX."""
        inner = self.target.polynomial.latex
        return (
            labels_latex(self.target.link.latex, self.target.noise)
            + rf",\quad \text{{features of }} P = {inner}"
        )

    def tables(self) -> list[Table]:
        """Return the tables of the report: facts, costs, the staircase in function space."""
        found = [
            Table(
                "",
                (),
                (
                    ("compositional information exponent", str(self.exponent)),
                    ("layers", str(self.target.depth)),
                ),
            ),
            cost_table(self.costs),
            self._layer_table(),
        ]
        if self.target.r > 1 and self.function_staircase:
            rows = tuple(
                (str(k), "?" if s.order is None else str(s.order), directions_text(s, "h"))
                for k, s in enumerate(self.function_staircase, 1)
            )
            head = ("step", "order", "new features")
            found.append(Table("Staircase in function space", head, rows))
        return found

    def _layer_table(self) -> Table:
        """Return what the theorems give for each layer; the samples are those of this layer."""
        rows = tuple(
            (
                str(one.layer), one.finds, _power(one.samples), _power(one.width),
                _power(one.batch), one.steps,
            )
            for one in self.layers
        )  # fmt: skip
        head = ("layer", "finds", "n", "width", "batch", "steps")
        return Table("Layers of the theorems", head, rows)

    def draw(self) -> Picture:
        """Draw the exponents of the costs; `plot` also writes and shows."""
        from learnability.reports.pictures import draw_hierarchical

        return draw_hierarchical(self)

    def to_text(self, width: int = 80) -> str:
        """Return the report as text."""
        link = self.target.link.text or repr(self.target.link)
        head = f"{link} of features of {self.target.polynomial.text}"
        fails = [c for c in self.conditions if c.kind == "essential" and c.verdict == "fails"]
        lines = [f"Fails: {c.name} ({c.advice})" for c in fails]
        lines += [f"Note: {note}" for note in self.notes]
        parts = [head, *(one.to_text(width) for one in self.tables())]
        told = "\n".join(wrapped(line, width) for line in lines)
        return "\n\n".join([*parts, told]).rstrip()


def hierarchical_hardness(target: Hierarchical) -> HierarchicalHardness:
    """Report on a hierarchical target; `hardness` calls it.

    Parameters
    ----------
    target : Hierarchical
        A target with `epsilon`, or with N; then constants are those of that N and exponents those
        of epsilon = 1/2.
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
    first = [_first(target, m, epsilon) for m in range(target.r)]
    if expand(target.polynomial, 2).is_zero(2) is True:
        notes.append("P has no part of degree 2, which shows the directions to a first layer.")
    hidden = [m + 1 for m, exponent in enumerate(first) if exponent is None]
    if target.r > 1 and hidden:
        notes.append(
            "The second moment of the labels does not show the directions of feature "
            f"{', '.join(map(str, hidden))}: g has no linear part in it."
        )
    whole = None if None in first else first[0]
    deep = target.depth > 3
    if deep:
        notes.append(
            "Networks of fewer layers than the tree is deep fit polynomials of its lower levels "
            "only. How a layer finds many features at once from the labels has no theorem; given "
            "all features but the last, the last layers need what is said of them."
        )
    constant = None if whole is None or deep else _first_layer_constant(target)
    two = _most(whole, k * epsilon)
    seen = whole is not None and leap == 1 and len(staircase.steps) == 1 and target.r == 1
    rows = [
        Cost("kernel", "the lowest degree of f", _float(value), 0, None, "mei2022"),
        Cost("kernel", f"degrees up to {k}", float(k), 0, None, "mei2022"),
    ]
    if target.r == 1:
        rows.append(Cost("first layer", "the hidden directions", whole, 0, constant, _REFERENCE))
    rows += [
        Cost("first layer", f"the directions of h_{m + 1}", exponent, 0, None, _REFERENCE)
        for m, exponent in enumerate(first) if target.r > 1
    ]  # fmt: skip
    m = max((sum(powers) for powers in target.link.polynomial or {}), default=0)
    fitted = {f"degrees up to {j * k} of f": j for j in (1, 2) if not m or deep or j < m}
    if m and not deep:  # A polynomial g of degree m needs d^(k m epsilon) and no more.
        fitted[f"all of f, of degree {k * m}"] = m
    rows += [Cost("two layers", learns, _most(whole, j * k * epsilon), 0, None, _REFERENCE)
             for learns, j in fitted.items()]  # fmt: skip
    rows.append(Cost("three layers", "f, up to the floor of its N",
                     two if seen and not deep else None, 0, None, _REFERENCE))  # fmt: skip
    if deep:
        last = epsilon ** (target.depth - 2)
        rows.append(Cost(f"{target.depth} layers", "f, given the features below the last",
                         k * last if leap == 1 and target.r == 1 else None, 0, None,
                         _REFERENCE))  # fmt: skip
    return HierarchicalHardness(
        target, exponent, tuple(rows), staircase.steps, leap, conditions(target),
        _layers(target, whole, epsilon, seen), tuple(notes),
    )  # fmt: skip


def _first(target: Hierarchical, m: int, epsilon: float) -> float | None:
    """Return 1 + epsilon when the second moment of the labels shows the directions of h_m."""
    g = expand(standardised_link(target), 1)
    P = expand(target.polynomial, 2)
    linear = abs(float(g.tensors[1][m])) > 1e-9 * math.sqrt(g.energy) + 10 * g.errors[1]
    carried = target.depth == 3 or P.is_zero(1) is False
    return 1 + epsilon if linear and carried and P.is_zero(2) is False else None


def _layers(
    target: Hierarchical, first: float | None, epsilon: float, seen: bool
) -> tuple[Layer, ...]:
    """Return the layers of the theorems, from the directions to the readout."""
    k, depth = target.degree, target.depth
    rows = [
        Layer(1, "the hidden directions", first, k * epsilon if seen or depth > 3 else None,
              "O(log d), spherical", first)
    ]  # fmt: skip
    for level in range(2, depth):
        last = level == depth - 1
        known = seen if depth == 3 else last and target.r == 1
        samples = k * epsilon ** (level - 1) if known else None
        finds = "the last features" if last else f"the features of level {level - 1}"
        rows.append(Layer(level, finds, samples, 0.0 if last else None, "1, preconditioned",
                          samples))  # fmt: skip
    rows.append(Layer(depth, "g", 0.0, 0.0, "1, ridge regression", 0.0))
    return tuple(rows)


def _first_layer_constant(target: Hierarchical) -> float | None:
    """Return n* / (d N) for the N of the target, or for N = 64 where it has none."""
    N = target.N[-1] if target.N is not None else 64
    small = replace(target, epsilon=None, depth=3, N=(N,))
    found = small.n_star(target.r * N) / (target.r * N * N)
    return found if math.isfinite(found) else None


def _power(exponent: float | None) -> str:
    return "?" if exponent is None else f"d^{exponent:.3g}"


def _most(first: float | None, other: float) -> float | None:
    return None if first is None else max(first, other)


def _float(value: int | None) -> float | None:
    return None if value is None else float(value)
